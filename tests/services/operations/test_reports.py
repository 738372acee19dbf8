"""Reports: filters, bounds, honesty about both."""

from __future__ import annotations

import pytest

from codexmem.kernel.events import review
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.search import SearchMode
from codexmem.kernel.store.database import Database
from codexmem.operations.service import reports as reports_module
from codexmem.operations.service.reports import FailureFilter, Reports, TimingFilter, TraceFilter, Trends, Within
from tests.services.operations.logbook import KINDS, Logbook


@pytest.fixture
def log(database: Database) -> Logbook:
    return Logbook(database)


@pytest.fixture
def reports(log: Logbook) -> Reports:
    return Reports(log.review, KINDS)


def queries(reports: Reports, wanted: TraceFilter, **options: int) -> list[str]:
    return [row.query for row in reports.search_traces(wanted, **options).rows]


def test_searches_newest_first_by_every_filter(log: Logbook, reports: Reports) -> None:
    log.search("端口是多少", project="商店")
    log.search("Why did LOGIN fail", mode="lexical-only")
    log.clock.advance(1000)
    border = log.clock.now_ms()
    log.search("login again")
    assert queries(reports, TraceFilter()) == ["login again", "Why did LOGIN fail", "端口是多少"]
    assert queries(reports, TraceFilter(query="login")) == ["login again", "Why did LOGIN fail"]
    assert queries(reports, TraceFilter(query="端口")) == ["端口是多少"]
    assert queries(reports, TraceFilter(project="商店")) == ["端口是多少"]
    assert queries(reports, TraceFilter(mode=SearchMode.LEXICAL)) == ["Why did LOGIN fail"]
    assert queries(reports, TraceFilter(Within(from_ms=border))) == ["login again"]
    assert queries(reports, TraceFilter(Within(to_ms=border))) == ["Why did LOGIN fail", "端口是多少"]
    assert queries(reports, TraceFilter(), limit=1) == ["login again"]


def test_both_ends_of_a_time_count(log: Logbook, reports: Reports) -> None:
    log.search("at that moment")
    at = reports.search_traces(TraceFilter()).rows[0].at_ms
    assert queries(reports, TraceFilter(Within(at, at))) == ["at that moment"]
    assert queries(reports, TraceFilter(Within(at + 1))) == []
    assert queries(reports, TraceFilter(Within(to_ms=at - 1))) == []
    with pytest.raises(InvalidArgument, match="from is later than to"):
        Within(2, 1)


def test_a_trace_says_where_vectors_came_from(log: Logbook, reports: Reports) -> None:
    log.search("x", sources={"lexical": 4, "neighbours": 2, "chroma": 7})
    log.search("y", sources={"lexical": 4, "past": 1})
    past, found = reports.search_traces(TraceFilter()).rows
    assert (found.vectors, found.total_ms, found.results) == ({"chroma": 7}, 10.0, 2)
    assert past.vectors == {}


def test_look_ups_of_ours_are_listed_only_when_asked_for(log: Logbook, reports: Reports) -> None:
    log.search("by a person", took_ms=10.0)
    log.clock.advance(1000)
    log.search("by a page", type=EventType.SEARCH_LOOKED_UP, took_ms=500.0)
    assert queries(reports, TraceFilter()) == ["by a person"]
    assert [row.query for row in reports.export_search_traces(TraceFilter())] == ["by a person"]
    both = reports.search_traces(TraceFilter(lookups=True)).rows
    assert [row.query for row in both] == ["by a page", "by a person"]
    assert reports.explained_search(both[0].seq).trace.query == "by a page"
    trend = Trends(log.review, log.clock).lately(window_s=60, bucket_s=60)
    assert (trend.buckets[-1].searches, trend.buckets[-1].search_ms) == (1, 10.0)


