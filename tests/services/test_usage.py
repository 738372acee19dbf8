"""Quotas of a tenant: counted in memory, added up across processes, refused when spent."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.errors import RateLimited
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.services.usage import EVENTS, MEMORIES, REQUESTS, Usage, UsageLimits, asked
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.tallies import Tallies
from tests._support import services
from tests._support.clock import StepClock

DAY_MS = 86_400_000


def made(database: Database, clock: StepClock, **limits: int) -> Usage:
    return Usage(database, Tallies(database), clock, UsageLimits(**limits))


def test_what_other_processes_counted_is_known_and_a_new_day_begins_at_zero(database: Database, tenant: str) -> None:
    clock = StepClock(20_000 * DAY_MS + 1_000)
    here, there = (made(database, clock, daily_requests=10, daily_events=4) for _ in range(2))
    there.count(tenant, REQUESTS, 6)
    there.count(tenant, EVENTS, 4)
    there.settle()
    here.count(tenant, REQUESTS, 1)
    assert here.refusal(tenant, events=True) is None  # it has not looked yet
    here.settle()
    assert [(each.name, each.used, each.spent) for each in here.states(tenant)] == [
        (REQUESTS, 7, False), (EVENTS, 4, True), (MEMORIES, 0, False),
    ]  # fmt: skip
    refused = here.refusal(tenant, events=True)
    assert refused is not None
    assert refused.details == {"reason": "events", "limit": 4, "retry_after_s": 86_399}
    assert here.refusal(tenant, events=False) is None
    here.count(tenant, REQUESTS, 3)
    spent = here.refusal(tenant, events=False)
    assert spent is not None
    assert spent.details["reason"] == "requests"
    clock.advance(DAY_MS)
    assert here.refusal(tenant, events=True) is None
    here.count(tenant, REQUESTS)
    here.settle()
    assert here.states(tenant)[0].used == 1


def test_what_is_just_being_added_stays_counted_and_is_added_once(
    database: Database, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage, tallies = made(database, StepClock(20_000 * DAY_MS), daily_events=3), Tallies(database)
    usage.count(tenant, EVENTS, 3)
    seen: list[int] = []

    def add(amounts: dict[str, int]) -> None:
        seen.append(usage.states(tenant)[1].used)
        if len(seen) == 1:
            raise ConnectionError("the store is away")
        tallies.add(amounts)

    monkeypatch.setattr(usage._tallies, "add", add)
    with pytest.raises(ConnectionError):
        usage.settle()
    usage.settle()
    assert (seen, usage.states(tenant)[1].used) == ([3, 3], 3)
    usage.count(tenant, EVENTS)
    usage.settle()
    assert usage.states(tenant)[1].used == 4


def test_a_full_store_takes_no_more_from_requests(database: Database, tenant: str) -> None:
    usage = made(database, StepClock(20_000 * DAY_MS), memories=2)
    memories = services.build(database).memories
    memories._require_room = usage.require_room

    def remember(text: str) -> None:
        state = State(text, ObservationAttrs(), project="p")
        memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.HUMAN), WriteContext("test"))

    with asked():
        remember("one")
        remember("two")
        usage.count(tenant, REQUESTS)
        usage.settle()
        with pytest.raises(RateLimited) as refused:
            remember("three")
    assert (refused.value.details["reason"], refused.value.details["limit"]) == ("memories", 2)
    remember("four")  # what a job makes of accepted events is stored all the same
