"""The line under the agent's output: there while nothing happens, gone without a trace in what a person can copy."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.codecli.status_line import Strip, clipped
from tests._support.waiting import eventually
from tests._support.wrapping import BETWEEN, Place, screen

_TOKEN = re.compile(rb"\x1b\[([0-9;?]*)([A-Za-z])|(\n|\r)|([^\x1b\n\r]+)", re.DOTALL)


class Paper:
    """As much of a terminal as the line uses, with a scrollback: what a person sees and can copy."""

    def __init__(self, rows: int = 5, columns: int = 40) -> None:
        self.rows, self.columns = rows, columns
        self.lines = [""]
        self.top = self.row = self.column = 0

    def feed(self, piece: bytes) -> None:
        for arguments, final, control, text in _TOKEN.findall(piece):
            if control == b"\n":
                self.row += 1
                while self.row >= len(self.lines):
                    self.lines.append("")
                self.top = max(self.top, self.row - self.rows + 1)
            elif control == b"\r":
                self.column = 0
            elif text:
                said = text.decode()
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[: self.column] + said + line[self.column + len(said) :]
                self.column += len(said)
            elif final == b"A":
                self.row = max(self.top, self.row - int(arguments or 1))
            elif final == b"B":
                self.row = min(self.top + self.rows - 1, len(self.lines) - 1, self.row + int(arguments or 1))
            elif final == b"K":
                self.lines[self.row] = "" if arguments == b"2" else self.lines[self.row][: self.column]
            else:
                assert final == b"m", (arguments, final)


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 40, 0, 0))
    yield master, slave
    os.close(master)
    os.close(slave)


def read(master: int, quiet_s: float = 0.0) -> bytes:
    """What is written until nothing more comes for so long."""
    said = b""
    while select.select([master], [], [], quiet_s)[0]:
        said += os.read(master, 65536)
    return said


def appears(master: int, paper: Paper, text: str) -> None:
    """Wait until the last line has it: the line comes when nothing has been written for a while."""

    def shown() -> bool:
        paper.feed(read(master))
        return text in paper.lines[-1]

    eventually(shown)


def test_the_line_comes_and_goes_and_leaves_what_the_agent_wrote(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    paper, strip = Paper(), Strip(slave, lambda: False)
    strip.tell("memory 3 | 记忆")
    strip.start()
    for n in range(12):
        strip.write(slave, f"line {n}\n".encode())
        paper.feed(read(master))
        if n % 4 == 3:
            appears(master, paper, "memory 3")
            assert paper.row == len(paper.lines) - 2
    strip.close()
    paper.feed(read(master, 0.2))
    assert [line for line in paper.lines if line.strip()] == [f"line {n}" for n in range(12)]
    assert "memory" not in "".join(paper.lines)
    assert paper.column == 0


@pytest.mark.parametrize(
    "said",
    [b"prompt> ", b"50 %\r", b"\x1b[3A\n", b"\x1b[?1049h\n", b"\x1b7\n", b"\x1b[1;20r\n"],
)
def test_the_line_stays_away_where_it_would_be_in_the_way(terminal: tuple[int, int], said: bytes) -> None:
    master, slave = terminal
    strip = Strip(slave, lambda: False)
    strip.tell("memory")
    strip.start()
    for octet in said[:-1]:  # a sequence may come in pieces
        strip.write(slave, bytes([octet]))
    strip.write(slave, said[-1:])
    assert b"memory" not in read(master, 0.35)
    strip.close()


def test_it_stays_away_from_an_agent_that_draws_its_own_screen(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    strip = Strip(slave, lambda: True)
    strip.tell("memory")
    strip.start()
    strip.write(slave, b"x\n")
    assert read(master, 0.5) == b"x\r\n"
    strip.close()


def test_text_fits_into_its_cells() -> None:
    assert clipped("记忆abc", 5) == "记忆a"
    assert clipped("a\x1b[2Jb\n", 10) == "a[2Jb"
    assert clipped("", 10) == ""


@pytest.mark.clause(
    "001 §3.2.4", "--tui shows a line under the output (--stream is gone); on the terminal nothing of it stays"
)
def test_a_run_with_the_line(tmp_path: Path) -> None:
    place = Place(tmp_path, {"TEST_STRIP": "1"})
    place.shell("for n in 1 2 3; do echo line $n; sleep 0.45; done")
    with screen(place, BETWEEN, rows=6, columns=60) as shown:
        assert shown.wait() == 0
    assert b"mem-codecli project | memory off" in shown.seen
    paper = Paper(6, 60)
    paper.feed(shown.seen)
    assert [line for line in paper.lines if line.strip()] == ["line 1", "line 2", "line 3"]
