"""Reports are bounded and whole; retention follows the catalogue in bounded steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.kernel.events.log import STEP, Retention
from codexmem.kernel.events.report import EventBucket, EventReport
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import RETENTION_MS, EventType, NewEvent
from tests.jobs.stores import Parts, empty_store

WRITTEN = EventType.MEMORY_WRITTEN


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    with empty_store(engine_name, tmp_path, request) as parts:
        yield parts


class At:
    """A clock that stands still."""

    def __init__(self, ms: int) -> None:
        self._ms = ms

    def now_ms(self) -> int:
        return self._ms


def put(parts: Parts, at_ms: int, type: EventType = WRITTEN, count: int = 1) -> None:
    with parts.db.transaction():
        for n in range(count):
            parts.events.append(NewEvent(type, "m:1", {}), id=f"evt_{type}_{at_ms}_{n}", at_ms=at_ms)


def test_buckets_show_the_empty_ones_too(parts: Parts) -> None:
    put(parts, 150)
    put(parts, 399, count=2)
    put(parts, 400)
    report = EventReport(parts.events)
    assert report.buckets(WRITTEN, from_ms=100, to_ms=400, width_ms=100) == [
        EventBucket(100, 1),
        EventBucket(200, 0),
        EventBucket(300, 2),
    ]
    counts = report.counts(from_ms=0, to_ms=1_000)
    assert counts == {each: 4 if each is WRITTEN else 0 for each in EventType}
    assert [event.at_ms for event in report.newest(WRITTEN, limit=2)] == [400, 399]
    assert len(report.trace("m:1")) == 4


@pytest.mark.parametrize("from_ms, to_ms, width_ms", [(0, 0, 10), (10, 0, 10), (0, 10, 0), (0, 10**9, 1)])
def test_a_report_is_bounded(parts: Parts, from_ms: int, to_ms: int, width_ms: int) -> None:
    with pytest.raises(InvalidArgument):
        EventReport(parts.events).buckets(WRITTEN, from_ms=from_ms, to_ms=to_ms, width_ms=width_ms)


def test_every_type_is_kept_as_the_catalogue_says(parts: Parts) -> None:
    assert set(RETENTION_MS) == set(EventType)
    now = 10**12
    for each in EventType:
        kept = RETENTION_MS[each] or 10**11
        put(parts, now - kept - 1, each)
        put(parts, now - kept, each)
    assert Retention(parts.events, At(now)).prune() == sum(kept is not None for kept in RETENTION_MS.values())
    counts = EventReport(parts.events).counts(from_ms=0, to_ms=now)
    assert counts == {each: 1 if RETENTION_MS[each] is not None else 2 for each in EventType}


def test_pruning_goes_in_steps_and_stops_when_told(parts: Parts) -> None:
    put(parts, 1, count=2 * STEP + 5)
    retention = Retention(parts.events, At(10**12), {WRITTEN: 1_000})
    assert retention.prune(steps=1) == STEP
    assert retention.prune() == STEP + 5
    assert retention.prune() == 0
