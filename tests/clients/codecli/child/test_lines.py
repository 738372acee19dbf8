"""Protocols of lines: cut anywhere, of any length, in both directions at once, led by the person's program or by us."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.codecli.agents.protocol import AgentMessage, Happening, Launch, LineEffects, TurnEnded
from codexmem.codecli.child import signals
from codexmem.codecli.child.lines import DialogueRelay, Splitter
from codexmem.codecli.child.process import Between, ProcessPlan
from codexmem.codecli.child.pump import Outbox
from codexmem.codecli.child.spawning import Connected, Wants

pytestmark = pytest.mark.process

ENVIRON = {"PATH": "/usr/bin:/bin"}


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 60), max_size=40))
def test_lines_are_the_same_however_bytes_are_cut(parts: list[bytes], cuts: list[int]) -> None:
    whole = b"\n".join(parts)
    splitter, found, place = Splitter(), [], 0
    for cut in [*cuts, len(whole) + 1]:
        found += list(splitter.feed(whole[place : place + cut]))
        place += cut
    rest = splitter.rest()
    assert b"".join(line for line, _ in found) + rest == whole
    assert b"\n" not in rest
    assert all(is_line and line.endswith(b"\n") and line.count(b"\n") == 1 for line, is_line in found)


@given(st.lists(st.binary(min_size=1, max_size=30), max_size=12))
def test_what_is_too_long_passes_in_pieces_and_the_next_line_is_a_line_again(pieces: list[bytes]) -> None:
    splitter = Splitter(10)
    found = [each for piece in pieces for each in splitter.feed(piece)]
    assert b"".join(part for part, _ in found) + splitter.rest() == b"".join(pieces)
    assert all(len(part) <= 10 for part, is_line in found if is_line)
    # After the end of one that was too long, lines are lines again.
    assert list(splitter.feed(b"\nok\n"))[-1] == (b"ok\n", True)


@dataclass
class Shouting:
    """A dialogue that changes what passes, so that it can be seen that everything went through it."""

    opened: list[str | None] = field(default_factory=list)

    def open(self, prompt: str | None) -> LineEffects:
        self.opened.append(prompt)
        return LineEffects(to_agent=(f"{prompt}\n".encode(),)) if prompt is not None else LineEffects()

    def from_person(self, line: bytes) -> LineEffects:
        if line == b"break\n":
            raise RuntimeError("broken")
        return LineEffects(to_agent=(line.upper(),))

    def from_agent(self, line: bytes) -> LineEffects:
        text = line.decode("utf-8", "replace")
        done = text.startswith("BYE") or "bye" in text
        happenings: tuple[Happening, ...] = (AgentMessage(text), TurnEnded(ok=True)) if done else (AgentMessage(text),)
        return LineEffects(to_person=(b"> " + line,), happenings=happenings, done=done)


def led(
    agent: str, given: bytes | None, prompt: str | None = None, leaving_s: float | None = None
) -> tuple[bytes, list[Happening], list[str], int]:
    """A conversation with an agent in Python, through real pipes; without input we lead."""
    told: list[Happening] = []
    notes: list[str] = []
    shown: list[bytes] = []
    near, far = os.pipe()
    saved = os.dup(0)
    os.dup2(near, 0)
    os.close(near)
    writing = threading.Thread(target=_write, args=(far, given)) if given is not None else None
    if writing is not None:
        writing.start()
    try:
        route = DialogueRelay(Shouting(), prompt, told.append, notes.append)
        wants = Wants(stdin=True, stderr=False, protocol=True)
        plan = ProcessPlan(
            Launch((sys.executable, "-S", "-c", agent), ENVIRON, ""), wants=wants, route=route, leaving_s=leaving_s,
            connected=Connected((False, False, False)), show=lambda _, piece: shown.append(piece),
        )  # fmt: skip
        code = Between(plan).run().number
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        if writing is not None:
            writing.join()
        else:
            os.close(far)
    return b"".join(shown), told, notes, code


def _write(far: int, given: bytes) -> None:
    signals.none_here()
    with os.fdopen(far, "wb") as file, contextlib.suppress(BrokenPipeError):
        file.write(given)


ECHO = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


def test_a_persons_program_speaks_through_us() -> None:
    shown, told, notes, code = led(ECHO, b"one\n\xff\xfe\ntwo")
    assert (shown, code, notes) == (b"> ONE\n> \xff\xfe\n> TWO", 0, [])
    assert next(each.text for each in told if isinstance(each, AgentMessage)) == "ONE\n"


def test_a_line_that_the_adapter_cannot_bear_passes_as_it_is() -> None:
    shown, _, notes, code = led(ECHO, b"a\nbreak\nb\n")
    assert (shown, code) == (b"> A\n> break\n> B\n", 0)
    assert len(notes) == 1
    assert "broken" in notes[0]


def test_we_lead_and_the_agent_leaves_when_it_is_over() -> None:
    shown, told, _, code = led(ECHO, None, "say bye")
    assert (shown, code) == (b"> say bye\n", 0)
    assert TurnEnded(ok=True) in told


def test_an_agent_that_stays_is_seen_off_with_all_it_started() -> None:
    stays = f"import subprocess, time\nsubprocess.Popen(['sleep', '600'])\n{ECHO}\ntime.sleep(600)"
    _, _, _, code = led(stays, None, "say bye", leaving_s=0.2)
    assert code == -15


def test_neither_side_waits_for_the_other_for_ever() -> None:
    # An agent that first writes more than any pipe holds and only then reads, while as much is sent to it.
    slow = ("import sys\nfor n in range(60_000):\n    sys.stdout.write('x' * 60 + '\\n')\nsys.stdout.flush()\n"
            "sys.stdout.write(str(len(sys.stdin.read())))")  # fmt: skip
    given_lines = b"y" * 79 + b"\n"
    shown, _, _, code = led(slow, given_lines * 60_000)
    assert code == 0
    assert shown.endswith(f"> {80 * 60_000}".encode())


def test_what_waits_is_written_in_order_before_the_end() -> None:
    got: list[bytes] = []
    ended: list[int] = []
    outbox = Outbox(got.append, lambda: ended.append(len(got)))
    for n in range(100):
        outbox.put(b"%d" % n)
    outbox.start()
    outbox.finish()
    outbox.join(5)
    assert got == [b"%d" % n for n in range(100)]
    assert ended == [100]


def test_json_of_any_size_is_one_line() -> None:
    big = json.dumps({"text": "中" * 2_000_000}).encode() + b"\n"
    shown, _, _, code = led(ECHO, big)
    assert (len(shown), code) == (len(big) + 2, 0)


@pytest.fixture(autouse=True)
def _quiet(capfd: pytest.CaptureFixture[str]) -> None:
    """Descriptors, not Python's idea of them: we write to the real ones."""
