"""The log of the server in the background."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from types import GeneratorType

import pytest

from codexmem.client import background
from codexmem.client.starting import ServerLocation
from tests.jobs.stores import wait_until


@pytest.mark.parametrize("count,shown", [(0, ""), (2, "8\n9\n"), (100, "".join(f"{n}\n" for n in range(10)))])
def test_the_end_of_a_log(count: int, shown: str, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    assert background.last_lines(log, count) == ""
    log.write_text("".join(f"{n}\n" for n in range(10)))
    assert background.last_lines(log, count) == shown


def test_of_a_long_log_only_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("x" * 99 + "\n" + "y\n" * 200_000 + "last\n")
    assert background.last_lines(log, 2) == "y\nlast\n"
    assert len(background.last_lines(log, 100_000)) == 2 * 99_999 + 5


def test_a_log_is_followed_also_when_it_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    said: list[str] = []
    log.write_text("old\n")
    lines = background.following(log)
    assert isinstance(lines, GeneratorType)
    thread = threading.Thread(target=lambda: said.extend(itertools.islice(lines, 2)), daemon=True)
    thread.start()
    wait_until(lambda: lines.gi_frame is not None and "at" in lines.gi_frame.f_locals)  # it knows where the log ends
    with log.open("a") as more:
        more.write("new\n")
    wait_until(lambda: lines.gi_frame is not None and lines.gi_frame.f_locals["at"] == len("old\nnew\n"))
    log.write_text("a\n")
    thread.join(10)
    assert said == ["new\n", "a\n"]


def test_nobody_is_there_without_an_announcement(tmp_path: Path) -> None:
    assert background.look(ServerLocation(tmp_path, 9)) is None
    (tmp_path / "server.json").write_text('{"url": "http://127.0.0.1:9", "pid": 1}')
    assert background.look(ServerLocation(tmp_path, 9)) is None
