"""What the log promises, on both engines: every committed event once, in one order, from any place."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from codexmem.kernel.events.live import resume_token
from codexmem.kernel.model.event import Event, EventType, LogPosition, NewEvent
from codexmem.kernel.store.database import acting_as
from tests.jobs.stores import TENANT, Parts, empty_store

START = LogPosition(0, 0)
WRITTEN, FAILED = EventType.MEMORY_WRITTEN, EventType.QUEUE_FAILED


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store(engine_name, tmp_path, request) as parts:
        yield parts


@pytest.fixture
def postgres(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store("postgresql", tmp_path, request) as parts:
        yield parts


def say(parts: Parts, subject: str, type: EventType = WRITTEN) -> str:
    return parts.log.append(NewEvent(type, subject, {"about": subject}))


def subjects(events: list[Event]) -> list[str]:
    return [event.subject for event in events]


def everything(parts: Parts, place: LogPosition = START) -> list[Event]:
    found: list[Event] = []
    while batch := parts.events.after(found[-1].place if found else place, limit=7):
        found += batch
    return found


class Writer:
    """A transaction of its own thread, moved step by step."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._steps: list[str | None] = []
        self._given = threading.Semaphore(0)
        self._taken = threading.Semaphore(0)
        self._keeps = True
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def write(self, subject: str) -> None:
        self._steps.append(subject)
        self._given.release()
        assert self._taken.acquire(timeout=10)

    def end(self, *, commit: bool = True) -> None:
        self._keeps = commit
        self._steps.append(None)
        self._given.release()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            with acting_as(TENANT), self._parts.db.transaction():
                while True:
                    self._given.acquire()
                    subject = self._steps.pop(0)
                    if subject is None:
                        break
                    say(self._parts, subject)
                    self._taken.release()
                if not self._keeps:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass


def test_an_event_is_there_exactly_if_its_transaction_committed(parts: Parts) -> None:
    say(parts, "a")
    with suppress(ZeroDivisionError), parts.db.transaction():
        say(parts, "lost")
        raise ZeroDivisionError
    with parts.db.transaction():
        say(parts, "b")
        say(parts, "c")
    found = everything(parts)
    assert subjects(found) == ["a", "b", "c"]
    assert [event.payload for event in found] == [{"about": name} for name in "abc"]
    assert len({event.id for event in found}) == 3


def test_reading_goes_on_after_a_place(parts: Parts) -> None:
    for n in range(10):
        say(parts, str(n))
    first = parts.events.after(START, limit=4)
    assert subjects(first) == ["0", "1", "2", "3"]
    assert subjects(parts.events.after(first[-1].place, limit=100)) == ["4", "5", "6", "7", "8", "9"]
    assert parts.events.after(parts.events.end(), limit=10) == []


@pytest.mark.postgresql
class TestOrder:
    """On PostgreSQL, where numbers are drawn before commits happen."""

    def test_what_commits_first_is_held_back_until_its_elders_are_decided(self, postgres: Parts) -> None:
        elder, younger = Writer(postgres), Writer(postgres)
        elder.write("five")
        younger.write("six")
        younger.end()
        assert everything(postgres) == []
        elder.end()
        assert subjects(everything(postgres)) == ["five", "six"]

    def test_numbers_and_commits_crosswise(self, postgres: Parts) -> None:
        a, b = Writer(postgres), Writer(postgres)
        a.write("a1")
        b.write("b1")
        a.write("a2")
        b.write("b2")
        b.end()
        with postgres.live.follow(key="k", resume=START) as follower:
            assert follower.read() == []
            a.end()
            seen = follower.next(timeout_s=5)
            assert subjects(seen) == ["a1", "a2", "b1", "b2"]
            assert [event.seq for event in seen] != sorted(event.seq for event in seen)
            assert follower.read() == []
        # A bare number is enough to come back, though its neighbours have other positions.
        for known, event in enumerate(seen, 1):
            assert everything(postgres, postgres.events.place_of(event.seq)) == seen[known:]
            with postgres.live.follow(key="k", resume=str(event.seq)) as again:
                assert again.read() == seen[known:]

    def test_an_elder_that_rolls_back_holds_nobody_back_for_long(self, postgres: Parts) -> None:
        elder, younger = Writer(postgres), Writer(postgres)
        elder.write("gone")
        younger.write("kept")
        with postgres.live.follow(key="k", look_s=3_600) as follower:
            younger.end()
            assert follower.next(timeout_s=0.1) == []
            elder.end(commit=False)
            assert subjects(follower.next(timeout_s=3_600)) == ["kept"]

    def test_coming_back_after_pruning_skips_nothing_that_is_stored(self, postgres: Parts) -> None:
        a, b = Writer(postgres), Writer(postgres)
        a.write("a1")
        b.write("b1")
        a.write("a2")
        a.end()
        b.end()
        say(postgres, "later")
        seen = everything(postgres)
        assert subjects(seen) == ["a1", "a2", "b1", "later"]
        last = seen[2]
        with postgres.db.transaction() as tx:
            tx.connection.exec_driver_sql(f"DELETE FROM events WHERE seq = {last.seq}")
        # The exact place is gone with its row: what was written beside it comes again, what came later is not skipped.
        assert subjects(everything(postgres, postgres.events.place_of(last.seq))) == ["a2", "later"]
        # With the whole token nothing comes again.
        with postgres.live.follow(key="k", resume=resume_token(last.place)) as follower:
            assert subjects(follower.read()) == ["later"]

    def test_a_pruned_place_waits_for_undecided_transactions(self, postgres: Parts) -> None:
        say(postgres, "seen")
        (seen,) = everything(postgres)
        with postgres.db.transaction() as tx:
            tx.connection.exec_driver_sql("DELETE FROM events")
        elder, younger = Writer(postgres), Writer(postgres)
        elder.write("elder")
        younger.write("younger")
        younger.end()
        place = postgres.events.place_of(seen.seq)
        elder.end()
        assert subjects(everything(postgres, place)) == ["elder", "younger"]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
