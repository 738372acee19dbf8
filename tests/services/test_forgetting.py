"""Forgetting by number, session, project and source: nothing is left of what was captured either; on every engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codexmem.kernel.events.report import EventReport
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Seq
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.recall.forgetting import ForgetSelection
from codexmem.recall.undoing import Undoing, Whose
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


def test_what_persons_wrote_in_a_session_stays_unless_it_is_asked_for(here: Capturing) -> None:
    session, memories = here.sessions.named("s1"), here.base.memories
    assert session is not None
    seen = next(each for each in here.memories(Kind.OBSERVATION) if each.session == "s1")
    person = WriteContext("cli", session.subject, origin=Origin.HUMAN)  # as it was booked before
    agent = replace(person, origin=Origin.AGENT)
    made = [
        memories.remember(MemoryDraft(Kind.NOTE, State(text, NoteAttrs(), project="demo"), by.origin, "s1"), by).seq
        for text, by in (("a person's own note", person), ("an agent's note", agent))
    ]
    memories.change(Seq(seen.seq), frozenset(Kind), lambda state: replace(state, content="corrected"), person)
    wanted = ForgetSelection(session="s1")
    outline = here.forgetting.outline(wanted)
    assert ([each.seq for each in outline.kept], outline.found) == ([seen.seq, made[0]], 2)
    undoing = Undoing(here.db, MemoryTable(here.db), VersionTable(here.db), here.base.history)
    taken = undoing.outline(Whose(session.subject))
    assert ({each.seq for each in taken.kept}, made[1] in {each.seq for each in taken.first}) == (
        {seen.seq, made[0]},
        True,
    )
    undone = undoing.take_back(Whose(session.subject), Mode.STRICT, person)
    assert [memories.get(Seq(seq), frozenset(Kind)).state.status.value for seq in (*made, seen.seq)] == [
        "active", "deleted", "active",
    ]  # fmt: skip
    assert undone.restored == taken.memories
    for _ in range(2):  # also when it is asked for again
        here.forgetting.one_of(wanted, person)
    there = memories.many((*made, seen.seq), frozenset(Kind))
    assert (sorted(there), here.captures.of_session(session.id, limit=9)) == ([seen.seq, made[0]], [])
    assert here.forgetting.one_of(ForgetSelection(source=session.subject, include_mine=True), person) > 0
    assert made[0] not in memories.many(made, frozenset(Kind))


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
