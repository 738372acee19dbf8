"""Who was told what: once for each session and memory, gone with the memory, and not kept for ever."""

from __future__ import annotations

from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.tellings import Tellings
from tests._support import capturing


def test_a_session_is_told_a_memory_once_and_both_ways_are_read(database: Database) -> None:
    here = capturing.build(database)
    for name in ("s1", "s2"):
        here.say(f"the plan of {name}", session=name)
    first, second = sorted(each.seq for each in here.memories(Kind.PROMPT))
    tellings = Tellings(database)
    tellings.tell("late", [first, second, 10**9], at_ms=5)
    tellings.tell("late", [first], at_ms=9)
    tellings.tell("later", [first], at_ms=7)
    assert tellings.told("late", limit=9) == [(second, 5), (first, 5)]
    assert tellings.sessions([first, second], limit=9) == {"late": 5, "later": 7}
    assert tellings.sessions([second], limit=9) == {"late": 5}
    assert tellings.counts("late", [Kind.PROMPT], most=9) == (2, 0, 0)
    tellings.tell("late", [first], at_ms=11, opened=True)
    tellings.tell("late", [first, second], at_ms=12)
    tellings.tell("s1", [first], at_ms=13, opened=True)  # opened without having been told before
    assert tellings.counts("late", [Kind.PROMPT], most=9) == (2, 1, 0)
    assert tellings.counts("s1", [Kind.PROMPT, Kind.NOTE], most=9) == (1, 1, 1)
    assert tellings.counts("s1", [Kind.NOTE], most=9) == (1, 1, 0)
    assert tellings.counts("late", [Kind.PROMPT], most=1)[0] == 1
    assert tellings.told("late", limit=9) == [(second, 5), (first, 5)]
    here.forgetting.ids([second], WriteContext("test"))
    assert tellings.told("late", limit=9) == [(first, 5)]
    assert tellings.prune(before_ms=6, limit=9) == 1
    assert tellings.sessions([first], limit=9) == {"later": 7, "s1": 13}
