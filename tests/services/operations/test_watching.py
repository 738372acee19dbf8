"""Watching: each event once and in order, the depth as it changes, bounded, ended at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.kernel.events.live import MAX_PER_KEY
from codexmem.kernel.model.errors import NotReady, RateLimited
from codexmem.kernel.model.event import Event, EventType, NewEvent
from codexmem.kernel.model.job import JobStatus, QueueDepth
from codexmem.kernel.store import depth
from codexmem.kernel.store.database import acting_as
from codexmem.operations.service.watching import DepthMeter, LiveWatcher, LiveWatching, Told
from tests._support.waiting import eventually
from tests.jobs.stores import TENANT, Parts, empty_store

KINDS = ("capture.extract", "capture.summarize")


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store(engine_name, tmp_path, request) as parts:
        yield parts


@pytest.fixture
def watching(parts: Parts) -> Iterator[LiveWatching]:
    made = LiveWatching(parts.live, DepthMeter(parts.db, parts.notifier, KINDS, gap_s=0.05, look_s=0.3))
    yield made
    made.close(wait_s=5)


def say(parts: Parts, subject: str, type: EventType = EventType.SESSION_STATUS) -> None:
    with acting_as(TENANT):
        parts.log.append(NewEvent(type, subject, {"n": subject}))


async def take(watcher: LiveWatcher, count: int, *, depths: bool = False) -> list[Told]:
    """So many events, or depths."""
    seen: list[Told] = []
    while len(seen) < count:
        seen += [each for each in await watcher.next(timeout_s=0.2) if isinstance(each, QueueDepth) is depths]
    return seen


def subjects(told: list[Told]) -> list[str]:
    return [each.subject for each in told if isinstance(each, Event)]


def test_events_once_and_in_order_and_only_those_that_are_meant(parts: Parts, watching: LiveWatching) -> None:
    async def run() -> list[Told]:
        watcher = watching.watch(key="k")
        say(parts, "memory:1", EventType.MEMORY_WRITTEN)
        say(parts, "session:1")
        say(parts, "job:1", EventType.QUEUE_FAILED)
        say(parts, "job:2", EventType.MODEL_RESULT)
        say(parts, "search", EventType.SEARCH_ANSWERED)
        told = await take(watcher, 3)
        say(parts, "session:2")
        told += await take(watcher, 1)
        await watcher.finish()
        return told

    assert subjects(asyncio.run(run())) == ["session:1", "job:1", "job:2", "session:2"]
    assert parts.live.count() == 0


def test_coming_back_goes_on_where_it_was(parts: Parts, watching: LiveWatching) -> None:
    async def run() -> list[str]:
        first = watching.watch(key="k")
        say(parts, "a")
        (seen,) = await take(first, 1)
        assert isinstance(seen, Event)
        await first.finish()
        say(parts, "b")
        say(parts, "c")
        again = watching.watch(key="k", resume=str(seen.seq))
        rest = await take(again, 2)
        await again.finish()
        return subjects(rest)

    assert asyncio.run(run()) == ["b", "c"]


@pytest.mark.slow
def test_the_place_is_never_ahead_of_what_was_given(parts: Parts, watching: LiveWatching) -> None:
    async def run() -> None:
        watcher = watching.watch(key="k")
        begin = watcher.place
        for number in range(300):
            say(parts, str(number))
        await asyncio.sleep(0.3)
        assert watcher.place == begin
        given = await take(watcher, 1)
        last = given[-1]
        assert isinstance(last, Event)
        await asyncio.sleep(0.3)
        assert watcher.place == last.seq
        await watcher.finish()

    asyncio.run(run())


@pytest.mark.slow
def test_the_place_moves_past_the_unwanted(
    parts: Parts, watching: LiveWatching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codexmem.operations.service.watching._READ_S", 0.1)

    async def run() -> None:
        watcher = watching.watch(key="k")
        begin = watcher.place
        say(parts, "memory:1", EventType.MEMORY_WRITTEN)
        while watcher.place == begin:
            assert subjects(await watcher.next(timeout_s=0.2)) == []
        await watcher.finish()

    asyncio.run(run())


def test_the_depth_comes_first_and_then_with_each_change(parts: Parts, watching: LiveWatching) -> None:
    async def run() -> list[Told]:
        parts.put("capture.extract")
        watcher = watching.watch(key="k")
        told = await take(watcher, 1, depths=True)
        parts.put("capture.summarize")
        parts.put("housekeeping.fade")  # always waits for its time, and is nobody's concern here
        told += await take(watcher, 1, depths=True)
        jobs = parts.claim(now_ms=2**50, limit=1)
        told += await take(watcher, 1, depths=True)
        parts.end(jobs[0], JobStatus.FAILED)  # rings for nobody
        told += await take(watcher, 1, depths=True)
        await watcher.finish()
        return told

    assert asyncio.run(run()) == [QueueDepth(1, 0, 0), QueueDepth(2, 0, 0), QueueDepth(1, 1, 0), QueueDepth(1, 0, 1)]


def test_a_burst_of_changes_is_told_as_few(parts: Parts) -> None:
    watching = LiveWatching(parts.live, DepthMeter(parts.db, parts.notifier, KINDS, gap_s=0.5))

    async def run() -> list[Told]:
        watcher = watching.watch(key="k")
        await take(watcher, 1, depths=True)

        def burst() -> None:
            with acting_as(TENANT):
                for _ in range(100):
                    parts.put("capture.extract")

        thread = threading.Thread(target=burst)
        thread.start()
        seen: list[Told] = []
        while QueueDepth(100, 0, 0) not in seen:
            seen += await watcher.next(timeout_s=0.1)
        thread.join()
        await watcher.finish()
        return seen

    assert len(asyncio.run(run())) <= 50
    watching.close(wait_s=5)


def test_counting_stops_somewhere(parts: Parts) -> None:
    for _ in range(5):
        parts.put("capture.extract")
    assert depth.measure(parts.db, KINDS, most=3) == QueueDepth(3, 0, 0)


def test_one_thread_looks_and_only_while_somebody_watches(parts: Parts, watching: LiveWatching) -> None:
    def lookers() -> int:
        return sum(thread.name == "codexmem-queue-depth" for thread in threading.enumerate())

    async def run() -> None:
        watchers = [watching.watch(key="k") for _ in range(4)]
        assert lookers() == 1
        for watcher in watchers:
            await watcher.finish()

    asyncio.run(run())
    eventually(lambda: lookers() == 0)
    asyncio.run(run())
    eventually(lambda: lookers() == 0)


def test_there_are_only_so_many_and_a_place_is_free_again(parts: Parts, watching: LiveWatching) -> None:
    mine = [watching.watch(key="me") for _ in range(MAX_PER_KEY)]
    with pytest.raises(RateLimited, match="this key already has 8"):
        watching.watch(key="me")
    others = [watching.watch(key=f"other-{n}") for n in range(24)]
    with pytest.raises(RateLimited, match="the server already has 32"):
        watching.watch(key="one more")
    for watcher in (*mine, *others):
        watcher.close()
        watcher.close()
    watching.watch(key="me").close()
    assert parts.live.count() == 0


def test_closing_ends_every_stream(parts: Parts, watching: LiveWatching) -> None:
    async def run() -> None:
        watchers = [watching.watch(key=f"k{n}") for n in range(5)]

        waiting = asyncio.Semaphore(0)

        async def follow(watcher: LiveWatcher) -> None:
            await take(watcher, 1, depths=True)
            waiting.release()
            while not watcher.closed:
                await watcher.next(timeout_s=3_600)
            await watcher.finish()

        tasks = [asyncio.create_task(follow(watcher)) for watcher in watchers]
        for _ in watchers:
            await waiting.acquire()
        threading.Thread(target=watching.close).start()
        await asyncio.wait_for(asyncio.gather(*tasks), 60)

    asyncio.run(run())
    with pytest.raises(NotReady):
        watching.watch(key="late")
