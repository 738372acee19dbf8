"""Every search leaves a trace, behind the answer: written together, bounded, and never the searcher's concern."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from codexmem.kernel.events.log import Log
from codexmem.kernel.model import ranking
from codexmem.kernel.model.errors import InvalidArgument, StorageFull, Unavailable
from codexmem.kernel.model.event import NewEvent
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery, Unit
from codexmem.kernel.services import recall
from codexmem.kernel.services.recall import SearchTraces
from codexmem.kernel.store.database import Database, acting_as
from tests._support.searching import Searched, searched
from tests._support.toy_embedder import ToyEmbedder
from tests._support.waiting import eventually

SEARCH = SearchQuery("needle", Filter(frozenset({Kind.NOTE})))
ANSWER = SearchAnswer((), SearchMode.LEXICAL, {}, {})


@pytest.fixture
def store(database: Database) -> Iterator[Searched]:
    with searched(database) as made:
        yield made


class Scripted:
    """A log that does as it is told."""

    def __init__(self, log: Log | None = None) -> None:
        self.log = log
        self.fails: Exception | None = None
        self.open = threading.Event()
        self.open.set()
        self.appended: list[NewEvent] = []

    def append(self, event: NewEvent) -> str:
        self.open.wait(10.0)
        if self.fails is not None:
            raise self.fails
        self.appended.append(event)
        return self.log.append(event) if self.log is not None else ""


def test_a_search_leaves_a_trace(store: Searched) -> None:
    made = store.write("a needle", project="app")
    answer = store.search("needle", project="app", kinds=frozenset({Kind.NOTE, Kind.QA}))
    (event,) = store.traces()
    assert (event.type, event.subject, event.project) == ("search.answered", "search", "app")
    assert event.payload is not None
    (why,) = ranking.read(event.payload.pop("ranked"))
    assert (why.seq, why.by_sum, why.words[0], why.meaning) == (made.seq, 1, 1, None)
    assert why.shares["words"] > 0.0
    assert event.payload == {
        "query": "needle",
        "kinds": ["note", "qa"],
        "recipe": "default",
        "unit": "memory",
        "mode": "lexical-only",
        "sources": {"lexical": 1, "neighbours": 0},
        "timings_ms": answer.timings_ms,
        "results": 1,
        "top": [[made.seq, round(answer.results[0].score, 4)]],
        "notes": ["no embedder is configured: words only"],
    }


def test_a_trace_says_how_it_was_found_and_why_if_that_was_asked(database: Database) -> None:
    with searched(database, embedder=ToyEmbedder()) as store:
        made = store.write("a needle")
        store.real.catch_up()
        answer = store.search("needle", explain=True, unit=Unit.SESSION)
        then = store.now()
        store.search("needle", as_of_ms=then)
        past, present = store.traces()
        assert present.payload is not None
        assert (present.payload["mode"], present.payload["unit"]) == ("hybrid", "session")
        assert present.payload["sources"][database.engine.name] == 1
        assert present.payload["why"] == {str(made.seq): answer.results[0].signals}
        assert past.payload is not None
        assert (past.payload["as_of_ms"], past.payload["mode"]) == (then, "lexical-only")
        assert "why" not in past.payload


def test_a_trace_tells_why_each_result_stands_there(database: Database) -> None:
    with searched(database, embedder=ToyEmbedder()) as store:
        near = store.write("端口是 37877，服务器在这里监听")
        far = store.write("端口 可以在设置里更改")
        store.write("完全不相干的一句话")
        store.real.catch_up()
        answer = store.search("服务器 端口 监听", explain=True)
        (event,) = store.traces()
        assert event.payload is not None
        told = {each.seq: each for each in ranking.read(event.payload["ranked"])}
        assert list(told) == [found.memory.seq for found in answer.results]
        assert (told[near.seq].words[0], told[far.seq].words[0]) == (1, 2)
        assert told[near.seq].words[1] > told[far.seq].words[1] > 0.0
        for found in answer.results:
            why = told[found.memory.seq]
            assert {name: why.shares.get(name, 0.0) for name in found.signals} == pytest.approx(
                found.signals, abs=0.001
            )
            assert why.meaning is not None
            assert why.meaning[1] == pytest.approx(found.meaning, abs=0.001)
        by_sum = sorted(told.values(), key=lambda each: each.by_sum)
        assert [each.sum for each in by_sum] == sorted((each.sum for each in by_sum), reverse=True)


def test_pages_say_from_where_they_count(store: Searched) -> None:
    for number in range(6):
        store.write(f"needle {number} {'pin ' * number}")
    store.search("needle", limit=2, offset=4)
    (event,) = store.traces()
    assert event.payload is not None
    assert (event.payload["offset"], len(event.payload["ranked"]["rows"])) == (4, 2)


def test_a_trace_holds_no_text_of_what_it_found(store: Searched) -> None:
    store.write("needle hidden-words", title="hidden-title")
    store.search("needle", explain=True)
    (event,) = store.traces()
    assert "hidden" not in str(event.payload)


def test_a_trace_is_written_soon_without_anybody_asking(store: Searched) -> None:
    store.search("needle")
    eventually(lambda: store.real.events.of_type("search.answered", from_ms=0, to_ms=2**62, limit=1))


def test_a_trace_is_bounded_and_holds_any_text(store: Searched) -> None:
    for number in range(30):
        store.write(f"a needle {number}")
    for query in ("needle \ud800\0", "needle " * 10_000):
        assert len(store.search(query, limit=30, explain=True).results) == 30
    long, odd = store.traces()
    assert long.payload is not None
    assert odd.payload is not None
    assert odd.payload["query"] == "needle ?\0"
    assert len(long.payload["query"]) == 1_000
    assert (long.payload["results"], len(long.payload["top"]), len(long.payload["why"])) == (30, 20, 20)


def test_a_search_that_is_refused_leaves_none(store: Searched) -> None:
    with pytest.raises(InvalidArgument):
        store.search("needle", recipe="soup")
    assert store.traces() == []


def test_traces_belong_to_the_tenant_who_searched(postgres_database: Database) -> None:
    with searched(postgres_database) as store:
        for tenant in ("trace-alice", "trace-bob"):
            with acting_as(tenant):
                store.search(f"needle of {tenant}")
        for tenant in ("trace-alice", "trace-bob"):
            with acting_as(tenant):
                (event,) = store.traces()
                assert event.payload is not None
                assert event.payload["query"] == f"needle of {tenant}"


@pytest.mark.parametrize("error", [Unavailable("no database"), StorageFull("no space"), RuntimeError("a bug")])
def test_a_log_that_fails_is_not_the_searchers_concern(
    store: Searched, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    traces = store.real.traces
    log = Scripted(traces._log)
    log.fails = error
    monkeypatch.setattr(traces, "_log", log)
    made = store.write("a needle")
    with caplog.at_level(logging.WARNING):
        assert store.found("needle") == [made.seq]
        assert store.traces() == []
    assert traces.dropped == 1
    assert "traces of 1 searches could not be written" in caplog.text
    log.fails = None
    store.search("needle again")
    (event,) = store.traces()
    assert event.payload is not None
    assert event.payload["query"] == "needle again"


def test_closing_with_a_log_that_fails_raises_nothing(database: Database) -> None:
    log = Scripted()
    log.fails = Unavailable("no database")
    traces = SearchTraces(database, cast(Log, log))
    traces.leave(SEARCH, ANSWER)
    traces.close()
    assert traces.dropped == 1


def test_what_does_not_fit_is_counted_and_nobody_waits(sqlite_database: Database) -> None:
    log = Scripted()
    log.open.clear()
    traces = SearchTraces(sqlite_database, cast(Log, log))
    for _ in range(recall._KEPT + 500):
        traces.leave(SEARCH, ANSWER)
    assert 500 - recall._TOGETHER <= traces.dropped <= 500
    log.open.set()
    traces.close()
    assert len(log.appended) + traces.dropped == recall._KEPT + 500


def test_after_a_flush_every_trace_that_was_left_before_is_there(store: Searched) -> None:
    # The thread may have taken one and not yet written it: the flush waits for that.
    for number in range(1, 31):
        store.search(f"needle {number}")
        if number % 3 == 0:
            eventually(lambda: not store.real.traces._waiting)
        assert len(store.traces()) == number


def test_closing_writes_what_waits(database: Database) -> None:
    log = Scripted()
    traces = SearchTraces(database, cast(Log, log))
    for _ in range(250):
        traces.leave(SEARCH, ANSWER)
    traces.close()
    assert (len(log.appended), traces.dropped) == (250, 0)


def test_many_searchers_leave_one_trace_each(store: Searched, database: Database, tenant: str) -> None:
    store.write("a needle")
    failures: list[BaseException] = []

    def search(name: str) -> None:
        try:
            with acting_as(tenant):
                for number in range(10):
                    store.search(f"needle {name} {number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search, args=(f"thread{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    queries: list[Any] = [event.payload and event.payload["query"] for event in store.traces()]
    assert len(queries) == len(set(queries)) == 40
