"""Who is answered now: alone all there is, beside others a share, lines in turn; refusals say when to come back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.types import Message

from codexmem.http.admission import Admission, AdmissionLimits, ClientLeft, Slot
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import RateLimited, Unavailable

LIMITS = AdmissionLimits(slots=4, tenant_slots=1, tenant_waiting=3, waiting_s=0.5)


async def silent() -> Message:
    """A client that waits."""
    await asyncio.Event().wait()
    raise AssertionError


async def unsent(_: Message) -> None:
    return


async def enter(admission: Admission, tenant: str, receive: Callable[[], Awaitable[Message]] = silent) -> Slot:
    return await admission.enter(tenant, "GET", "/api/search", receive, unsent)


async def in_line(admission: Admission, count: int) -> None:
    """Until so many wait for their turn."""
    while waiting(admission) < count:
        await asyncio.to_thread(int)  # let others go on


def waiting(admission: Admission) -> float:
    return next(sample.value for sample in admission.gauges() if sample.name == "codexmem_admission_waiting")


def run(test: Callable[[], Awaitable[Any]]) -> None:
    async def whole() -> None:
        await asyncio.wait_for(test(), 20)

    asyncio.run(whole())


def test_who_is_alone_has_all_and_beside_others_a_share() -> None:
    async def test() -> None:
        admission = Admission(LIMITS)
        alone = [await enter(admission, "busy") for _ in range(4)]
        for each in alone:
            each.release()
            each.release()  # once is enough
        (await enter(admission, "quiet")).release()
        first = await enter(admission, "busy")
        second = asyncio.create_task(enter(admission, "busy"))
        await in_line(admission, 1)
        assert not second.done()
        (await enter(admission, "quiet")).release()  # finds a slot at once, whoever stands in line
        first.release()
        (await second).release()

    run(test)


def test_lines_are_served_in_turn() -> None:
    async def test() -> None:
        admission = Admission(AdmissionLimits(slots=1, tenant_slots=1, waiting_s=5))
        held, order = await enter(admission, "zero"), list[str]()

        async def wait(tenant: str) -> None:
            slot = await enter(admission, tenant)
            order.append(tenant)
            slot.release()

        tasks = [asyncio.create_task(wait(tenant)) for tenant in ("a", "a", "a", "b", "c")]
        await in_line(admission, 5)
        held.release()
        await asyncio.gather(*tasks)
        assert order == ["a", "b", "c", "a", "a"]

    run(test)


def test_what_would_wait_too_long_is_refused_with_the_time_to_come_back() -> None:
    async def test() -> None:
        admission = Admission(LIMITS)
        (await enter(admission, "quiet")).release()
        held = await enter(admission, "busy")
        lined = [asyncio.create_task(enter(admission, "busy")) for _ in range(3)]
        await in_line(admission, 3)
        with pytest.raises(RateLimited) as refused:
            await enter(admission, "busy")
        assert refused.value.details == {"reason": "concurrency", "limit": 1, "retry_after_s": 1}
        outcomes = await asyncio.gather(*lined, return_exceptions=True)
        assert all(isinstance(each, RateLimited) for each in outcomes)  # the longest wait is over
        held.release()
        (await enter(admission, "busy")).release()
        others = [await enter(admission, f"t{number}") for number in range(4)]
        with pytest.raises(Unavailable) as full:
            await enter(admission, "late")
        assert full.value.details["reason"] == "overloaded"
        for each in others:
            each.release()
        assert {sample.value for sample in admission.gauges() if sample.name == "codexmem_admission_running"} == {0}

    run(test)


def test_a_client_that_leaves_its_line_takes_no_turn() -> None:
    async def test() -> None:
        async def leaves() -> Message:
            return {"type": "http.disconnect"}

        admission = Admission(LIMITS)
        (await enter(admission, "quiet")).release()
        held = await enter(admission, "busy")
        with pytest.raises(ClientLeft):
            await enter(admission, "busy", leaves)
        held.release()
        (await enter(admission, "busy")).release()

    run(test)


def test_a_live_stream_keeps_no_slot() -> None:
    async def test() -> None:
        admission = Admission(AdmissionLimits(slots=1))
        stream = await enter(admission, "a")
        headers = [(b"Content-Type", b"text/event-stream; charset=utf-8")]
        await stream.send({"type": "http.response.start", "status": 200, "headers": headers})
        other = await enter(admission, "a")
        stream.release()
        with pytest.raises(Unavailable):
            await enter(Admission(LIMITS, answers=lambda: False), "a")
        other.release()

    run(test)


def test_a_rate_lets_a_burst_through_and_then_so_many_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(ids, "monotonic", lambda: now[0])

    async def test() -> None:
        admission = Admission(AdmissionLimits(tenant_rate=2, burst_s=2))
        for _ in range(4):
            (await enter(admission, "a")).release()
        with pytest.raises(RateLimited) as refused:
            await enter(admission, "a")
        assert refused.value.details == {"reason": "rate", "limit": 2, "retry_after_s": 1}
        (await enter(admission, "b")).release()
        now[0] += 0.5
        (await enter(admission, "a")).release()
        now[0] += 61
        (await enter(admission, "b")).release()
        assert list(admission._tenants) == ["b"]  # memory is for those that are there

    run(test)
