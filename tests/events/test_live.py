"""Followers: prompt, bounded, resumable."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.events.live import BATCH, MAX_FOLLOWERS, MAX_PER_KEY, Follower, resume_token
from codexmem.kernel.events.log import Log
from codexmem.kernel.model.errors import InvalidArgument, RateLimited
from codexmem.kernel.model.event import Event, EventType, LogPosition, NewEvent
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.notify import LocalNotifier
from tests.jobs.stores import TENANT, Parts, empty_store

START = LogPosition(0, 0)


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store(engine_name, tmp_path, request) as parts:
        yield parts


def say(parts: Parts, subject: str, type: EventType = EventType.MEMORY_WRITTEN) -> None:
    parts.log.append(NewEvent(type, subject, {}))


def at_first_look(follower: Follower, act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Act in a thread of its own as soon as the follower has looked and is about to wait."""
    read, thread = follower.read, threading.Thread(target=act)

    def looking(**options: Any) -> list[Event]:
        found = read(**options)
        if thread.ident is None:
            thread.start()
        return found

    monkeypatch.setattr(follower, "read", looking)


def test_from_now_on_unless_told_otherwise(parts: Parts) -> None:
    say(parts, "before")
    with parts.live.follow(key="k") as follower:
        assert follower.read() == []
        say(parts, "after")
        assert [event.subject for event in follower.next(timeout_s=5)] == ["after"]


def test_is_woken_by_a_commit_long_before_its_own_look(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def speak() -> None:
        with acting_as(TENANT):
            say(parts, "news")

    with parts.live.follow(key="k", look_s=3_600) as follower:
        at_first_look(follower, speak, monkeypatch)
        assert [event.subject for event in follower.next(timeout_s=3_600)] == ["news"]


def test_finds_by_itself_what_nobody_rang_for(parts: Parts) -> None:
    with parts.live.follow(key="k", look_s=0.1) as follower:
        parts.events.append(NewEvent(EventType.MEMORY_WRITTEN, "quiet", {}), id="evt_1", at_ms=1)
        assert [event.subject for event in follower.next(timeout_s=5)] == ["quiet"]


def test_a_slow_reader_lags_and_misses_nothing(parts: Parts) -> None:
    with parts.live.follow(key="k") as follower:
        with parts.db.transaction():
            for n in range(BATCH * 2 + 10):
                say(parts, str(n))
        sizes, seen = [], []
        while batch := follower.next(timeout_s=0.3, limit=10_000):
            sizes.append(len(batch))
            seen += [event.subject for event in batch]
    assert sizes == [BATCH, BATCH, 10]
    assert seen == [str(n) for n in range(BATCH * 2 + 10)]


def test_only_what_is_wanted_and_yet_it_moves_on(parts: Parts) -> None:
    with parts.db.transaction():
        for n in range(BATCH + 20):
            say(parts, f"memory:{n}")
        say(parts, "job:1", EventType.QUEUE_FAILED)
        say(parts, "job:2")
    with parts.live.follow(key="k", resume=START, types=["queue.failed"]) as follower:
        assert [event.subject for event in follower.next(timeout_s=5)] == ["job:1"]
    with parts.live.follow(key="k", resume=START, subject_prefix="job:") as follower:
        assert [event.subject for event in follower.next(timeout_s=5)] == ["job:1", "job:2"]
        assert follower.next(timeout_s=0.05) == []


def test_comes_back_with_what_it_was_given(parts: Parts) -> None:
    for name in "abcd":
        say(parts, name)
    with parts.live.follow(key="k", resume=START) as follower:
        first, second = follower.read(limit=2)
    for resume in (resume_token(second.place), str(second.seq), second.place):
        with parts.live.follow(key="k", resume=resume) as follower:
            assert [event.subject for event in follower.next(timeout_s=5)] == ["c", "d"]
    assert first.seq < second.seq


@pytest.mark.parametrize("token", ["", "x", "-1", "1.x", "1.2.3", "9" * 40, "１"])
def test_refuses_what_is_no_place(parts: Parts, token: str) -> None:
    with pytest.raises(InvalidArgument):
        parts.live.follow(key="k", resume=token)
    assert parts.live.count() == 0


def test_there_are_only_so_many(parts: Parts) -> None:
    mine = [parts.live.follow(key="me") for _ in range(MAX_PER_KEY)]
    with pytest.raises(RateLimited):
        parts.live.follow(key="me")
    others = [parts.live.follow(key=f"other-{n}") for n in range(MAX_FOLLOWERS - MAX_PER_KEY)]
    with pytest.raises(RateLimited):
        parts.live.follow(key="one more")
    for follower in (*mine, *others):
        follower.close()
        follower.close()
    assert parts.live.count() == 0
    parts.live.follow(key="me").close()


def test_closing_wakes_whoever_waits(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    follower = parts.live.follow(key="k", look_s=3_600)
    at_first_look(follower, follower.close, monkeypatch)
    assert follower.next(timeout_s=3_600) == []


def test_a_task_follows_without_holding_a_thread(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def speak() -> None:
        with acting_as(TENANT):
            say(parts, "a")
            say(parts, "b")

    async def follow() -> list[str]:
        seen: list[str] = []
        with parts.live.follow(key="k", look_s=3_600) as follower:
            assert await follower.next_soon(timeout_s=0.05) == []
            at_first_look(follower, speak, monkeypatch)
            while len(seen) < 2:
                seen += [event.subject for event in await follower.next_soon(timeout_s=3_600)]
        return seen

    assert asyncio.run(follow()) == ["a", "b"]


def test_a_transaction_rings_once_it_is_committed_and_never_otherwise(parts: Parts) -> None:
    rings: list[int] = []
    notifier = LocalNotifier()
    log = Log(parts.db, parts.events, notifier, SystemClock())
    notifier.listen(f"events:{TENANT}", lambda: rings.append(1))
    event = NewEvent(EventType.MEMORY_WRITTEN, "memory:1", {})
    with parts.db.transaction():
        log.append(event)
        assert rings == []
    assert rings == [1]
    with suppress(ZeroDivisionError), parts.db.transaction():
        log.append(event)
        raise ZeroDivisionError
    assert rings == [1]
