"""Pages deep in a long list cost what the first one costs: the timeline, the list of sessions, a session's turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from codexmem.kernel.model.attrs import PromptAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, RowCursor
from codexmem.kernel.model.search import SearchResult
from codexmem.kernel.store.captures import Captures
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.schema import captured_events, memories, sessions
from codexmem.kernel.store.sessions import Sessions
from codexmem.recall.earlier_sessions import EarlierSessions
from codexmem.recall.session_store import SessionOutlines
from codexmem.recall.sessions import SessionLists, TurnCursor, TurnReader
from codexmem.recall.timeline import KINDS, Edge, TimelineReader, Toward
from tests._support import services
from tests._support.services import Services

COUNT = 6_000
_MEMORY = {
    "type": "", "title": "标题", "content": "内容", "priority": 5, "confidence": 0.5, "origin": "model", "source": None,
    "attrs": {}, "uris": None, "links": None, "version": 1, "indexed_version": 1, "shown": 0, "used": 0,
    "valid": 0, "invalid": 0, "status": "active", "updated_ms": 1,
}  # fmt: skip
_SESSION = {
    "platform": "", "cwd": "", "status": "active", "turn": 3, "private": False, "gathering": None, "gathered": 0,
    "started_ms": 1, "ended_ms": None,
}  # fmt: skip


@dataclass
class Cost:
    """What reading took."""

    statements: int = 0
    work: int = 0  # rows that were fetched or, on SQLite, hundreds of instructions of its machine


@contextmanager
def counted(database: Database) -> Iterator[Cost]:
    cost = Cost()

    def after(connection: Any, cursor: Any, *_: Any) -> None:
        cost.statements += 1
        cost.work += max(0, cursor.rowcount)

    def step() -> int:
        cost.work += 1
        return 0

    with database.reading() as tx:
        driver: Any = tx.connection.connection.driver_connection
        sa.event.listen(tx.connection, "after_cursor_execute", after)
        if database.engine.name == "sqlite":
            driver.set_progress_handler(step, 100)
        try:
            yield cost
        finally:
            sa.event.remove(tx.connection, "after_cursor_execute", after)
            if database.engine.name == "sqlite":
                driver.set_progress_handler(None, 0)


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


def fill(database: Database, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Rows as they would have come to stand there, without the work of writing each."""
    with database.transaction() as tx:
        tx.add(table, *({**row, **tx.number(table)} for row in rows))


def alike(first: Cost, deep: Cost) -> None:
    assert deep.statements <= first.statements
    assert deep.work <= first.work * 1.5 + 20, (first, deep)


