"""A session turn by turn: what belongs to which turn, and what is left when parts have faded or are gone."""

from __future__ import annotations

import pytest

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.recall.context import ContextRequest
from codexmem.recall.sessions import Turn, TurnCursor, TurnReader
from tests._support import capturing
from tests._support.capturing import Capturing


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database)


def turns_of(here: Capturing) -> TurnReader:
    return TurnReader(here.db, here.sessions, here.captures, here.base.memories, Jobs(here.db), here.base.events)


def read(here: Capturing, number: int, limit: int = 1) -> list[Turn]:
    """Every turn, page by page."""
    found: list[Turn] = []
    place: TurnCursor | None = TurnCursor()
    while place is not None:
        page = turns_of(here).page(number, place, limit=limit)
        found += page.turns
        place = page.after
    return found


def test_each_handing_over_stands_in_its_turn(here: Capturing) -> None:
    here.base.clock.advance(1_000)
    number = here.say("first question", at_ms=here.base.clock.now_ms()).session
    for each in range(3):
        here.context.give(ContextRequest("demo", session="s1", prompt=f"question number {each} about things"))
        here.base.clock.advance(1_000)
        here.say(f"next {each}", at_ms=here.base.clock.now_ms())
    told = read(here, number)
    assert [(turn.number, len(turn.handed)) for turn in told] == [(1, 1), (2, 1), (3, 1), (4, 0)]
    assert [turn.prompt.state.content for turn in told if turn.prompt] == [
        "first question",
        "next 0",
        "next 1",
        "next 2",
    ]


def test_what_was_logged_without_a_turn_goes_by_time(here: Capturing) -> None:
    clock = here.base.clock
    number = here.say("one", at_ms=clock.now_ms()).session
    clock.advance(1_000)
    log = Log(here.db, here.base.events, LocalNotifier(), clock)
    log.append(NewEvent(EventType.CONTEXT_GIVEN, f"session:{number}", {"seqs": [], "tokens": 3}, "demo"))
    clock.advance(1_000)
    here.say("two", at_ms=clock.now_ms())
    assert [(turn.number, [given.tokens for given in turn.handed]) for turn in read(here, number, 50)] == [
        (1, [3]), (2, []),
    ]  # fmt: skip


def test_what_was_forgotten_is_not_told(here: Capturing) -> None:
    number = here.say("question").session
    here.tool("Bash", response="one")
    here.run(all_of_them=True)
    (observation,) = here.memories(Kind.OBSERVATION)
    (turn,) = read(here, number)
    assert ([each.seq for each in turn.came], [each.kept for each in turn.events]) == ([observation.seq], [True, True])
    here.forgetting.ids([observation.seq], WriteContext("test"))
    (turn,) = read(here, number)
    assert (turn.came, [each.kept for each in turn.events][1:]) == ((), [False])
    event = turns_of(here).event(number, turn.events[1].seq)
    assert (event.tool, event.response, event.kept) == ("Bash", None, False)


def test_what_is_not_there_is_said(here: Capturing) -> None:
    number = here.say("question").session
    with pytest.raises(NotFound):
        turns_of(here).page(number + 1_000_000, TurnCursor(), limit=1)
    with pytest.raises(NotFound):
        turns_of(here).event(number, 2**40)
    assert turns_of(here).page(number, TurnCursor(2**40), limit=1).turns == ()
