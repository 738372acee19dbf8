"""The adapters for Codex, with the real Codex: by its command line, and inside its app-server's protocol."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from codexmem.codecli.agents.codex_app_server import CodexAppServer
from codexmem.codecli.agents.codex_exec import CodexExec
from codexmem.codecli.agents.protocol import (
    Injection,
    Launch,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
    Wiring,
)
from codexmem.codecli.hook_socket import HookSocket
from codexmem.codecli.run import passes
from codexmem.kernel.model.tool_access import Verdict
from tests._support.scripted_model import Call, Say
from tests.agents.codecli.conftest import FORBIDDEN, MEMORY, REASON, Judge
from tests.agents.codecli.driving import Message, drive
from tests.agents.codex import Codex
from tests.agents.person import Person

pytestmark = pytest.mark.timeout(180)

OWN = "Always answer in Chinese: 用中文回答。"
INJECTED = Injection(f'SYSTEM {MEMORY} "quoted" \\ back', f"USER {MEMORY}")
Launching = Callable[..., Launch]
# An MCP server with one tool, which nobody may get to call.
NOTES = """
import json, sys

for line in sys.stdin:
    asked = json.loads(line)
    tool = {"name": "write", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
            "annotations": {"readOnlyHint": True}}
    answers = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "notes", "version": "1"}},
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "written"}]},
    }
    if "id" in asked:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": answers.get(asked["method"], {})}
        print(json.dumps(answer), flush=True)
