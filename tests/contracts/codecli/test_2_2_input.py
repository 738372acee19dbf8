"""Contract 001 §2.2: what a person asks by standard input gets the memory before it, and only that is reported."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.contracts.codecli.wrapped import ON_SQLITE, QUESTION, READS_ALL, READS_LINES, Wrapped

pytestmark = ON_SQLITE

STDIN = pytest.mark.clause("001 §2.2", "a prompt on standard input is augmented like one in the arguments")
REPORT = pytest.mark.clause("001 §4.3", "shown is told of what reached the agent, and of nothing else")


@STDIN
@REPORT
@pytest.mark.parametrize("arguments", [["exec", "-"], [], ["chat", "--plain"]])
def test_memory_goes_before_a_prompt_from_a_pipe(arguments: list[str], wrapped: Wrapped) -> None:
    qa_id = wrapped.knows()
    wrapped.agent(READS_ALL)
    done = wrapped.pipe(f"{QUESTION}\n".encode(), *arguments)
    assert json.loads(done.stdout) == arguments  # no word of the command line was touched
    assert wrapped.received.startswith("<codexmem-context>\n")
    assert f"[QA_REF {qa_id}]" in wrapped.received
    assert wrapped.received.endswith(f"</codexmem-context>\n\n{QUESTION}\n")
    assert wrapped.shown() == 1


@STDIN
def test_a_file_is_a_prompt_too(wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent(READS_ALL)
    (wrapped.work / "prompt.txt").write_text(f"{QUESTION}\nSay it in three lines.\n")
    with (wrapped.work / "prompt.txt").open("rb") as file:
        subprocess.run(wrapped.command("exec"), env=wrapped.environ, cwd=wrapped.work, stdin=file, timeout=90,
                       check=True, capture_output=True)  # fmt: skip
    assert wrapped.received.endswith(f"</codexmem-context>\n\n{QUESTION}\nSay it in three lines.\n")


@STDIN
@REPORT
def test_a_program_that_speaks_late_and_line_by_line(wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent(READS_LINES)
    with wrapped.started("chat") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.read(2) == b"> "  # the agent runs before anything was asked
        for said in ("y", QUESTION, "and then?"):
            running.stdin.write(f"{said}\n".encode())
            assert running.stdout.readline() == b"answered 2\n"
            assert running.stdout.read(2) == b"> "
        running.stdin.close()
        assert running.wait(30) == 0
    first, asked, then = wrapped.received.splitlines()  # a line stays a line
    assert (first, then) == ("y", "and then?")
    assert asked.startswith("<codexmem-context> ")
    assert asked.endswith(f"</codexmem-context> {QUESTION}")
    assert wrapped.shown() == 1


@STDIN
@REPORT
@pytest.mark.parametrize("way", ["pasted", "typed", "typed while the machine was busy"])
def test_memory_goes_before_a_prompt_that_is_typed(way: str, wrapped: Wrapped) -> None:
    qa_id = wrapped.knows()
    wrapped.agent(READS_LINES)
    with wrapped.screen("chat") as screen:
        screen.until(b"> ")
        keys = "How do we destroy\x7f\x7f\x7f\x7f\x7fploy the shop?x\x7f\r"
        if way == "typed":
            shown = "> "
            for key in keys:
                screen.type(key.encode())
                shown += {"\x7f": "\b \b", "\r": "\r\n"}.get(key, key)
                screen.until(shown.encode())
        else:
            screen.type((f"{QUESTION}\r" if way == "pasted" else keys).encode())
        screen.until(b"answered 2\r\n> ")
        screen.type(b"and then?\r")
        screen.until(b"answered 2\r\n> and then?\r\nanswered 2")
        screen.type(b"bye\r")
        assert screen.wait() == 0
    asked, then = wrapped.received.splitlines()
    assert asked.startswith("<codexmem-context> ")
    assert f"[QA_REF {qa_id}]" in asked
    assert asked.endswith(f"</codexmem-context> {QUESTION}")
    assert then == "and then?"
    assert b"codexmem-context" not in screen.seen  # what the person sees is what the person typed
    assert b"shop?" in screen.seen
    assert wrapped.shown() == 1


@REPORT
def test_what_is_never_read_was_never_shown(wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent("print('I do not read')")
    done = wrapped.pipe(f"{QUESTION}\n".encode(), "status")
    assert "did not read" in done.stderr.decode()
    assert wrapped.shown() == 0
    with wrapped.screen("status") as screen:
        screen.type(f"{QUESTION}\r".encode())
        assert screen.wait() == 0
    assert wrapped.shown() == 0


@REPORT
@pytest.mark.parametrize("given", [b"", b"sk-one-word-only\n"], ids=["nothing", "one word"])
def test_without_a_prompt_nothing_is_asked_or_reported(given: bytes, wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent(READS_ALL)
    done = wrapped.pipe(given, "exec")
    assert "no prompt was found" in done.stderr.decode()
    assert wrapped.received == given.decode()
    assert wrapped.shown() == 0


@STDIN
@pytest.mark.parametrize("given", [
    b"\x7fELF\x00\x01 a program with words in it",
    "grüße aus köln, wie geht es".encode("latin-1"),
    b'{"type": "user", "text": "How do we deploy the shop?"}\n{"type": "user", "text": "again"}\n',
    b'[\n  {"role": "user", "content": "How do we deploy the shop?"}\n]\n',
], ids=["binary", "no UTF-8", "JSON lines", "JSON document"])  # fmt: skip
def test_what_is_no_prompt_passes_to_the_byte(given: bytes, wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent(READS_ALL)
    done = wrapped.pipe(given, "exec")
    assert (wrapped.work / "received").read_bytes() == given
    assert "memory was not put before it" in done.stderr.decode()
    assert wrapped.shown() == 0


@STDIN
def test_a_prompt_of_any_length_keeps_every_byte(wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent(READS_ALL)
    given = (
        f"{QUESTION}\n".encode() + "————————————————————————————————————————\n".encode() * 20_000
    )  # more than any buffer holds
    wrapped.pipe(given, "exec")
    got = (wrapped.work / "received").read_bytes()
    assert got.startswith(b"<codexmem-context>\n")
    assert got.endswith(b"</codexmem-context>\n\n" + given)
    assert wrapped.shown() == 1


def test_a_closed_standard_input_is_no_harm(wrapped: Wrapped) -> None:
    wrapped.knows()
    wrapped.agent("print('done')")
    command = " ".join(f"'{word}'" for word in wrapped.command("exec"))
    done = subprocess.run(["/bin/sh", "-c", f"{command} <&-"], env=wrapped.environ, cwd=wrapped.work,
                          capture_output=True, timeout=90, check=True)  # fmt: skip
    assert done.stdout == b"done\n"
    assert wrapped.shown() == 0


def test_what_a_terminal_does_not_show_is_not_looked_at(wrapped: Wrapped) -> None:
    """A passphrase is no prompt, and neither are the keys of an agent that draws its own screen."""
    wrapped.knows()
    wrapped.options = ("--memory-on", "--trace-json", "trace.jsonl")
    wrapped.agent("""
        import sys, termios, tty
        from pathlib import Path
        before = termios.tcgetattr(0)
        hidden = list(before)
        hidden[3] &= ~termios.ECHO
        termios.tcsetattr(0, termios.TCSANOW, hidden)
        print("passphrase: ", end="", flush=True)
        secret = sys.stdin.readline()
        tty.setraw(0)
        print("draws", end="", flush=True)
        keys = b""
        while not keys.endswith(b"\\r"):
            keys += sys.stdin.buffer.raw.read(1)
        termios.tcsetattr(0, termios.TCSANOW, before)
        Path("received").write_bytes(secret.encode() + keys)
    """)
    with wrapped.screen("login") as screen:
        screen.until(b"passphrase: ")
        screen.type(b"correct horse battery\r")
        screen.until(b"draws")
        screen.type(b"How do we deploy the shop?\r")
        assert screen.wait() == 0
    assert wrapped.received == "correct horse battery\nHow do we deploy the shop?\r"
    assert wrapped.trace("memory.search") == []
    assert b"no prompt was found" in screen.seen
    assert wrapped.shown() == 0
