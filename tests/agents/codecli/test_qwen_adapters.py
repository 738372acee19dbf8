"""The adapters for ACP and for `stream-json`, with the real Qwen Code."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from codexmem.codecli.agents.acp import Acp
from codexmem.codecli.agents.claude_json import ClaudeJson
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
from codexmem.kernel.model.tool_access import Risk, Verdict
from tests._support.scripted_model import Call, Say
from tests.agents.codecli.conftest import FORBIDDEN, MEMORY, REASON, Judge
from tests.agents.codecli.driving import Message, drive
from tests.agents.person import Person
from tests.agents.qwen import Qwen

pytestmark = pytest.mark.timeout(180)

INJECTED = Injection(f"SYSTEM {MEMORY}", f"USER {MEMORY}")
Launching = Callable[..., Launch]


def shell(command: str) -> Call:
    """A step of the model."""
    return Call("run_shell_command", {"command": command, "is_background": False})


def test_one_way_tells_memory_holds_tools_and_goes_on(
    qwen: Qwen, qwen_launch: Launching, wiring: Wiring, judge: Judge, person: Person
) -> None:
    qwen.configure()
    qwen.model.play(shell(f"touch {FORBIDDEN}"), shell("touch made.txt"), Say("换了办法。"))
    launch = qwen_launch("--yolo", "-o", "stream-json", "--append-system-prompt", "Be brief.", "建一个文件")

    run = drive(ClaudeJson().prepare(launch, INJECTED, wiring))

    first, last = qwen.model.asked[0], qwen.model.asked[-1]
    assert first.texts("system")[0].endswith(f"Be brief.\n\n{INJECTED.system}")
    assert f"{INJECTED.user}\n\n建一个文件" in first.texts("user")[-1]
    assert REASON in str(last.body["messages"])
    assert not (person.repository / FORBIDDEN).exists()
    assert (person.repository / "made.txt").exists()
    assert [request.command for request in judge.asked] == [f"touch {FORBIDDEN}", "touch made.txt"]
    assert [each.request.call_id for each in run.of(ToolStarted)] == [request.call_id for request in judge.asked]
    assert [each.ok for each in run.of(ToolEnded)] == [False, True]
    assert (run.code, run.said, run.of(TurnEnded)) == (0, "换了办法。\n", [TurnEnded(True)])


def test_two_way_answers_questions_with_a_reason(
    qwen: Qwen, qwen_launch: Launching, wiring: Wiring, judge: Judge, person: Person
) -> None:
    qwen.configure()
    qwen.model.play(shell(f"touch {FORBIDDEN}"), shell("touch made.txt"), Say("Another way."))
    launch = qwen_launch("--approval-mode", "default", "--input-format", "stream-json", "-o", "stream-json")
    received: list[Message] = []

    def program(message: Message | None) -> Iterable[Message]:
        if message is None:
            said = {"role": "user", "content": "make a file"}
            return [{"type": "user", "session_id": "", "message": said, "parent_tool_use_id": None}]
        received.append(message)
        return [{"method": "hang up"}] if message["type"] == "result" else []

    run = drive(ClaudeJson().prepare(launch, Injection(), wiring), program)

    assert f"SYSTEM {MEMORY}" in qwen.model.asked[0].texts("user")[-1]
    assert REASON in str(qwen.model.asked[-1].body["messages"])
    assert not (person.repository / FORBIDDEN).exists()
    assert (person.repository / "made.txt").exists()
    decided = [(each.request.command, each.decision.verdict) for each in run.of(ToolDecided)]
    assert decided == [(f"touch {FORBIDDEN}", Verdict.DENY), ("touch made.txt", Verdict.ALLOW)]
    assert {each["type"] for each in received} <= {"system", "stream_event", "assistant", "user", "result"}
    assert (run.of(UserPrompt), run.said) == ([UserPrompt("make a file")], "Another way.\n")
    assert [each.request for each in run.of(ToolStarted)] == judge.asked[1:]
    assert [(each.call_id, each.ok) for each in run.of(ToolEnded)] == [(judge.asked[1].call_id, True)]


def test_acp_led_by_a_persons_program(
    qwen: Qwen, qwen_launch: Launching, wiring: Wiring, judge: Judge, person: Person
) -> None:
    qwen.configure()
    qwen.model.play(shell(f"touch {FORBIDDEN}"), shell("touch made.txt"), Say("换了办法。"))
    received: list[Message] = []

    def program(message: Message | None) -> Iterable[Message]:
        nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        if message is None:
            params = {"protocolVersion": 1, "clientCapabilities": nothing}
            return [{"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}]
        received.append(message)
        if "method" in message and "id" in message:
            return [{"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}]
        if message.get("id") == "a":
            new = {"cwd": str(person.repository), "mcpServers": []}
            return [{"jsonrpc": "2.0", "id": "b", "method": "session/new", "params": new}]
        if message.get("id") == "b":
            params = {"sessionId": message["result"]["sessionId"], "prompt": [{"type": "text", "text": "建一个文件"}]}
            return [{"jsonrpc": "2.0", "id": "c", "method": "session/prompt", "params": params}]
        return [{"method": "hang up"}] if message.get("id") == "c" else []

    prepared = Acp().prepare(qwen_launch("--acp"), Injection(), wiring)
    run = drive(prepared, program)

    assert prepared.ends_with_input
    assert any(MEMORY in text for text in qwen.model.asked[0].texts("user"))
    # A refusal ends this agent's turn; it was told why, and asked to go on.
    assert any(REASON in text for text in qwen.model.asked[1].texts("user"))
    assert not (person.repository / FORBIDDEN).exists()
    assert (person.repository / "made.txt").exists()
    assert [(request.tool, request.command, request.risk) for request in judge.asked] == [
        ("run_shell_command", f"touch {FORBIDDEN}", Risk.EXECUTE),
        ("run_shell_command", "touch made.txt", Risk.EXECUTE),
    ]
    assert [each["id"] for each in received if "method" not in each] == ["a", "b", "c"]
    assert [each for each in received if each.get("method") == "session/request_permission"] == []
    assert (run.said, run.of(TurnEnded), run.of(UserPrompt)) == (
        "换了办法。",
        [TurnEnded(True)],
        [UserPrompt("建一个文件")],
    )
    assert [each.request for each in run.of(ToolStarted)] == judge.asked[1:]
    assert [(each.call_id, each.ok) for each in run.of(ToolEnded)] == [(judge.asked[1].call_id, True)]


def test_acp_that_was_told_to_ask_nothing_is_held_by_a_hook(
    qwen: Qwen, qwen_launch: Launching, wiring: Wiring, judge: Judge, person: Person
) -> None:
    qwen.configure()
    qwen.model.play(shell(f"touch {FORBIDDEN}"), Say("Another way."))

    prepared = Acp().prepare(qwen_launch("--yolo", "make a file please"), INJECTED, wiring)
    run = drive(prepared)

    assert REASON in str([each for each in qwen.model.asked[1].body["messages"] if each["role"] == "tool"])
    assert not (person.repository / FORBIDDEN).exists()
    assert [request.command for request in judge.asked] == [f"touch {FORBIDDEN}"]
    assert run.shown.decode().endswith("Another way.\n")