def test_eight_writers_and_every_reader_sees_each_committed_event_once(parts: Parts, seed: int) -> None:
    writers, rounds = 8, 25
    committed: list[str] = []
    lock, done = threading.Lock(), threading.Event()

    def write(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        with acting_as(TENANT):
            for turn in range(rounds):
                names = [f"{number}:{turn}:{n}" for n in range(chance.randrange(1, 4))]
                try:
                    with parts.db.transaction():
                        for name in names:
                            say(parts, name)
                            done.wait(chance.random() * 0.003)
                        if chance.random() < 0.3:
                            raise ZeroDivisionError
                except ZeroDivisionError:
                    continue
                with lock:
                    committed.extend(names)

    seen: list[Event] = []

    def read() -> None:
        with acting_as(TENANT), parts.live.follow(key="k", resume=START) as follower:
            chance = random.Random(seed)
            while not (done.is_set() and len(seen) >= len(committed)):
                seen.extend(follower.next(timeout_s=0.2, limit=chance.randrange(1, 40)))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    reader = threading.Thread(target=read)
    with ExitStack() as stack:
        for thread in (*threads, reader):
            thread.start()
            stack.callback(thread.join, 30)
        for thread in threads:
            thread.join()
        done.set()
        reader.join(20)
    assert not reader.is_alive()
    assert sorted(subjects(seen)) == sorted(committed)
    assert everything(parts) == seen  # the order never changes
    chance = random.Random(seed)
    for _ in range(20):  # and a bare number finds the way back
        known = chance.randrange(len(seen))
        assert everything(parts, parts.events.place_of(seen[known].seq)) == seen[known + 1 :]


def test_a_pruned_number_on_sqlite_is_an_exact_place(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with empty_store("sqlite", tmp_path, request) as parts:
        for n in range(6):
            say(parts, str(n), FAILED if n in {2, 3} else WRITTEN)
        seen = everything(parts)
        parts.events.prune(FAILED.value, before_ms=2**50, limit=10)
        assert subjects(everything(parts, parts.events.place_of(seen[2].seq))) == ["4", "5"]
        assert subjects(everything(parts, parts.events.place_of(0))) == ["0", "1", "4", "5"]


def test_a_number_that_was_never_given_means_the_end(parts: Parts) -> None:
    say(parts, "a")
    place = parts.events.place_of(10**9)
    assert everything(parts, place) == []
    say(parts, "b")
    assert subjects(everything(parts, place)) == ["b"]


def test_a_token_from_another_history_means_the_end(parts: Parts) -> None:
    say(parts, "a")
    with parts.live.follow(key="k", resume=f"{10**9}.{10**15}") as follower:
        assert follower.read() == []
        say(parts, "b")
        assert subjects(follower.next(timeout_s=5)) == ["b"]


def test_traces_reports_and_pruning(parts: Parts) -> None:
    history = ((100, "m:1", WRITTEN), (250, "m:2", WRITTEN), (299, "m:1", FAILED), (900, "m:1", WRITTEN))
    for at_ms, subject, kind in history:
        parts.events.append(NewEvent(kind, subject, {}), id=f"evt_{at_ms}", at_ms=at_ms)
    ids = [event.id for event in parts.events.of_subject("m:1", after_seq=0, limit=10)]
    assert ids == ["evt_100", "evt_299", "evt_900"]
    assert [e.id for e in parts.events.of_subject("m:1", after_seq=0, limit=9, types=[WRITTEN])] == [
        "evt_100",
        "evt_900",
    ]
    assert [e.id for e in parts.events.of_type(WRITTEN, from_ms=0, to_ms=900, limit=10)] == ["evt_250", "evt_100"]
    assert parts.events.buckets(WRITTEN, from_ms=0, to_ms=1_000, width_ms=200) == [(0, 1), (200, 1), (800, 1)]
    assert parts.events.counts([WRITTEN, FAILED], from_ms=0, to_ms=900) == {WRITTEN: 2, FAILED: 1}
    assert parts.events.prune(WRITTEN, before_ms=900, limit=1) == 1
    assert [e.id for e in everything(parts)] == ["evt_250", "evt_299", "evt_900"]
    parts.events.scrub(["m:1"])
    assert [(e.subject, e.payload) for e in everything(parts)] == [("m:2", {}), ("m:1", None), ("m:1", None)]


@pytest.mark.postgresql
def test_tenants_do_not_hear_each_other(postgres: Parts) -> None:
    with postgres.live.follow(key="k") as follower:
        with acting_as("other"):
            say(postgres, "theirs")
        say(postgres, "ours")
        assert subjects(follower.next(timeout_s=5)) == ["ours"]
        assert subjects(everything(postgres)) == ["ours"]
