"""Contract 001 §5: tool calls in JSON lines and server-sent events, of any usual shape, by pipe and at a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.codecli.agents.test_tool_calls import ODD, SHAPES
from tests.contracts.codecli.wrapped import ON_SQLITE, QUESTION, Wrapped

pytestmark = ON_SQLITE

# Prints the lines of a file as they are, then waits for an answer on its standard input and keeps it.
ASKS = """
    import sys
    from pathlib import Path
    sys.stdout.buffer.write(Path("script").read_bytes())
    sys.stdout.buffer.flush()
    with Path("received").open("a") as file:
        for _ in range(int(Path("answers").read_text())):
            file.write(sys.stdin.readline())
    print(flush=True)
"""
AUDITED = ("--memory-on", "--audit", "auto")


def numbered(shape: list[Any], number: int) -> list[Any]:
    """The shape with a command and ids of its own."""
    text = json.dumps(shape).replace("rm -rf /", f"rm -rf /{number}").replace('"-rf", "/"]', f'"-rf", "/{number}"]')
    for key in (
        '"id": "1"',
        '"call_id": "1"',
        '"toolCallId": "1"',
        '"tool_id": "1"',
        '"callID": "1"',
        '"id": "item_1"',
    ):
        text = text.replace(key, key[:-2] + f'{number}-1"')
    made: list[Any] = json.loads(text)
    return made


def script(folder: Path, form: str) -> list[str]:
    """A stream with every shape in it; returns the commands that it asks for."""
    commands = []
    stream = b""
    for number, name in enumerate(name for name in SHAPES if name != "list on a line"):
        for value in numbered(SHAPES[name], number):
            line = json.dumps(value).encode()
            stream += line + b"\n" if form == "jsonl" else b"data: " + line + b"\n\n"
        # One that came in pieces, letter by letter, cannot be numbered.
        commands.append("rm -rf /" if name == "OpenAI stream" else f"rm -rf /{number}")
    (folder / "script").write_bytes(stream)
    (folder / "answers").write_text(str(len(commands)))
    return commands


def denied(wrapped: Wrapped) -> list[str]:
    rows = [row for row in wrapped.audited() if row["kind"] == "request"]
    assert all(row["decision"] == "deny" and row["reason"] for row in rows)
    return [row["arguments"]["command"] for row in rows]


@pytest.mark.clause("001 §5.1", "generic JSON lines and SSE: each usual shape of a tool call is decided and recorded")
@pytest.mark.clause("001 §5.2", "the refusal reaches an agent that waits for an answer on its standard input")
@pytest.mark.parametrize("form", ["jsonl", "sse"])
@pytest.mark.parametrize("way", ["pipe", "terminal"])
def test_every_shape_is_decided_recorded_and_answered(form: str, way: str, wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.more = {"MEM_CODECLI_AUDIT_UNTOLD": "note"}
    wrapped.agent(ASKS)
    wrapped.options = (*AUDITED, "--stream-format", form)
    commands = script(wrapped.work, form)
    if way == "pipe":
        with wrapped.started(QUESTION) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            shown, noted = running.stdout.read(), running.stderr.read()
            assert running.stdin is not None
            running.stdin.close()
            assert running.wait(30) == 0, noted
        assert shown == (wrapped.work / "script").read_bytes() + b"\n"  # passed on to the byte
    else:
        with wrapped.screen(QUESTION) as screen:
            assert screen.wait() == 0
    assert sorted(denied(wrapped)) == sorted(commands)
    answers = [json.loads(line) for line in wrapped.received.splitlines()]
    assert len(answers) == len(commands)
    assert all(answer["is_error"] and "refused" in answer["content"] for answer in answers)


@pytest.mark.clause(
    "001 §5.1", "what looks like a tool call and is not understood is a warning and a row, never silence"
)
def test_what_is_not_understood_is_told_and_recorded(wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent(ASKS)
    wrapped.options = (*AUDITED, "--stream-format", "jsonl")
    (wrapped.work / "script").write_bytes(b"\n".join(ODD.values()) + b"\n")
    (wrapped.work / "answers").write_text("0")
    wrapped.more = {"MEM_CODECLI_AUDIT_UNTOLD": "note"}
    done = wrapped.pipe(b"", QUESTION)
    rows = [row for row in wrapped.audited() if row["kind"] == "request"]
    assert [(row["tool"], row["decision"], row["from_text"]) for row in rows] == [("unknown", "deny", True)] * len(ODD)
    assert done.stderr.decode().count("could not be read") == len(ODD)


@pytest.mark.clause("001 §5.2", "a refusal that cannot reach the agent is told to the person")
def test_a_refusal_that_reaches_nobody_is_told(wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent('import time; time.sleep(1); print(\'{"tool": "shell", "arguments": {"command": "rm x"}}\')')
    wrapped.options = (*AUDITED, "--stream-format", "jsonl")
    wrapped.more = {"MEM_CODECLI_AUDIT_UNTOLD": "note"}
    done = wrapped.pipe(b"", QUESTION)
    assert "could not be told why" in done.stderr.decode()
    assert denied(wrapped) == ["rm x"]
