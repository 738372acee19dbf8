"""Events that wait: on the disk when added, in order, delivered once, put aside or dropped only with a word."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codexmem.hook import spool as spooling
from codexmem.hook.spool import Spool, drain
from codexmem.kernel.model import spooled
from tests.clients.hook.conftest import SOURCES

if TYPE_CHECKING:
    from codexmem.hook.spool import Outcome


def always() -> bool:
    return True


class Server:
    """Takes events, unless it is told otherwise."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.outcomes: dict[bytes, Outcome] = {}

    def send(self, path: str, body: bytes) -> Outcome:
        assert path == "/api/x"
        outcome = self.outcomes.get(body, "taken")
        if outcome == "taken":
            self.taken.append(body)
        return outcome


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(str(tmp_path / "data"))


@pytest.fixture
def server() -> Server:
    return Server()


def fill(spool: Spool, count: int) -> list[bytes]:
    bodies = [f"事件 {number}".encode() for number in range(count)]
    for body in bodies:
        spool.add("/api/x", body)
    return bodies


def test_an_event_is_a_private_file(spool: Spool) -> None:
    name = spool.add("/api/x", b'{"a":1}')
    path = Path(spool.root) / name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert spool.read(name) == ("/api/x", b'{"a":1}')
    assert [each.name for each in path.parent.iterdir()] == [name]
    assert spooled.size_in(name) == path.stat().st_size


def test_an_event_is_synced_before_it_has_its_name(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, rename = os.fsync, os.rename

    def noted_fsync(file: int) -> None:
        steps.append("fsync")
        fsync(file)

    def noted_rename(old: str, new: str) -> None:
        steps.append("rename")
        rename(old, new)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "rename", noted_rename)
    spool.add("/api/x", b"1")
    steps.clear()
    spool.add("/api/x", b"2")
    assert steps == ["fsync", "rename", "fsync"]