"""


def outputs(codex: Codex) -> str:
    """What the tools answered, as far as the model was told."""
    items = codex.model.asked[-1].body["input"]
    return json.dumps([item for item in items if item["type"].endswith("_output")], ensure_ascii=False)


def test_exec_tells_memory_holds_tools_and_goes_on(
    codex: Codex, codex_launch: Launching, wiring: Wiring, endpoint: HookSocket, judge: Judge, person: Person
) -> None:
    codex.configure(f"developer_instructions = {json.dumps(OWN, ensure_ascii=False)}")
    patch = f"*** Begin Patch\n*** Add File: {FORBIDDEN}\n+x\n*** End Patch"
    codex.model.play(
        Call("exec_command", {"cmd": f"touch {FORBIDDEN}"}),
        Call("apply_patch", source=patch),
        Call("exec_command", {"cmd": "echo 好 > made.txt; exit 3"}),
        Say("做完了。"),
    )
    launch = codex_launch("exec", "--json", "-C", str(person.repository), "建一个文件")
    prepared = CodexExec().prepare(launch, INJECTED, wiring)

    assert prepared.check is not None
    assert passes(prepared.check, prepared.launch)
    run = drive(prepared)

    first = codex.model.asked[0]
    assert first.texts("developer")[-1] == f"{OWN}\n\n{INJECTED.system}"
    assert first.texts("user")[-1] == f"{INJECTED.user}\n\n建一个文件"
    assert outputs(codex).count(REASON) == 2
    assert not (person.repository / FORBIDDEN).exists()
    assert (person.repository / "made.txt").read_text() == "好\n"
    assert (run.code, run.said, run.happenings[-1]) == (0, "做完了。\n", TurnEnded(True))
    assert [request.command or request.paths for request in judge.asked] == [
        f"touch {FORBIDDEN}", (FORBIDDEN,), "echo 好 > made.txt; exit 3"]  # fmt: skip
    # Refused commands leave no trace in the output; the one that ran is the one that was decided.
    named = [endpoint.matching.of(each) for each in run.happenings]
    (started,) = [each for each in named if isinstance(each, ToolStarted)]
    (ended,) = [each for each in named if isinstance(each, ToolEnded)]
    assert started.request.call_id == ended.call_id == judge.asked[-1].call_id
    assert not ended.ok


def test_a_hook_that_is_not_trusted_is_noticed(codex: Codex, codex_launch: Launching, wiring: Wiring) -> None:
    codex.configure()
    prepared = CodexExec().prepare(codex_launch("exec", "hello"), Injection(), wiring)
    assert prepared.check is not None
    spoilt = tuple(word.replace("sha256:", "sha256:0") for word in prepared.check.argv)
    assert not passes(replace(prepared.check, argv=spoilt), prepared.launch)


def test_a_dead_endpoint_refuses(codex: Codex, codex_launch: Launching, wiring: Wiring, endpoint: HookSocket,
                             person: Person) -> None:  # fmt: skip
    codex.configure()
    codex.model.play(Call("exec_command", {"cmd": "touch made.txt"}), Say("It was refused."))
    endpoint.close()

    run = drive(CodexExec().prepare(codex_launch("exec", "--json", "go"), Injection(), wiring))

    assert run.said == "It was refused.\n"
    assert "mem-codecli cannot be asked" in outputs(codex)
    assert not (person.repository / "made.txt").exists()


def test_app_server_led_by_us(codex: Codex, codex_launch: Launching, wiring: Wiring, judge: Judge,
                              person: Person) -> None:  # fmt: skip
    codex.configure(f"developer_instructions = {json.dumps(OWN, ensure_ascii=False)}")
    patch = f"*** Begin Patch\n*** Add File: {FORBIDDEN}\n+x\n*** End Patch"
    codex.model.play(
        Call("exec_command", {"cmd": f"touch {FORBIDDEN}"}),
        Call("apply_patch", source=patch),
        Call("exec_command", {"cmd": "touch made.txt"}),
        Say("Done another way."),
    )
    prepared = CodexAppServer().prepare(codex_launch("exec", "make a file"), INJECTED, wiring)

    run = drive(prepared)

    first, second = codex.model.asked[:2]
    assert first.texts("developer")[-1] == f"{OWN}\n\n{INJECTED.system}"
    assert first.texts("user")[-1] == f"{INJECTED.user}\nmake a file"
    assert REASON in second.texts("user")[-1]  # in the same request as the refusal
    assert (run.code, run.shown.decode(), run.said) == (0, "Done another way.\n", "Done another way.\n")
    assert not (person.repository / FORBIDDEN).exists()
    assert (person.repository / "made.txt").exists()
    decided = [(each.request.tool, each.decision.verdict) for each in run.of(ToolDecided)]
    assert decided == [("Bash", Verdict.DENY), ("apply_patch", Verdict.DENY), ("Bash", Verdict.ALLOW)]
    assert judge.asked[0].command == f"/bin/bash -lc 'touch {FORBIDDEN}'"  # as the app-server tells it
    assert [path.rsplit("/")[-1] for path in judge.asked[1].paths] == [FORBIDDEN]
    assert [(each.call_id, each.ok) for each in run.of(ToolEnded)] == [(judge.asked[2].call_id, True)]
    assert run.of(TurnEnded) == [TurnEnded(True)]


def test_app_server_led_by_a_persons_program(codex: Codex, codex_launch: Launching, wiring: Wiring,
                                             person: Person) -> None:  # fmt: skip
    notes = person.write("notes.py", NOTES)
    codex.configure(
        codex.tools(f"[mcp_servers.notes]\ncommand = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(notes))}]\n")
    )
    codex.model.play(
        Call("exec_command", {"cmd": f"touch {FORBIDDEN}"}),
        Call("mcp__notes__write", {"path": FORBIDDEN}),
        Say("Fine."),
    )
    received: list[Message] = []

    def program(message: Message | None) -> Iterable[Message]:
        if message is None:
            client = {"name": "editor", "title": "Editor", "version": "1"}
            return [{"id": 0, "method": "initialize", "params": {"clientInfo": client}}]
        received.append(message)
        if message.get("id") == 0:
            start = {"cwd": str(person.repository), "approvalPolicy": "never", "developerInstructions": OWN}
            return [{"method": "initialized"}, {"id": 1, "method": "thread/start", "params": start}]
        if message.get("id") == 1:
            texts = [{"type": "text", "text": "超时怎么修？"}]
            thread = message["result"]["thread"]["id"]
            return [{"id": 2, "method": "turn/start", "params": {"threadId": thread, "input": texts}}]
        return [{"method": "hang up"}] if message.get("method") == "turn/completed" else []

    run = drive(CodexAppServer().prepare(codex_launch("app-server"), Injection(), wiring), program)

    first = codex.model.asked[0]
    assert f"SYSTEM {MEMORY}" in first.texts("developer")
    assert OWN in first.texts("developer")
    assert f"USER {MEMORY}" in "\n".join(first.texts("user"))
    assert run.of(UserPrompt)[0] == UserPrompt("超时怎么修？")
    # What we asked of Codex ourselves is nothing that the program hears of.
    assert sorted(each["id"] for each in received if "id" in each) == [0, 1, 2]
    assert [each for each in received if "requestApproval" in each.get("method", "")] == []
    assert outputs(codex).count(REASON) == 1, "the tool of the MCP server, by our hook"
    assert REASON in str(codex.model.asked[1].texts("user"))
    assert run.said == "Fine.\n"
