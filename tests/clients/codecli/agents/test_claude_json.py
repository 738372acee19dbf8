"""Claude Code and Qwen Code: command line, one-way stream and two-way dialogue."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from codexmem.codecli.agents.claude_json import ClaudeDialogue, ClaudeJson, StreamWatcher
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    Injection,
    LineEffects,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
)
from tests.clients.codecli.agents import wired


@pytest.mark.parametrize("argv, prompt", [
    (("claude", "-p", "修好它"), "修好它"),
    (("claude", "-p", "--model", "opus", "fix", "--output-format", "stream-json"), "fix"),
    (("claude", "fix", "--allowedTools", "Bash", "Edit", "--verbose"), "fix"),
    (("claude", "-p"), None),
    (("qwen", "-p", "fix", "-m", "x"), "fix"),
    (("qwen", "--auth-type", "openai", "--yolo", "-o", "stream-json", "fix"), "fix"),
    (("qwen",), None),
])  # fmt: skip
def test_the_prompt(argv: tuple[str, ...], prompt: str | None) -> None:
    assert ClaudeJson().prompt_of(wired.launch(*argv)) == prompt


def test_memory_goes_to_instructions_and_before_the_prompt() -> None:
    launch = wired.launch("node", "/x/@anthropic-ai/claude-code/cli.js", "-p", "--append-system-prompt", "mine", "fix")
    prepared = ClaudeJson().prepare(launch, Injection("SYS", "USR"), wired.UNHELD)
    assert prepared.launch.argv[2:] == ("--append-system-prompt", "mine\n\nSYS", "-p", "USR\n\nfix")
    glued = ClaudeJson().prepare(wired.launch("qwen", "--append-system-prompt=a=b"), Injection("SYS"), wired.UNHELD)
    assert glued.launch.argv == ("qwen", "--append-system-prompt", "a=b\n\nSYS")
    piped = ClaudeJson().prepare(wired.launch("claude", "-p"), Injection("", "USR"), wired.UNHELD)
    assert (piped.launch.argv, piped.notes, piped.in_launch) == (("claude", "-p"), (), False)
    assert (piped.by_input, piped.before_input) == (True, "USR")


def test_what_no_command_line_takes_is_left_out() -> None:
    launch = wired.launch("claude", "-p", "fix")
    prepared = ClaudeJson().prepare(launch, Injection("x" * 200_000), wired.UNHELD)
    assert (prepared.launch.argv, len(prepared.notes), prepared.in_launch) == (launch.argv, 1, False)


def test_claude_code_gets_the_hook_on_its_command_line() -> None:
    own = {"model": "opus", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}], "Stop": [1]}}
    files = {"own.json": json.dumps(own)}
    for given in ("own.json", files["own.json"]):
        launch = wired.launch("claude", "-p", "--settings", given, "fix")
        prepared = ClaudeJson().prepare(launch, Injection(), replace(wired.HOOKED, text_of=files.get))
        argv = prepared.launch.argv
        assert (argv[0], argv[1], argv[3:], prepared.notes) == ("claude", "--settings", ("-p", "fix"), ())
        settings = json.loads(argv[2])
        ours, theirs = settings["hooks"]["PreToolUse"]
        assert ours["hooks"][0]["command"].endswith("claude || exit 2")
        assert (theirs, settings["hooks"]["Stop"], settings["model"]) == ({"matcher": "Bash", "hooks": []}, [1], "opus")
    missing = wired.launch("claude", "-p", "--settings", "gone.json", "fix")
    assert ClaudeJson().prepare(missing, Injection(), wired.HOOKED).notes


def test_qwen_gets_the_hook_in_a_file() -> None:
    kept: dict[str, str] = {}

    def keep(name: str, text: str) -> str:
        kept[name] = text
        return f"/run/{name}"

    there = {"/etc/qwen-code/system-defaults.json": '{"ui": {"theme": "x"}}'}
    wiring = replace(wired.HOOKED, keep=keep, text_of=there.get)
    prepared = ClaudeJson().prepare(wired.launch("qwen", "-o", "stream-json", "fix"), Injection(), wiring)
    assert prepared.launch.environ["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] == "/run/qwen-defaults.json"
    settings = json.loads(kept["qwen-defaults.json"])
    assert settings["ui"] == {"theme": "x"}
    assert settings["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] == 3_600_000
    assert ClaudeJson().prepare(wired.launch("qwen", "--safe-mode", "fix"), Injection(), wiring).notes


def told(*values: dict[str, Any], hooked: bool = False) -> list[Happening]:
    watcher = StreamWatcher("qwen", "/repo", hooked=hooked)
    return [each for value in values for each in watcher.feed(json.dumps(value).encode() + b"\n")]


USES = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}
CALLS = {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "好"}, USES]}}
ANSWERS = {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c", "is_error": True}]}}


def test_the_stream() -> None:
    said, started, ended, over = told(CALLS, ANSWERS, {"type": "result", "subtype": "success", "is_error": False})
    assert isinstance(started, ToolStarted)
    assert (said, started.request.command) == (AgentMessage("好\n"), "ls")
    assert (ended, over) == (ToolEnded("c", False), TurnEnded(True))
    failed = told({"type": "result", "subtype": "error_during_execution", "is_error": True, "result": "no"})
    assert failed == [TurnEnded(False, "no")]


def test_with_a_hook_a_call_is_told_with_its_end() -> None:
    assert told(CALLS, hooked=True) == [AgentMessage("好\n")]
    assert [type(each) for each in told(CALLS, ANSWERS, hooked=True)] == [AgentMessage, ToolStarted, ToolEnded]
    assert [type(each) for each in told(CALLS, {"type": "result"}, hooked=True)] == [
        AgentMessage,
        ToolStarted,
        TurnEnded,
    ]


def test_partial_messages_are_told_once() -> None:
    begins = {"type": "stream_event", "event": {"type": "message_start", "message": {"id": "m"}}}
    part = {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"text": "好"}}}
    whole = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "好"}]}}
    assert told(begins, part, whole) == [AgentMessage("好"), AgentMessage("\n")]


def line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def sent(moves: LineEffects) -> list[dict[str, Any]]:
    return [json.loads(each) for each in moves.to_agent]


def asks(command: str) -> bytes:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "c", "input": {"command": command}}
    return line(type="control_request", request_id="r", request=request)


def test_two_ways() -> None:
    dialogue = ClaudeDialogue("qwen", "/repo", Injection(), wired.WIRING)
    assert dialogue.open(None) == LineEffects()
    said = dialogue.from_person(line(type="user", message={"role": "user", "content": "go"}))
    initialize, message = sent(said)
    assert initialize["request"]["subtype"] == "initialize"
    assert [part["text"] for part in message["message"]["content"]] == ["SYS\n\nUSR", "go"]
    assert said.happenings == (UserPrompt("go"),)
    answer = line(type="control_response", response={"subtype": "success", "request_id": initialize["request_id"]})
    assert dialogue.from_agent(answer) == LineEffects()
    refused = dialogue.from_agent(asks("rm x"))
    assert sent(refused)[0]["response"]["response"] == {"behavior": "deny", "message": wired.REASON}
    assert [type(each) for each in refused.happenings] == [ToolDecided]
    assert dialogue.from_agent(line(**ANSWERS)).happenings == ()
    allowed = dialogue.from_agent(asks("ls"))
    assert sent(allowed)[0]["response"]["response"] == {"behavior": "allow", "updatedInput": {"command": "ls"}}


def test_a_program_that_initializes_is_not_helped() -> None:
    dialogue = ClaudeDialogue("qwen", "/repo", Injection(), wired.WIRING)
    first = line(type="control_request", request_id="1", request={"subtype": "initialize"})
    assert dialogue.from_person(first).to_agent == (first,)
    results = line(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "c"}]})
    assert dialogue.from_person(results).to_agent == (results,)


def test_where_nothing_is_held_the_persons_program_is_asked() -> None:
    dialogue = ClaudeDialogue("qwen", "/repo", Injection(), wired.UNHELD)
    assert dialogue.from_agent(asks("rm x")).to_person == (asks("rm x"),)
    message = line(type="control_request", request_id="1", request={"subtype": "interrupt"})
    assert dialogue.from_person(message).to_agent == (message,)


def test_claude_code_is_told_to_ask_on_the_line() -> None:
    launch = wired.launch("claude", "--input-format", "stream-json", "--output-format", "stream-json")
    argv = ClaudeJson().prepare(launch, Injection(), wired.WIRING).launch.argv
    assert argv[:3] == ("claude", "--permission-prompt-tool", "stdio")
    assert ClaudeJson().prepare(launch, Injection(), wired.UNHELD).launch == launch