def test_a_disk_that_is_full_leaves_nothing_behind(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    spool.add("/api/x", b"1")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        spool.add("/api/x", b"2")
    assert len(list(Path(spool.root).iterdir())) == 1


def test_events_are_delivered_in_order_and_once(spool: Spool, server: Server) -> None:
    bodies = fill(spool, 50)
    assert drain(spool, server.send, always)
    assert server.taken == bodies
    assert spool.is_empty()
    assert drain(spool, server.send, always)
    assert server.taken == bodies


def test_a_server_that_goes_away_is_left_alone(spool: Spool, server: Server) -> None:
    bodies = fill(spool, 5)
    server.outcomes[bodies[2]] = "away"
    assert not drain(spool, server.send, always)
    assert server.taken == bodies[:2]
    server.outcomes.clear()
    assert drain(spool, server.send, always)
    assert server.taken == bodies


def test_time_runs_out(spool: Spool, server: Server) -> None:
    bodies = fill(spool, 5)
    assert not drain(spool, server.send, lambda: len(server.taken) < 3)
    assert server.taken == bodies[:3]
    assert len(spool.names()) == 2


def test_what_is_refused_is_put_aside(spool: Spool, server: Server) -> None:
    bodies = fill(spool, 3)
    server.outcomes[bodies[1]] = "refused"
    assert drain(spool, server.send, always)
    assert server.taken == [bodies[0], bodies[2]]
    (aside,) = (Path(spool.root) / "rejected").iterdir()
    assert spooled.parsed(aside.read_bytes()) == ("/api/x", bodies[1])


def test_what_is_put_aside_is_bounded(spool: Spool, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooling, "REJECTED_MOST", 3)
    for body in fill(spool, 5):
        server.outcomes[body] = "refused"
    assert drain(spool, server.send, always)
    assert len(list((Path(spool.root) / "rejected").iterdir())) == 3
    assert (Path(spool.root) / "overflow.log").read_text().count(" rejected 1 events") == 2


def test_a_file_that_is_no_event_is_put_aside(spool: Spool, server: Server) -> None:
    bodies = fill(spool, 2)
    (Path(spool.root) / spool.names()[0]).write_bytes(b"garbage")
    assert drain(spool, server.send, always)
    assert server.taken == bodies[1:]
    assert len(list((Path(spool.root) / "rejected").iterdir())) == 1


def test_one_event_that_the_server_fails_on_does_not_hold_up_the_others(spool: Spool, server: Server) -> None:
    poison, *others = fill(spool, 3)
    server.outcomes[poison] = "failed"
    assert not drain(spool, server.send, always)
    assert server.taken == others
    for number in range(spooling.FAILURES_MOST - 1):
        assert spool.names(), "kept until the server has failed on it often enough"
        more = f"more {number}".encode()
        spool.add("/api/x", more)
        drain(spool, server.send, always)
        assert server.taken[-1] == more
    assert spool.is_empty()
    assert len(list((Path(spool.root) / "rejected").iterdir())) == 1


def test_a_server_that_fails_on_everything_costs_no_event(spool: Spool, server: Server) -> None:
    bodies = fill(spool, 20)
    server.outcomes = dict.fromkeys(bodies, "failed")
    for _ in range(30):
        assert not drain(spool, server.send, always)
    server.outcomes.clear()
    assert drain(spool, server.send, always)
    assert server.taken == bodies


@pytest.mark.parametrize("status", [429, 502, 503])
def test_an_answer_that_is_not_about_the_event_keeps_all_in_order(status: int, spool: Spool, server: Server) -> None:
    bodies = fill(spool, 2)
    server.outcomes[bodies[0]] = spooling.outcome_of(status)
    for _ in range(spooling.FAILURES_MOST + 1):
        assert not drain(spool, server.send, always)
    assert server.taken == []
    server.outcomes.clear()
    assert drain(spool, server.send, always)
    assert server.taken == bodies


def test_one_process_delivers_at_a_time(spool: Spool, server: Server) -> None:
    bodies = fill(spool, 2)
    lock = spool.take_lock()
    assert lock is not None
    assert spool.take_lock() is None
    assert not drain(spool, server.send, always)
    os.close(lock)
    assert drain(spool, server.send, always)
    assert server.taken == bodies


def test_an_event_that_comes_while_another_delivers_is_seen(spool: Spool, server: Server) -> None:
    first, late = fill(spool, 1)[0], b"late"

    def send(path: str, body: bytes) -> Outcome:
        if body == first:
            spool.add("/api/x", late)
        return server.send(path, body)

    assert drain(spool, send, always)
    assert server.taken == [first, late]


def test_what_a_dead_process_left_is_finished_or_removed(spool: Spool, server: Server) -> None:
    root = Path(spool.root)
    root.mkdir(parents=True)
    whole = spooled.content_of("/api/x", b"whole")
    young = spooled.name_of(time.time_ns(), 1, 1, 99)
    for name, content in ((spooled.name_of(1, 1, 1, len(whole)), whole), (spooled.name_of(2, 1, 1, 99), b"half")):
        (root / f".{name}{spooled.UNFINISHED}").write_bytes(content)
    (root / f".{young}{spooled.UNFINISHED}").write_bytes(b"being writ")
    assert drain(spool, server.send, always)
    assert server.taken == [b"whole"]
    assert [path.name for path in root.iterdir() if path.name != "lock"] == [f".{young}{spooled.UNFINISHED}"]


def test_a_full_spool_drops_its_oldest_and_says_so(tmp_path: Path, server: Server) -> None:
    spool = Spool(str(tmp_path), limit=10_000)
    bodies = [f"{number:03d}".encode() + b"x" * 497 for number in range(30)]
    for body in bodies:
        spool.add("/api/x", body)
    dropped = spool.lost() or spool.make_room()
    spool.make_room()
    assert 0 < dropped <= spool.lost()
    assert sum(map(spooled.size_in, spool.names())) <= 10_000
    assert drain(spool, server.send, always)
    assert server.taken == bodies[spool.lost() :]
    assert "dropped" in (tmp_path / "spool" / "overflow.log").read_text()


def test_names_sort_in_order_whatever_the_numbers() -> None:
    times, processes, counters = (1, 10**18, 2 * 10**18), (7, 70_000), (1, 20)
    names = [spooled.name_of(at, pid, n, 5) for at in times for pid in processes for n in counters]
    assert names == sorted(names)
    again = spooled.after_failure(names[3])
    assert sorted([*names[:3], again, *names[4:]]) == [*names[:3], again, *names[4:]]
    assert (spooled.failures_in(again), spooled.size_in(again)) == (1, 5)


@pytest.mark.parametrize(
    "content", [b"", b"x", b"codexmem-event 1 /a", b"codexmem-event 2 /a\n{}", b"codexmem-event 1 a\nb"]
)
def test_what_is_no_event(content: bytes) -> None:
    assert spooled.parsed(content) is None


_WRITER = """
import sys
from codexmem.hook.spool import Spool
spool = Spool(sys.argv[1])
for number in range(40):
    spool.add("/api/x", f"{sys.argv[2]} {number}".encode())
"""


def test_many_processes_write_at_once(spool: Spool, server: Server, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "data")]
    writers = [subprocess.Popen([*command, str(n)], env={"PYTHONPATH": str(SOURCES)}) for n in range(4)]
    assert [writer.wait(30) for writer in writers] == [0] * 4
    assert drain(spool, server.send, always)
    assert len(server.taken) == len(set(server.taken)) == 160
    for writer in range(4):
        own = [body for body in server.taken if body.startswith(b"%d " % writer)]
        assert own == [b"%d %d" % (writer, number) for number in range(40)]