def test_the_timeline_costs_the_same_anywhere(database: Database, real: Services) -> None:
    kinds = ("observation", "summary", "prompt")
    fill(database, memories, [
        {**_MEMORY, "id": f"m{number}", "kind": kinds[number % 3], "project": "p" if number % 2 else "q",
         "session": None, "created_ms": number}
        for number in range(COUNT)
    ])  # fmt: skip
    line = TimelineReader(real.memories, real.recall.search)
    for wanted in (Filter(KINDS), Filter(KINDS, project="p"), Filter(KINDS, created_from_ms=10, created_to_ms=COUNT)):
        with counted(database) as first:
            page = line.flow(wanted, None, limit=50)
        assert (len(page.items), page.older is not None) == (50, True)
        deep = Edge(RowCursor(COUNT // 10, 0), Toward.OLDER)
        with counted(database) as cost:
            assert len(line.flow(wanted, deep, limit=50).items) == 50
        alike(first, cost)
        with counted(database) as cost:
            assert len(line.flow(wanted, Edge(deep.cursor, Toward.NEWER), limit=50).items) == 50
        alike(first, cost)


def test_the_list_of_sessions_costs_the_same_anywhere(database: Database, real: Services) -> None:
    fill(database, sessions, [
        {**_SESSION, "key": f"k{number}", "project": "p" if number % 2 else "q", "last_ms": number}
        for number in range(COUNT // 4)
    ])  # fmt: skip
    fill(database, memories, [
        {**_MEMORY, "id": f"m{number}", "kind": "prompt", "project": "p", "session": f"k{number % (COUNT // 4)}",
         "created_ms": number}
        for number in range(COUNT)
    ])  # fmt: skip
    lists = SessionLists(database, Sessions(database), SessionOutlines(database), real.recall.search)
    for project in (None, "p"):
        with counted(database) as first:
            page = lists.newest(project=project, below=None, limit=20)
        assert [each.outline.asked for each in page.sessions] == ["内容"] * 20
        with counted(database) as deep:
            assert len(lists.newest(project=project, below=(100, 0), limit=20).sessions) == 20
        alike(first, deep)


def test_the_turns_of_a_session_cost_the_same_anywhere(database: Database, real: Services) -> None:
    held = Sessions(database)
    session = held.touch("long", project="p", platform="", cwd="", now_ms=1).session
    fill(database, captured_events, [
        {"session": session.id, "turn": number // 10 + 1, "kind": "tool" if number % 10 else "prompt",
         "key": f"key-{session.id}-{number}", "delivery": None, "tool": "Bash", "body": {"input": "x"}, "job": None,
         "at_ms": number, "created_ms": number}
        for number in range(COUNT)
    ])  # fmt: skip
    fill(database, memories, [
        {**_MEMORY, "id": f"m{number}", "kind": "observation" if number % 10 else "prompt", "project": "p",
         "session": "long", "created_ms": number * 100_000,
         "attrs": {"prompt_number": number // 10 + 1}}
        for number in range(COUNT)
    ])  # fmt: skip
    turns = TurnReader(database, held, Captures(database), real.memories, Jobs(database), real.events)
    with counted(database) as first:
        page = turns.page(session.id, TurnCursor(), limit=5)
    assert [(turn.number, len(turn.events), turn.goes_on) for turn in page.turns] == [
        (number, 10, False) for number in range(1, 6)
    ]  # fmt: skip
    assert page.after is not None
    with counted(database) as deep:
        late = turns.page(session.id, TurnCursor(page.after.event + COUNT // 2), limit=5)
    assert len(late.turns) == 5
    alike(first, deep)


def test_a_long_session_is_counted_up_to_a_bound(database: Database, real: Services) -> None:
    held = Sessions(database)
    session = held.touch("long", project="p", platform="", cwd="", now_ms=1).session
    fill(database, memories, [
        {**_MEMORY, "id": f"m{number}", "kind": "observation", "project": "p", "session": "long", "created_ms": number}
        for number in range(1_200)
    ])  # fmt: skip
    outline = SessionOutlines(database).of([session.id])[session.id]
    assert (outline.observations, outline.summaries, outline.whole, outline.asked) == (1_000, 0, False, "")


@pytest.mark.parametrize("budget", [100, 20_000])
def test_a_prompt_reads_its_earlier_sessions_together(database: Database, budget: int) -> None:
    real = services.build(database)
    wanted = Filter(frozenset({Kind.PROMPT, Kind.SUMMARY}), project="shop")

    def found(names: range) -> list[SearchResult]:
        drafts = [
            MemoryDraft(Kind.PROMPT, State(f"the retry limit of {n} is {turn}", PromptAttrs(turn), project="shop"),
                        Origin.HUMAN, session=f"s{n}")
            for n in names for turn in (1, 2, 3)
        ]  # fmt: skip
        made = [real.memories.remember(draft, WriteContext("test")) for draft in drafts]
        return [SearchResult(memory, 0.9 - place / 100, {}, None, 0.9) for place, memory in enumerate(made)]

    def statements(results: list[SearchResult]) -> int:
        finder: Any = SimpleNamespace(search=lambda _: SimpleNamespace(results=results))
        earlier = EarlierSessions(real.memories, finder, Sessions(database))
        with counted(database) as cost:
            told = earlier.excerpt("what is the retry limit?", wanted, results, frozenset(), budget)
        assert told.lines
        return cost.statements

    assert statements(found(range(2, 8))) == statements(found(range(1)))
