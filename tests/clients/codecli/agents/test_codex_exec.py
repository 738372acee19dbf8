"""Codex by its command line: where memory and the hook go, and what its events tell."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import Any

import pytest

from codexmem.codecli.agents.codex_exec import CodexExec, ExecWatcher
from codexmem.codecli.agents.protocol import AgentMessage, Happening, Injection, ToolEnded, ToolStarted, TurnEnded
from tests.clients.codecli.agents import wired

TOLD = Injection('记忆 "x"\n\\', "before")


def configured(argv: tuple[str, ...], key: str) -> Any:
    """What the last `-c` for a key says."""
    given = [argv[at + 1].partition("=") for at, word in enumerate(argv) if word == "-c"]
    value = [value for name, _, value in given if name == key][-1]
    return tomllib.loads(f"value = {value}")["value"]


@pytest.mark.parametrize("argv, prompt", [
    (("codex", "exec", "--json", "-m", "gpt", "修好它"), "修好它"),
    (("codex", "e", "-C", "/x", "--", "-fix"), "-fix"),
    (("codex", "exec", "-"), None),
    (("codex", "exec", "--json"), None),
    (("codex", "exec", "resume", "0199", "again"), "again"),
    (("codex", "exec", "resume", "--last", "again"), "again"),
    (("codex", "exec", "resume", "0199"), None),
    (("codex", "exec", "two", "words"), None),
    (("codex", "hello there"), "hello there"),
    (("codex",), None),
    (("codex", "login"), None),
    (("codex", "app-server"), None),
])  # fmt: skip
def test_the_prompt(argv: tuple[str, ...], prompt: str | None) -> None:
    assert CodexExec().prompt_of(wired.launch(*argv)) == prompt


def test_memory_goes_to_instructions_and_before_the_prompt() -> None:
    prepared = CodexExec().prepare(wired.launch("codex", "exec", "--json", "fix"), TOLD, wired.UNHELD)
    argv = prepared.launch.argv
    assert (argv[:3], argv[-1]) == (("codex", "exec", "--json"), "before\n\nfix")
    assert configured(argv, "developer_instructions") == TOLD.system
    assert (prepared.prompt, prepared.notes, prepared.check) == ("fix", (), None)


@pytest.mark.parametrize("options, files, theirs", [
    (("-c", 'developer_instructions="mine"'), {}, "mine"),
    (("-c", "developer_instructions=bare words"), {}, "bare words"),
    ((), {"/home/me/.codex/config.toml": 'developer_instructions = "filed"'}, "filed"),
    (("-p", "work"), {"/home/me/.codex/work.config.toml": 'developer_instructions = "profiled"',
                      "/home/me/.codex/config.toml": 'developer_instructions = "filed"'}, "profiled"),
    (("--ignore-user-config",), {"/home/me/.codex/config.toml": 'developer_instructions = "filed"'}, None),
    ((), {"/home/me/.codex/config.toml": "not toml ["}, None),
])  # fmt: skip
def test_instructions_that_are_there_are_kept(
    options: tuple[str, ...], files: dict[str, str], theirs: str | None
) -> None:
    wiring = replace(wired.UNHELD, text_of=files.get)
    argv = CodexExec().prepare(wired.launch("codex", "exec", *options, "fix"), Injection("ours"), wiring).launch.argv
    assert configured(argv, "developer_instructions") == ("ours" if theirs is None else f"{theirs}\n\nours")


def test_a_home_of_its_own_is_looked_at() -> None:
    asked: list[str] = []

    def text_of(path: str) -> None:
        asked.append(path)

    wiring = replace(wired.UNHELD, text_of=text_of)
    CodexExec().prepare(wired.launch("codex", "exec", "x", CODEX_HOME="/other"), Injection("ours"), wiring)
    assert asked == ["/other/config.toml"]


@pytest.mark.parametrize("argv", [("codex", "exec", "-"), ("codex", "exec"), ("codex", "e", "resume", "--last", "-")])
def test_a_prompt_on_standard_input_gets_it_before_it(argv: tuple[str, ...]) -> None:
    prepared = CodexExec().prepare(wired.launch(*argv), TOLD, wired.UNHELD)
    assert configured(prepared.launch.argv, "developer_instructions") == TOLD.system
    assert (prepared.by_input, prepared.before_input, prepared.in_launch) == (True, "before", True)
    assert prepared.notes == ()
    only = CodexExec().prepare(wired.launch(*argv), Injection("", "before"), wired.UNHELD)
    assert (only.launch.argv, only.before_input, only.in_launch) == (argv, "before", False)


@pytest.mark.parametrize("argv", [("codex",), ("codex", "login"), ("codex", "exec", "review"), ("codex", "mcp")])
def test_an_input_that_is_no_prompt_is_left_alone(argv: tuple[str, ...]) -> None:
    assert CodexExec().prepare(wired.launch(*argv), Injection(), wired.UNHELD).by_input is False


def test_what_no_command_line_takes_is_left_out() -> None:
    launch = wired.launch("codex", "exec", "fix")
    prepared = CodexExec().prepare(launch, Injection("x" * 200_000), wired.UNHELD)
    assert (prepared.launch.argv, len(prepared.notes), prepared.in_launch) == (launch.argv, 1, False)


def test_the_hook_is_trusted_and_others_are_kept() -> None:
    own = 'hooks.PreToolUse=[{matcher="Bash",hooks=[{type="command",command="own"}]}]'
    launch = wired.launch("codex", "exec", "-c", own, "-c", 'hooks.state={"k"={trusted_hash="h"}}', "fix")
    prepared = CodexExec().prepare(launch, Injection(), wired.HOOKED)
    ours, theirs = configured(prepared.launch.argv, "hooks.PreToolUse")
    command = "python -m hook '/tmp/a b/endpoint' codex || exit 2"
    assert (ours["matcher"], ours["hooks"][0]["command"]) == ("*", command)
    assert theirs["hooks"][0]["command"] == "own"
    state = configured(prepared.launch.argv, "hooks.state")
    assert set(state) == {"k", "/<session-flags>/config.toml:pre_tool_use:0:0"}
    assert "--dangerously-bypass-hook-trust" not in prepared.launch.argv
    assert prepared.check is not None
    said = {"command": command, "trustStatus": "trusted", "enabled": True}
    for hooks, proven in (([said], True), ([{**said, "trustStatus": "untrusted"}], False), ([], False),
                          ([{**said, "enabled": False}], False), ([{**said, "command": "other"}], False)):  # fmt: skip
        answer = {"id": 2, "result": {"data": [{"hooks": hooks}]}}
        assert prepared.check.proves(json.dumps(answer).encode()) is proven
    assert prepared.check.proves(b'{"id":1,"result":{}}') is None
    assert prepared.check.proves(b'{"id":2,"error":{}}') is False


def test_without_a_hook_it_is_said_that_nothing_is_held() -> None:
    assert CodexExec().prepare(wired.launch("codex", "exec", "x"), Injection(), wired.WIRING).notes


def test_words_for_people_are_not_read() -> None:
    assert CodexExec().prepare(wired.launch("codex", "exec", "x"), Injection(), wired.UNHELD).stdout is None


def told(*events: dict[str, Any]) -> list[Happening]:
    watcher = ExecWatcher("/repo")
    stream = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    return [*watcher.feed(stream), *watcher.close()]


def item(kind: str, what: str = "item.completed", **fields: Any) -> dict[str, Any]:
    return {"type": what, "item": {"id": "item_1", "type": kind, **fields}}


def test_events() -> None:
    command: dict[str, Any] = {"command": "/bin/bash -lc 'make test'", "status": "completed", "exit_code": 0}
    started, ended, said, over = told(
        item("command_execution", "item.started", **command), item("command_execution", **command),
        item("agent_message", text="好"), {"type": "turn.completed"},
    )  # fmt: skip
    assert isinstance(started, ToolStarted)
    assert (started.request.command, started.request.cwd, started.request.agent) == (
        "/bin/bash -lc 'make test'",
        "/repo",
        "codex",
    )
    assert (ended, said, over) == (ToolEnded("item_1", True), AgentMessage("好\n"), TurnEnded(True))


def test_an_item_of_type_error_is_a_warning() -> None:
    assert told(item("error", message="deprecated")) == []
    assert told({"type": "turn.failed", "error": {"message": "no"}}) == [TurnEnded(False, "no")]


def test_a_model_that_is_away_is_told_once() -> None:
    found = told(*[{"type": "error", "message": f"Reconnecting... {n}"} for n in range(50)])
    assert [each.ok for each in found if isinstance(each, TurnEnded)] == [False]
    short = [{"type": "error", "message": "x"}] * 5
    assert told(*short, item("agent_message", text="a"), *short) == [AgentMessage("a\n")]


def test_tools_of_every_kind() -> None:
    found = told(
        item("file_change", changes=[{"path": "/repo/a", "kind": "add"}], status="completed"),
        item("mcp_tool_call", server="gh", tool="issue", arguments={"n": 1}, status="failed", error={"message": "x"}),
        item("web_search", query="q"), item("todo_list", items=[]), item("reasoning", text="hm"),
    )  # fmt: skip
    requests = [each.request for each in found if isinstance(each, ToolStarted)]
    assert [(request.tool, request.server, request.paths) for request in requests] == [
        ("apply_patch", "", ("/repo/a",)), ("mcp__gh__issue", "gh", ()), ("web_search", "", ())]  # fmt: skip
    assert [each.ok for each in found if isinstance(each, ToolEnded)] == [True, False, True]
