"""What a session needed is read from its log, and only what an earlier session had counts."""

from __future__ import annotations

from typing import Any

import pytest

from bench import coding_log


def shell(command: str, output: str = "", *, ok: bool = True) -> dict[str, Any]:
    return {"k": "tool", "kind": "shell", "tool": "Bash", "i": 1, "command": command, "output": output, "ok": ok}


def edit(path: str) -> dict[str, Any]:
    return {"k": "tool", "kind": "edit", "tool": "Edit", "i": 2, "path": path, "old": "a", "new": "b"}


def session(number: int, *items: dict[str, Any]) -> dict[str, Any]:
    asked = {"k": "user", "i": 0, "text": "go on"}
    return {"id": f"s{number}", "project": "p", "started_at": f"2026-01-{number + 1:02}T00:00:00Z",
            "items": [asked, *items]}  # fmt: skip


@pytest.mark.parametrize(
    "line,found",
    [
        ("cd web && npm run test -- --watch=false | tail -3", ["npm run test"]),
        ("DB_URL=x timeout 60 pytest -q tests/a.py", ["pytest tests/a.py"]),
        ("go test -run X ./...", ["go test"]),
        ("ls -la; git status; echo done", []),
        ("make", ["make"]),
        ("npm", []),
    ],
)
def test_commands_are_cut_to_what_tells_them_apart(line: str, found: list[str]) -> None:
    assert list(coding_log.commands(line)) == found


def test_variables_of_a_command_line() -> None:
    assert coding_log.variables("DB_URL=sqlite:///x A=1 pytest $HOME_DIR=no") == {"DB_URL=sqlite:///x"}


def test_the_first_line_that_says_what_went_wrong() -> None:
    output = "running\n\x1b[31mFAIL: 1\nTypeError: cannot read the property of undefined\nmore"
    assert coding_log.error_line(output) == "TypeError: cannot read the property of undefined"
    assert coding_log.error_line("all is well") is None


def test_only_what_an_earlier_session_had_is_needed() -> None:
    error = "ValueError: the port {} is already in use here"
    earlier = session(0, edit("src/a.py"), shell("make test"), shell("make run", error.format(1), ok=False))
    between = [session(number) for number in range(1, coding_log.FIRST_ASKED)]
    late = session(5, edit("src/a.py"), edit("src/new.py"), shell("make test"), shell("make lint"),
                   shell("make run", error.format(22), ok=False))  # fmt: skip
    (need,) = coding_log.needs([earlier, *between, late])
    assert (need.session, need.files, need.commands) == ("s5", ("src/a.py",), ("make test",))
    assert need.errors == (error.format(22),)


def test_nothing_is_asked_of_the_first_sessions() -> None:
    assert coding_log.needs([session(0, edit("a/b.py")), session(1, edit("a/b.py"))]) == []


def test_a_session_is_turns_with_their_last_message() -> None:
    said = {"k": "assistant", "i": 3, "text": "done"}
    items: list[Any] = session(0, edit("a.py"), said)["items"]
    (turn,) = coding_log.turns({"items": [{"k": "assistant", "i": 9, "text": "hello"}, *items]})
    assert (turn.prompt["text"], turn.closing, len(turn.events)) == ("go on", "done", 1)


def test_times_are_moved_near_in_order_and_proportion() -> None:
    history = [session(0), session(10), session(30)]
    move = coding_log.moved(history, now_ms=10**12)
    times = [move(each["started_at"]) for each in history]
    assert times[-1] == 10**12 - 3_600_000
    assert times[-1] - times[0] == 20 * 86_400_000
    assert (times[1] - times[0]) * 3 == times[2] - times[0]


def test_events_are_told_as_the_hook_is_told_of_them() -> None:
    assert coding_log.as_hook(edit("src/a.py"), "/repo") == {
        "tool_name": "Edit",
        "tool_input": {"file_path": "/repo/src/a.py", "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": "/repo/src/a.py"},
    }
    failed = coding_log.as_hook(shell("make", "no rule", ok=False), "/repo")
    assert failed is not None
    assert failed["tool_response"] == {"error": "no rule"}
    assert coding_log.as_hook({**edit("x"), "path": None}, "/repo") is None
