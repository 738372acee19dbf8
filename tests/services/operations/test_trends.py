"""Trends: every event in its bucket, averages from what took time, and a bound on what is summed."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.store.database import Database
from codexmem.operations.service.reports import Trends
from tests.services.operations.logbook import Logbook


@pytest.fixture
def log(database: Database) -> Logbook:
    return Logbook(database)


@pytest.fixture
def trends(log: Logbook) -> Trends:
    return Trends(log.review, log.clock)


def test_counts_and_averages_by_bucket(log: Logbook, trends: Trends) -> None:
    log.search(took_ms=10)
    log.search(took_ms=20.5)
    log.timing(total_ms=100)
    log.clock.advance(30_000)
    log.search(took_ms=1)
    log.failure()
    log.failure()
    trend = trends.lately(window_s=60, bucket_s=20)
    assert len(trend.buckets) == 3
    assert trend.to_ms - trend.from_ms == 60_000
    told = [(b.searches, b.search_ms, b.extractions, b.extraction_ms, b.failures) for b in trend.buckets]
    assert told == [(0, None, 0, None, 0), (2, 15.25, 1, 100.0, 0), (1, 1.0, 0, None, 2)]
    assert [bucket.from_ms - trend.from_ms for bucket in trend.buckets] == [0, 20_000, 40_000]
    assert not trend.truncated


def test_what_is_older_than_the_window_does_not_count(log: Logbook, trends: Trends) -> None:
    log.search()
    log.clock.advance(60_001)
    assert sum(bucket.searches for bucket in trends.lately(window_s=60).buckets) == 0
    assert sum(bucket.searches for bucket in trends.lately(window_s=61).buckets) == 1


def test_a_window_may_end_earlier_than_now(log: Logbook, trends: Trends) -> None:
    log.search()
    then = log.clock.now_ms()
    log.clock.advance(3 * 86_400_000)
    log.search()
    trend = trends.lately(window_s=60, bucket_s=60, until_ms=then)
    assert (trend.to_ms, [bucket.searches for bucket in trend.buckets]) == (then + 1, [1])
    before = trends.lately(window_s=60, bucket_s=60, until_ms=then - 1_000)
    assert [bucket.searches for bucket in before.buckets] == [0]
    assert trends.lately(window_s=60, until_ms=0).from_ms >= 0


def test_the_widest_window_and_the_finest_buckets_go_together(log: Logbook, trends: Trends) -> None:
    log.search()
    trend = trends.lately(window_s=86_400, bucket_s=10)
    assert len(trend.buckets) == 8_640
    assert trend.buckets[-1].searches == 1
    assert len(trends.lately(window_s=60, bucket_s=3_600).buckets) == 1


def test_an_event_that_says_no_duration_is_counted_and_not_averaged(log: Logbook, trends: Trends) -> None:
    log.failure()
    last = trends.lately(window_s=60, bucket_s=60).buckets[-1]
    assert (last.failures, last.search_ms) == (1, None)


def test_too_many_events_leave_out_the_oldest_and_say_so(log: Logbook, trends: Trends) -> None:
    with log.db.transaction():
        for _ in range(5):
            log.search()
    log.clock.advance(30_000)
    with log.db.transaction():
        for _ in range(5):
            log.search()
    trend = trends.lately(window_s=60, bucket_s=20, most=7)
    assert [bucket.searches for bucket in trend.buckets] == [0, 2, 5]
    assert trend.truncated


@pytest.mark.parametrize("asked", [{"window_s": 59}, {"window_s": 86_401}, {"bucket_s": 9}, {"bucket_s": 3_601}])
def test_out_of_range_is_refused(trends: Trends, asked: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument, match="must be between"):
        trends.lately(**asked)
