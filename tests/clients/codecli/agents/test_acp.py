"""The dialogue inside the Agent Client Protocol; with a real agent it is driven in tests/agents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.codecli.agents import acp as acp_permissions
from codexmem.codecli.agents.acp import Acp, AcpDialogue
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
from codexmem.kernel.model.tool_access import Risk, Verdict
from tests.clients.codecli.agents import samples, wired

REMOVES = {**samples.CALLED, "rawInput": {"command": "rm x"}}


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def sent(moves: LineEffects) -> list[dict[str, Any]]:
    return [json.loads(each) for each in moves.to_agent]


def update(what: str, **fields: Any) -> bytes:
    return line(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": what, **fields}})


def question(call: dict[str, Any], options: Any = samples.OPTIONS) -> bytes:
    params = {"sessionId": "s", "toolCall": call, "options": options}
    return line(id=0, method="session/request_permission", params=params)


def between(wiring: Wiring = wired.WIRING) -> AcpDialogue:
    """A dialogue in which a person's program has asked something."""
    dialogue = AcpDialogue("qwen", "/repo", Injection(), wiring)
    dialogue.open(None)
    dialogue.from_person(
        line(id="p", method="session/prompt", params={"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]})
    )
    return dialogue


def test_leading() -> None:
    dialogue = AcpDialogue("qwen", "/repo", Injection("SYS", "USR"), wired.WIRING)
    begun = dialogue.open("go")
    assert (sent(begun)[0]["method"], begun.happenings) == ("initialize", (UserPrompt("go"),))
    (new,) = sent(dialogue.from_agent(line(id="mem-codecli-1", result={})))
    assert (new["method"], new["params"]) == ("session/new", {"cwd": "/repo", "mcpServers": []})
    (prompt,) = sent(dialogue.from_agent(line(id="mem-codecli-2", result={"sessionId": "s"})))
    assert [each["text"] for each in prompt["params"]["prompt"]] == ["SYS\n\nUSR", "go"]
    said = dialogue.from_agent(update("agent_message_chunk", content={"type": "text", "text": "好"}))
    assert (said.to_person, said.happenings) == (("好".encode(),), (AgentMessage("好"),))
    other = dialogue.from_agent(line(id=9, method="fs/read_text_file", params={}))
    assert sent(other)[0]["error"]["code"] == -32601
    done = dialogue.from_agent(line(id="mem-codecli-3", result={"stopReason": "end_turn"}))
    assert (done.done, done.happenings) == (True, (TurnEnded(True),))


def test_a_request_that_fails_ends_a_conversation_of_ours() -> None:
    dialogue = AcpDialogue("qwen", "/repo", Injection(), wired.WIRING)
    dialogue.open("go")
    moves = dialogue.from_agent(line(id="mem-codecli-1", error={"message": "not signed in"}))
    assert (moves.done, moves.happenings) == (True, (TurnEnded(False, "initialize: not signed in"),))


def test_a_permission_is_decided_here() -> None:
    dialogue = between()
    moves = dialogue.from_agent(question(samples.CALLED))
    assert sent(moves)[0]["result"] == {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert moves.to_person == ()
    decided, started = moves.happenings
    assert isinstance(decided, ToolDecided)
    assert isinstance(started, ToolStarted)
    assert (decided.request.tool, decided.request.command, decided.request.risk) == (
        "run_shell_command", "touch a", Risk.EXECUTE)  # fmt: skip
    ended = dialogue.from_agent(update("tool_call_update", toolCallId="call_1", status="completed"))
    assert ended.happenings == (ToolEnded("call_1", True),)


def test_a_turn_that_a_refusal_ends_goes_on_with_the_reason() -> None:
    dialogue = between()
    dialogue.from_agent(update("tool_call", **REMOVES))
    moves = dialogue.from_agent(question(REMOVES))
    assert sent(moves)[0]["result"]["outcome"]["optionId"] == "no"
    assert [type(each) for each in moves.happenings] == [ToolDecided]
    failed = dialogue.from_agent(update("tool_call_update", toolCallId="call_1", status="failed"))
    assert failed.happenings == ()
    again = dialogue.from_agent(line(id="p", result={"stopReason": "cancelled"}))
    assert again.to_person == ()
    (prompt,) = sent(again)
    assert wired.REASON in prompt["params"]["prompt"][0]["text"]
    done = dialogue.from_agent(line(id=prompt["id"], result={"stopReason": "end_turn"}))
    assert json.loads(done.to_person[0]) == {"jsonrpc": "2.0", "id": "p", "result": {"stopReason": "end_turn"}}
    assert done.happenings == (TurnEnded(True),)


def test_an_agent_that_goes_on_by_itself_is_left_alone() -> None:
    dialogue = between()
    dialogue.from_agent(question(REMOVES))
    dialogue.from_agent(update("agent_message_chunk", content={"type": "text", "text": "Then not."}))
    over = line(id="p", result={"stopReason": "end_turn"})
    assert dialogue.from_agent(over) == LineEffects(to_person=(over,), happenings=(TurnEnded(True),))


def test_refusals_without_end_come_to_one() -> None:
    dialogue = between()
    for key in ("p", "mem-codecli-1", "mem-codecli-2"):
        dialogue.from_agent(question(REMOVES))
        assert dialogue.from_agent(line(id=key, result={"stopReason": "end_turn"})).to_agent
    dialogue.from_agent(question(REMOVES))
    last = dialogue.from_agent(line(id="mem-codecli-3", result={"stopReason": "end_turn"}))
    assert (last.to_agent, json.loads(last.to_person[0])["id"]) == ((), "p")


def test_a_person_who_cancels_is_not_overruled() -> None:
    dialogue = between()
    dialogue.from_agent(question(REMOVES))
    dialogue.from_person(line(method="session/cancel", params={"sessionId": "s"}))
    over = line(id="p", result={"stopReason": "cancelled"})
    assert dialogue.from_agent(over) == LineEffects(to_person=(over,), happenings=(TurnEnded(False),))


def test_where_nothing_is_held_the_persons_program_is_asked() -> None:
    asked = question(REMOVES)
    assert between(wired.UNHELD).from_agent(asked).to_person == (asked,)
    led = AcpDialogue("qwen", "/repo", Injection(), wired.UNHELD)
    led.open("go")
    assert sent(led.from_agent(asked))[0]["result"]["outcome"]["optionId"] == "no"


def test_a_tool_that_nobody_asked_about_is_told_with_its_end() -> None:
    dialogue = between()
    reads = {**samples.CALLED, "kind": "read", "rawInput": {}, "_meta": {"toolName": "read_file"}}
    assert dialogue.from_agent(update("tool_call", **reads)).happenings == ()
    dialogue.from_agent(update("tool_call_update", toolCallId="call_1", rawInput={"path": "/repo/a"}))
    started, ended = dialogue.from_agent(
        update("tool_call_update", toolCallId="call_1", status="completed")
    ).happenings  # fmt: skip
    assert isinstance(started, ToolStarted)
    assert (started.request.tool, started.request.paths, started.request.risk) == ("read_file", ("/repo/a",), Risk.READ)
    assert ended == ToolEnded("call_1", True)


@pytest.mark.parametrize("options, granted, answer", [
    (samples.OPTIONS, True, {"outcome": "selected", "optionId": "yes"}),
    (samples.OPTIONS, False, {"outcome": "selected", "optionId": "no"}),
    ([{"optionId": "always", "kind": "allow_always"}, {"optionId": "no", "kind": "reject_once"}], True,
     {"outcome": "selected", "optionId": "no"}),
    ([{"optionId": "never", "kind": "reject_always"}], False, {"outcome": "selected", "optionId": "never"}),
    ([{"optionId": "always", "kind": "allow_always"}], True, {"outcome": "cancelled"}),
    (None, True, {"outcome": "cancelled"}),
])  # fmt: skip
def test_never_more_is_granted_than_was_decided(options: Any, granted: bool, answer: dict[str, Any]) -> None:
    result, grants = acp_permissions.outcome(options, granted=granted)
    assert result == {"outcome": answer}
    assert grants == (answer.get("optionId") == "yes")


def test_a_command_may_stand_in_the_title_of_the_question_alone() -> None:
    call = {"toolCallId": "c", "kind": "execute", "title": "rm -rf /"}
    moves = between().from_agent(question(call))
    decided = moves.happenings[0]
    assert isinstance(decided, ToolDecided)
    assert (decided.request.command, decided.decision.verdict) == ("rm -rf /", Verdict.DENY)


def test_the_adapter() -> None:
    led = Acp().prepare(wired.launch("qwen", "fix it please"), Injection("SYS"), wired.WIRING)
    assert (led.leads, led.prompt) == (True, "fix it please")
    assert led.launch.argv == ("qwen", "--acp", "--approval-mode", "default")
    assert (led.ends_with_input, len(led.notes)) == (True, 1)
    for words in (("qwen", "--auth-type", "openai", "订单为什么超时"), ("qwen", "-p", "订单为什么超时"),
                  ("node", "/x/@qwen-code/qwen-code/cli.js", "--yolo", "订单为什么超时")):  # fmt: skip
        asked = Acp().prepare(wired.launch(*words), Injection(), wired.UNHELD)
        kept = tuple(word for word in words if word not in {"-p", "订单为什么超时"})
        assert (asked.leads, asked.prompt, asked.launch.argv) == (True, "订单为什么超时", (*kept, "--acp"))
    stays = Acp().prepare(wired.launch("opencode", "acp"), Injection(), wired.WIRING)
    assert (stays.leads, stays.launch.argv, stays.ends_with_input) == (False, ("opencode", "acp"), False)
    chosen = Acp().prepare(wired.launch("qwen", "--acp", "--approval-mode=default"), Injection(), wired.WIRING)
    assert chosen.launch.argv[-1] == "--approval-mode=default"


@pytest.mark.parametrize("option", [("--yolo",), ("--approval-mode", "auto-edit"), ("--approval-mode=yolo",)])
def test_an_agent_that_was_told_to_ask_nothing(option: tuple[str, ...]) -> None:
    launch = wired.launch("qwen", "--acp", *option)
    hooked = Acp().prepare(launch, Injection(), wired.HOOKED)
    assert (hooked.launch.environ["QWEN_CODE_SYSTEM_DEFAULTS_PATH"], hooked.notes) == ("/run/qwen-defaults.json", ())
    assert Acp().prepare(launch, Injection(), wired.WIRING).notes
    assert Acp().prepare(wired.launch("gemini", "--acp", *option), Injection(), wired.HOOKED).notes
