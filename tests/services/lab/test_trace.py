"""The trace of a run: in order, whoever writes; a page costs its own length, whatever the filter."""

from __future__ import annotations

import re
import threading
from typing import Any

import psycopg
import pytest

from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType, LogPosition, NewEvent
from codexmem.kernel.store.database import acting_as
from codexmem.lab.service import trace as module
from codexmem.lab.store import trace as lab_trace
from tests._support import statements
from tests._support.lab import LabBench, StepAgent
from tests._support.waiting import eventually
from tests.jobs.stores import TENANT, Parts
from tests.services.lab.conftest import Build


class Skewed:
    """A clock that somebody sets back."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def now_ms(self) -> int:
        return self.now


def test_a_trace_never_goes_back_in_time(build: Build) -> None:
    clock = Skewed()
    lab = build(StepAgent(), clock=clock)
    _, (run,) = lab.order()
    for now in (2_000_000, 1_500_000, 1_999_999, 2_000_001):
        clock.now = now
        lab.lab.trace.append(run.id, (EventType.RECAP_INFO, {"now": now}))
    events = lab.trace(run)
    assert [event.at_ms for event in events] == [2_000_000, 2_000_000, 2_000_000, 2_000_001]
    assert [event.payload for event in events] == [{"now": n} for n in (2_000_000, 1_500_000, 1_999_999, 2_000_001)]


def test_a_reader_who_follows_misses_nothing(build: Build) -> None:
    """Four writers at once, and a reader who asks for what comes after the last event that it saw."""
    lab = build(StepAgent())
    _, (run,) = lab.order()

    def write(number: int) -> None:
        with acting_as(TENANT):
            for each in range(25):
                lab.lab.trace.append(run.id, (EventType.KB_GET, {"writer": number, "n": each}))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    seen: list[Any] = []
    after = None
    while True:
        done = not any(thread.is_alive() for thread in threads)
        page = lab.lab.trace.page(run.id, after=after, limit=9, payloads=True)
        seen += page.items
        if page.items:
            last = page.items[-1]
            after = module.Moment(last.at_ms, last.seq)
        elif done:
            break
    assert len(seen) == 100
    assert [event.id for event in seen] == [event.id for event in lab.trace(run)]
    for number in range(4):
        assert [e.payload["n"] for e in seen if e.payload["writer"] == number] == list(range(25))


def test_types_times_and_places_together(build: Build) -> None:
    clock = Skewed()
    lab = build(StepAgent(), clock=clock)
    _, (run,) = lab.order()
    kinds = (EventType.KB_QUERY, EventType.LLM_REQUEST, EventType.MEM_GET)
    for n in range(60):
        clock.now = 1_000_000 + n // 4
        lab.lab.trace.append(run.id, (kinds[n % 3], {"n": n}))

    def read(**wanted: Any) -> list[int]:
        found, after = [], None
        while True:
            page = lab.lab.trace.page(run.id, after=after, limit=4, payloads=True, **wanted)
            found += [event.payload["n"] for event in page.items if event.payload]
            after = page.after
            if after is None:
                return found

    everything = list(range(60))
    assert read() == everything
    two = [n for n in everything if n % 3 != 1]
    assert read(types=(kinds[0], kinds[2], kinds[0])) == two
    assert read(types=(kinds[0], kinds[2]), since_ms=1_000_005, until_ms=1_000_009) == [
        n for n in two if 5 <= n // 4 <= 9
    ]
    assert read(since_ms=1_000_014) == [56, 57, 58, 59]
    assert read(until_ms=999_999) == []


def test_a_page_with_payloads_is_bounded(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PAGE_CHARS", 1_000)
    lab = build(StepAgent())
    _, (run,) = lab.order()
    for size in (300, 300, 300, 300, 5_000, 10, 10):
        lab.lab.trace.append(run.id, (EventType.LLM_RESPONSE, {"content": "字" * size}))
    sizes, after = [], None
    while True:
        page = lab.lab.trace.page(run.id, after=after, limit=50, payloads=True)
        sizes.append([len(event.payload["content"]) for event in page.items if event.payload])
        after = page.after
        if after is None:
            break
    assert sizes == [[300, 300, 300], [300], [5_000], [10, 10]]
    assert len(lab.lab.trace.page(run.id, limit=50).items) == 7


def test_a_long_text_is_cut_and_says_so(build: Build) -> None:
    lab = build(StepAgent())
    _, (run,) = lab.order()
    lab.lab.trace.append(run.id, (EventType.LLM_RESPONSE, {"deep": [{"content": "字" * (module.MAX_TEXT + 7)}]}))
    (event,) = lab.trace(run)
    assert event.payload is not None
    assert event.payload["deep"][0]["content"].endswith("字… [7 characters more]")


def test_who_follows_the_log_is_not_sent_whole_conversations(build: Build) -> None:
    lab = build(StepAgent())
    _, (run,) = lab.order()
    lab.lab.trace.append(run.id, (EventType.LLM_REQUEST, {"messages": ["长" * 1_000]}))
    lab.log.append(NewEvent(EventType.SESSION_STATUS, "session:1", {"told": True}))
    eventually(lambda: len(lab.events.after(LogPosition(0, 0), limit=10)) == 2)
    traced, other = lab.events.after(LogPosition(0, 0), limit=10)
    assert (traced.subject, traced.type, traced.payload) == (run.subject, "llm_request", None)
    assert other.payload == {"told": True}


def test_only_what_belongs_there_is_traced(build: Build) -> None:
    lab = build(StepAgent())
    _, (run,) = lab.order()
    with pytest.raises(InvalidArgument):
        lab.lab.trace.append(run.id, (EventType.KEY_CREATED, {}))
    with pytest.raises(NotFound):
        lab.lab.trace.append("run_unknown", (EventType.KB_GET, {}))
    assert lab.trace(run) == []


def plan(lab: LabBench, statement: Any, **values: Any) -> str:
    """How the engine reads it, as the store asks it."""
    explain = "EXPLAIN QUERY PLAN" if lab.db.engine.name == "sqlite" else "EXPLAIN (ANALYZE, BUFFERS)"
    with lab.db.reading() as tx:
        return " ".join(str(row) for row in statements.explain(tx, explain, statement, **values))


@pytest.mark.slow
def test_pages_read_the_index_of_their_order(build: Build, parts: Parts) -> None:
    lab = build(StepAgent())
    _, runs = lab.order(3)
    with lab.db.transaction():
        for run in runs:
            for n in range(2_000):
                kind = EventType.KB_GET if n % 50 == 0 else EventType.RECAP_INFO
                lab.lab.trace.write([run.id], [(kind, {"n": n})], at_ms=1_000_000 + n)
    if lab.db.engine.name == "postgresql":
        with psycopg.connect(parts.url, autocommit=True) as connection:
            connection.execute("ANALYZE events")
    # From the middle of the trace, by a place and by a time: neither may read what comes before. Near its end so little
    # is left that either index would do, and the planner may take the other one.
    page = {"subject": runs[1].subject, "to_ms": 2**62, "limit": 51}
    place = {**page, **lab_trace._start(0, module.Moment(1_001_000, 1))}
    since = {**page, **lab_trace._start(1_001_000, module.Moment(1_000_000, 1))}
    (event_id,) = lab.lab.trace.append(runs[1].id, (EventType.KB_LIST, {}))
    for statement, index, values in (
        (lab_trace._all, "events_run_time", place),
        (lab_trace._all, "events_run_time", since),
        (lab_trace._of_type, "events_run_type", {**place, "type": "kb_get"}),
        (lab_trace._of_type, "events_run_type", {**since, "type": "recap_info"}),
        (lab_trace._one, "events_run_id", {"subject": runs[1].subject, "id": event_id}),
    ):
        how = plan(lab, statement, **values)
        if lab.db.engine.name == "sqlite":
            assert index in how, how
        assert "Sort" not in how
        assert "TEMP B-TREE" not in how
        if lab.db.engine.name == "postgresql":
            assert "Index" in how  # for a hundred rows by time or the few of a type it may take either
            first, *_ = re.findall(r"Buffers: shared hit=(\d+)", how)
            assert int(first) <= 30, how  # a page of the table for each of 20 events that lie apart, and the index
