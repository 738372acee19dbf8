"""Forgetting by number, session, project and source: nothing is left of what was captured either; on every engine."""

from __future__ import annotations

import pytest

from codexmem.kernel.events.report import EventReport
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database
from tests._support import capturing
from tests._support.capturing import Capturing

ME = WriteContext("test")


@pytest.fixture
def here(database: Database) -> Capturing:
    made = capturing.build(database)
    for session in ("s1", "s2"):
        made.say(f"the plan of {session} 计划", session=session)
        made.tool(response=f"secret of {session}", session=session)
    made.run(all_of_them=True)
    made.numbers = [session.id for session in made.sessions.newest(limit=9)]  # type: ignore[attr-defined]
    return made


def left(here: Capturing) -> str:
    """Everything that can still be read, as one text."""
    kinds = [here.memories(kind) for kind in (Kind.PROMPT, Kind.OBSERVATION)]
    captured = [here.captures.of_session(number, limit=99) for number in here.numbers]  # type: ignore[attr-defined]
    here.base.traces.flush()
    log = [event.payload for each in EventType for event in EventReport(here.base.events).newest(each)]
    return f"{kinds} {captured} {log}"


def test_by_number_the_captured_events_go_too(here: Capturing) -> None:
    target = next(memory for memory in here.memories(Kind.OBSERVATION) if memory.session == "s1")
    assert here.forgetting.ids([target.seq, 10**9], ME) == 1
    assert "secret of s1" not in left(here)
    assert "secret of s2" in left(here)
    assert "the plan of s1" in left(here)


@pytest.mark.parametrize("by_number", [True, False])
def test_by_session(here: Capturing, by_number: bool) -> None:
    session = here.sessions.named("s1")
    assert session is not None
    assert here.forgetting.session(session.id if by_number else "s1", ME) == 2
    assert "s1" not in left(here).replace("session:1", "")
    assert "secret of s2" in left(here)
    assert here.sessions.named("s1") is None
    assert here.forgetting.session(session.id if by_number else "s1", ME) == 0


def test_by_source_as_by_session(here: Capturing) -> None:
    session = here.sessions.named("s2")
    assert session is not None
    assert here.forgetting.source(session.subject, ME) == 2
    assert "secret of s2" not in left(here)
    assert "secret of s1" in left(here)


def test_by_project(here: Capturing) -> None:
    assert here.forgetting.project("demo", ME) == 4
    assert "secret" not in left(here)
    assert "计划" not in left(here)
    with pytest.raises(InvalidArgument, match="name the project"):
        here.forgetting.project("", ME)


def test_that_something_was_forgotten_stays_on_record(here: Capturing) -> None:
    here.forgetting.session("s1", ME)
    audit = EventReport(here.base.events).newest(EventType.MEMORY_ERASED)
    assert [event.payload["count"] for event in audit if event.payload and event.payload["count"]] == [2]