def test_many_events_in_one_millisecond_are_each_given_once(log: Logbook, reports: Reports,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(log.clock, "now_ms", lambda: 1_800_000_000_000)
    with log.db.transaction():
        for number in range(30):
            log.search(str(number))
    monkeypatch.setattr(review, "PAGE", 7)
    assert queries(reports, TraceFilter(), limit=30) == [str(number) for number in reversed(range(30))]


def test_what_was_not_looked_at_is_admitted(log: Logbook, reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    with log.db.transaction():
        for number in range(20):
            log.search(f"old {number}")
            log.failure("rate_limit")
        for number in range(20):
            log.search(f"new {number}")
            log.failure("transient")
    monkeypatch.setattr(review, "PAGE", 4)
    monkeypatch.setattr(reports_module, "MOST_LOOKED_AT", 10)
    looked = log.review.newest(
        review.Sought(EventType.SEARCH_ANSWERED, Within().span()), lambda event: "old" in str(event.payload), limit=5,
        most=10,
    )  # fmt: skip
    assert (looked.events, looked.scanned, looked.truncated) == ((), 10, True)
    enough = reports.search_traces(TraceFilter(query="new"), limit=5)
    assert (len(enough.rows), enough.scanned, enough.truncated) == (5, 5, False)
    summary = reports.failures(FailureFilter())
    assert (summary.classes, summary.recent.scanned, summary.recent.truncated) == ({"transient": 10}, 10, True)


def test_timings_by_session_type_and_success(log: Logbook, reports: Reports) -> None:
    log.timing(1, total_ms=100)
    log.timing(2, "summarize", total_ms=200)
    log.timing(12, success=False)
    log.timing(1, "summarize", success=False, total_ms=300)

    def totals(**filters: object) -> list[tuple[int | None, float]]:
        found = reports.session_timings(TimingFilter(**filters))  # type: ignore[arg-type]
        return [(row.session, row.total_ms) for row in found.rows]

    assert totals() == [(1, 300), (12, 100), (2, 200), (1, 100)]
    assert totals(session=1) == [(1, 300), (1, 100)]
    assert totals(session=1, success=True) == [(1, 100)]
    assert totals(message_type="summarize") == [(1, 300), (2, 200)]
    assert totals(session=99) == []
    row = reports.session_timings(TimingFilter(session=2)).rows[0]
    assert (row.queue_wait_ms, row.model_ms, row.index_ms, row.events) == (10, 50.5, 4.5, 3)


def test_one_session_is_found_without_reading_the_others(log: Logbook, reports: Reports) -> None:
    with log.db.transaction():
        for number in range(200):
            log.timing(number + 10)
        log.timing(3)
    found = reports.session_timings(TimingFilter(session=3))
    assert (len(found.rows), found.scanned) == (1, 1)


def test_failures_by_class_with_the_newest(log: Logbook, reports: Reports) -> None:
    log.failure("timeout", kind="index.catch_up", session=None, error="索引超时")
    log.failure("rate_limit", session=4)
    log.failure("rate_limit", kind="capture.summarize", session=5)
    summary = reports.failures(FailureFilter(), limit=2)
    assert (summary.total, summary.classes) == (3, {"rate_limit": 2, "timeout": 1})
    assert [(row.session, row.message_type) for row in summary.recent.rows] == [(5, "summarize"), (4, "observation")]
    only = reports.failures(FailureFilter(error_class="timeout")).recent.rows
    assert [(row.kind, row.session, row.message_type, row.error) for row in only] == [
        ("index.catch_up", None, None, "索引超时")
    ]
    assert reports.failures(FailureFilter(session=4)).classes == {"rate_limit": 1}
    assert reports.failures(FailureFilter(message_type="summarize")).total == 1


def test_what_was_forgotten_is_left_out(log: Logbook, reports: Reports) -> None:
    log.timing(1)
    log.timing(2)
    log.log.scrub(["session:1"])
    assert [row.session for row in reports.session_timings(TimingFilter()).rows] == [2]


def test_a_payload_of_another_shape_is_no_error(log: Logbook, reports: Reports) -> None:
    for payload in ({}, {"query": 5, "sources": [1], "timings_ms": {"total": "x"}, "notes": "n", "results": None}):
        log.log.append(NewEvent(EventType.SEARCH_ANSWERED, "search", payload))
    rows = reports.search_traces(TraceFilter()).rows
    assert [(row.query, row.sources, row.total_ms, row.notes, row.results) for row in rows] == [("", {}, 0, (), 0)] * 2


def test_an_export_reads_on_page_by_page(log: Logbook, reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    with log.db.transaction():
        for number in range(25):
            log.search(str(number), project="shop" if number % 2 else "other")
    monkeypatch.setattr(review, "PAGE", 4)
    rows = reports.export_search_traces(TraceFilter(project="shop"))
    assert [row.query for row in rows] == [str(number) for number in reversed(range(1, 25, 2))]
    assert len(list(reports.export_search_traces(TraceFilter(), limit=3))) == 3


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_lists_are_bounded(reports: Reports, limit: int) -> None:
    for ask in (
        lambda: reports.search_traces(TraceFilter(), limit=limit),
        lambda: reports.session_timings(TimingFilter(), limit=limit),
        lambda: reports.failures(FailureFilter(), limit=limit),
    ):
        with pytest.raises(InvalidArgument):
            ask()
