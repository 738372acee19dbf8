"""The dialogue inside the protocol of the Codex app-server; with a real one it is driven in tests/agents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from codexmem.codecli.agents.codex_app_server import AppServer, CodexAppServer
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Injection,
    LineEffects,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
    Wiring,
)
from codexmem.kernel.model.tool_access import Risk
from tests.clients.codecli.agents import samples, wired


def line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def sent(moves: LineEffects) -> list[dict[str, Any]]:
    return [json.loads(each) for each in moves.to_agent]


def server(wiring: Wiring = wired.WIRING, injection: Injection | None = None) -> AppServer:
    return AppServer({"cwd": "/repo"}, injection or Injection(), wiring, "configured")


def lead(dialogue: AppServer) -> None:
    dialogue.open("go")
    dialogue.from_agent(line(id="mem-codecli-1", result={}))
    dialogue.from_agent(line(id="mem-codecli-2", result={"thread": {"id": "t"}}))
    dialogue.from_agent(line(id="mem-codecli-3", result={"turn": {"id": "u"}}))


def test_leading() -> None:
    dialogue = server(injection=Injection("SYS", "USR"))
    begun = dialogue.open("go")
    assert (sent(begun)[0]["method"], begun.happenings) == ("initialize", (UserPrompt("go"),))
    ready, start = sent(dialogue.from_agent(line(id="mem-codecli-1", result={})))
    assert ready == {"method": "initialized"}
    assert start["params"] == {"cwd": "/repo", "developerInstructions": "configured\n\nSYS",
                               "approvalPolicy": "untrusted"}  # fmt: skip
    (turn,) = sent(dialogue.from_agent(line(id="mem-codecli-2", result={"thread": {"id": "t"}})))
    assert turn["params"] == {
        "threadId": "t",
        "input": [{"type": "text", "text": "USR"}, {"type": "text", "text": "go"}],
    }
    assert dialogue.from_agent(line(id="mem-codecli-3", result={})) == LineEffects()
    delta = dialogue.from_agent(line(method="item/agentMessage/delta", params={"itemId": "m", "delta": "好"}))
    assert (delta.to_person, delta.happenings) == (("好".encode(),), (AgentMessage("好"),))
    message = {"type": "agentMessage", "id": "m", "text": "好"}
    whole = dialogue.from_agent(line(method="item/completed", params={"item": message}))
    assert whole.to_person == (b"\n",)
    done = dialogue.from_agent(line(method="turn/completed", params={"turn": {"status": "completed"}}))
    assert (done.done, done.happenings, done.to_person) == (True, (TurnEnded(True),), ())


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_request_that_fails_ends_a_conversation_of_ours(step: int) -> None:
    dialogue = server()
    dialogue.open("go")
    for number in range(1, step):
        dialogue.from_agent(line(id=f"mem-codecli-{number}", result={"thread": {"id": "t"}}))
    moves = dialogue.from_agent(line(id=f"mem-codecli-{step}", error={"code": -1, "message": "no model"}))
    assert moves.done
    (ended,) = moves.happenings
    assert isinstance(ended, TurnEnded)
    assert (ended.ok, "no model" in ended.message) == (False, True)


def test_a_refusal_waits_for_its_reason() -> None:
    dialogue = server()
    lead(dialogue)
    dialogue.from_agent(line(method="item/started", params={"item": samples.RAN}))
    asked = line(id=7, method="item/commandExecution/requestApproval", params={**samples.ASKED, "command": "rm x"})
    moves = dialogue.from_agent(asked)
    (steer,) = sent(moves)
    assert (steer["method"], steer["params"]["expectedTurnId"]) == ("turn/steer", "u")
    assert wired.REASON in steer["params"]["input"][0]["text"]
    (decided,) = moves.happenings
    assert isinstance(decided, ToolDecided)
    refused = dialogue.from_agent(line(id=steer["id"], error={"code": 1, "message": "no turn"}))
    assert sent(refused) == [{"id": 7, "result": {"decision": "decline"}}]
    over = dialogue.from_agent(line(method="item/completed", params={"item": {**samples.RAN, "status": "declined"}}))
    assert over.happenings == ()


def test_a_tool_that_nobody_asked_about_is_told_with_its_end() -> None:
    dialogue = server()
    lead(dialogue)
    assert dialogue.from_agent(line(method="item/started", params={"item": samples.RAN})).happenings == ()
    started, ended = dialogue.from_agent(line(method="item/completed", params={"item": samples.RAN})).happenings
    assert isinstance(started, ToolStarted)
    assert (started.request.command, ended) == ("/bin/bash -lc 'rm x'", ToolEnded("call_1", True, 5))


@pytest.mark.parametrize("method, params, tool, yes", [
    ("item/commandExecution/requestApproval", {"command": "bash -lc 'ls'"}, "Bash", {"decision": "accept"}),
    ("item/commandExecution/requestApproval", {"kind": "writeStdin", "command": "y"}, "write_stdin",
     {"decision": "accept"}),
    ("item/fileChange/requestApproval", {"itemId": "call_2"}, "apply_patch", {"decision": "accept"}),
    ("item/permissions/requestApproval", {"permissions": {"network": {"enabled": True}}}, "request_permissions",
     {"permissions": {"network": {"enabled": True}}, "scope": "turn"}),
    ("mcpServer/elicitation/request", {"serverName": "gh", "_meta": {"codex_approval_kind": "mcp_tool_call"}},
     "mcp__gh__issue", {"action": "accept", "content": {}}),
    ("execCommandApproval", {"command": ["ls", "a b"]}, "Bash", {"decision": "approved"}),
    ("applyPatchApproval", {"fileChanges": {"/a": {}}}, "apply_patch", {"decision": "approved"}),
])  # fmt: skip
def test_every_question(method: str, params: dict[str, Any], tool: str, yes: dict[str, Any]) -> None:
    dialogue = server()
    lead(dialogue)
    mcp = {"type": "mcpToolCall", "id": "call_3", "server": "gh", "tool": "issue", "arguments": {"n": 1}}
    for item in (samples.PATCHED, mcp):
        dialogue.from_agent(line(method="item/started", params={"item": item}))
    moves = dialogue.from_agent(line(id=1, method=method, params={**samples.ASKED, **params}))
    assert sent(moves) == [{"id": 1, "result": yes}]
    decided = moves.happenings[0]
    assert isinstance(decided, ToolDecided)
    assert decided.request.tool == tool
    if tool == "apply_patch":
        assert (decided.request.risk, len(decided.request.paths)) == (Risk.WRITE, 1)


def test_an_elicitation_that_is_no_tool_is_not_ours() -> None:
    asked = line(id=1, method="mcpServer/elicitation/request", params={"serverName": "gh", "message": "your name?"})
    assert server().from_agent(asked).to_person == (asked,)
    led = server()
    lead(led)
    assert sent(led.from_agent(asked))[0]["error"]["code"] == -32601


def test_a_tool_that_our_hook_allowed_is_not_asked_about_again() -> None:
    dialogue = server(replace(wired.HOOKED, decide=lambda _: pytest.fail("asked twice")))
    params = {"serverName": "gh", "_meta": {"codex_approval_kind": "mcp_tool_call"}}
    moves = dialogue.from_agent(line(id=1, method="mcpServer/elicitation/request", params=params))
    assert sent(moves) == [{"id": 1, "result": {"action": "accept", "content": {}}}]


def test_where_nothing_is_held_the_persons_program_is_asked() -> None:
    asked = line(id=1, method="item/commandExecution/requestApproval", params={"command": "rm x"})
    assert server(wired.UNHELD).from_agent(asked).to_person == (asked,)
    led = server(wired.UNHELD)
    assert sent(led.open("go"))
    start = sent(led.from_agent(line(id="mem-codecli-1", result={})))[1]
    assert start["params"]["approvalPolicy"] == "never"
    assert sent(led.from_agent(asked)) == [{"id": 1, "result": {"decision": "decline"}}]


def test_a_persons_thread_gets_memory_and_our_policy() -> None:
    dialogue = server(injection=Injection("SYS"))
    params = {"cwd": "/r", "developerInstructions": "theirs", "approvalPolicy": "never", "x": [1.5, None]}
    (start,) = sent(dialogue.from_person(line(id=1, method="thread/start", params=params)))
    assert start["params"] == {**params, "developerInstructions": "theirs\n\nSYS", "approvalPolicy": "untrusted"}


def test_memory_for_a_persons_prompt_goes_before_it() -> None:
    params = {"threadId": "t", "input": [{"type": "text", "text": "go"}], "approvalPolicy": "on-request"}
    message = line(id=2, method="turn/start", params=params)
    for reply, added in (({"result": {}}, ["USR"]), ({"error": {"code": 1}}, ["SYS", "USR"])):
        dialogue = server()
        moves = dialogue.from_person(message)
        (inject,) = sent(moves)
        assert (inject["method"], inject["params"]["threadId"]) == ("thread/inject_items", "t")
        assert inject["params"]["items"][0]["content"][0]["text"] == "SYS"
        assert moves.happenings == (UserPrompt("go"),)
        (turn,) = sent(dialogue.from_agent(line(id=inject["id"], **reply)))
        assert [each["text"] for each in turn["params"]["input"]] == [*added, "go"]
        assert (turn["id"], turn["params"]["approvalPolicy"]) == (2, "untrusted")


def test_what_needs_no_change_passes_to_the_byte() -> None:
    odd = b' {"id": 1,  "method":"model/list"}\r\n'
    assert server().from_person(odd).to_agent == (odd,)
    assert server().from_agent(odd.replace(b"method", b"result")).to_person
    untouched = b'{"id": 2, "method": "turn/start", "params": {"input": []}}\n'
    assert server().from_person(untouched).to_agent == (untouched,)


def test_the_adapter_leads_or_stands_between() -> None:
    adapter = CodexAppServer()
    words = ("codex", "exec", "--json", "-C", "/w", "-m", "gpt", "--color", "never", "-c", "a=1", "go")
    led = adapter.prepare(wired.launch(*words), Injection(), wired.UNHELD)
    assert (led.leads, led.prompt, led.launch.argv) == (True, "go", ("codex", "app-server", "-c", "a=1"))
    assert "--color" in led.notes[0]
    between = adapter.prepare(wired.launch("codex", "app-server"), Injection(), wired.HOOKED)
    assert (between.leads, between.launch.argv[:2], between.check is not None) == (False, ("codex", "app-server"), True)
    assert "mcp__.*" in str(between.launch.argv)
    unled = adapter.prepare(wired.launch("codex", "exec", "-"), Injection(), wired.UNHELD)
    assert (unled.dialogue, unled.launch.argv) == (None, ("codex", "exec", "-"))
