"""Fairness between tenants: who may be answered now, who waits for a moment, and who is asked to come back.

A process answers a bounded number of requests at once. A tenant that is alone may have all of it. While others are
there too, each has only its share, so that whoever comes finds room and a processor that is not taken. What exceeds
that waits in the tenant's own short line; lines are served in turn. Whoever would wait too long is refused at once,
with the time after which it makes sense to come back: nothing queues for minutes only to be given up by its client.

Everything happens on the event loop: waiting takes no thread and no connection. A request costs the same however many
wait; a slot that becomes free costs with the tenants that have a line. Tenants that were not heard of for a minute
are forgotten: memory is bounded by those that are active.
"""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.types import Message, Receive, Send

from codexmem.http.metrics import Sample
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError, RateLimited, Unavailable

# After its last request, a tenant no longer counts among those that share. It is long for people who ask now and
# then: whoever comes while another has all slots waits for what runs in them.
_ACTIVE_S = 60.0
_LONGEST_RETRY_S = 30
_FIRST_GUESS_S = 0.1  # how long a request takes, until some were timed
_WEIGHT = 0.2  # of the newest request in that average
_TIMED_S = 1.0  # what one request counts for at most: after a database hung, nobody stays away for long
_LIVE = b"text/event-stream"

Refusal = Callable[[str, str, str], CodexmemError | None]  # tenant, method, path


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """What one process does at once, and for whom."""

    slots: int = 12  # requests that are answered at once
    tenant_slots: int = 1  # of one tenant, while others are active
    tenant_waiting: int = 64  # in a tenant's line
    waiting_s: float = 5.0  # the longest that a request waits for its turn
    tenant_rate: float = 0.0  # requests a second of one tenant; 0 for no limit
    burst_s: float = 5.0  # seconds' worth of them that may come at once


class ClientLeft(Exception):
    """The client left while it waited; there is nobody to answer."""


@dataclass(slots=True)
class _Tenant:
    name: str
    seen_s: float
    tokens: float
    running: int = 0
    takes_s: float = _FIRST_GUESS_S
    back_s: float = 0.0  # when the last one that was refused is to come back
    line: deque[asyncio.Future[None]] = field(default_factory=deque)
    in_turn: bool = False  # whether its line is among those that are served


class Slot:
    """Leave to be answered; given back once, at the end or when the reply turns out to be a live stream."""

    def __init__(self, give_back: Callable[[], None], send: Send) -> None:
        self._give_back: Callable[[], None] | None = give_back
        self._send = send

    async def send(self, message: Message) -> None:
        """Pass on what the application says; a live stream takes no slot while it lasts."""
        if message["type"] == "http.response.start" and _is_live(message):
            self.release()
        await self._send(message)

    def release(self) -> None:
        """Let the next one in."""
        if self._give_back is not None:
            self._give_back()
            self._give_back = None


class Admission:
    """Admits the requests of tenants to one process; belongs to its event loop."""

    def __init__(
        self,
        limits: AdmissionLimits,
        *,
        answers: Callable[[], bool] = lambda: True,
        refusal: Refusal = lambda *_: None,
    ) -> None:
        self._limits = limits
        self._answers = answers  # whether the store does: what would only wait for it is refused
        self._refusal = refusal  # what else speaks against a request, such as a spent quota
        self._tenants: OrderedDict[str, _Tenant] = OrderedDict()  # the one that was heard of last comes last
        self._lines: deque[_Tenant] = deque()  # those with a line, in the order of their turns
        self._running = 0
        # From the start: of a series that begins with its first refusal, nobody sees the rate.
        self._refused = dict.fromkeys(("concurrency", "overloaded", "rate", "store"), 0)

    async def enter(self, tenant: str, method: str, path: str, receive: Receive, send: Send) -> Slot:
        """Wait for leave to be answered; raises where there will be none soon enough."""
        known = self._heard(tenant)
        self._check(known, method, path)
        if self._may_run(known) and not known.line:
            self._start(known)  # whoever stands in a line while slots are free has its share already
        else:
            await self._wait(known, receive)
        began = ids.monotonic()
        return Slot(lambda: self._leave(known, began), send)

    def gauges(self) -> Iterable[Sample]:
        """What operators watch."""
        waiting = sum(len(each.line) for each in list(self._lines))
        yield Sample("codexmem_admission_running", "Requests of tenants being answered", self._running)
        yield Sample("codexmem_admission_waiting", "Requests that wait for their tenant's turn", waiting)
        yield Sample("codexmem_admission_tenants", "Tenants heard of in the last minute", len(self._tenants))
        for reason, count in list(self._refused.items()):
            yield Sample("codexmem_admission_refused", "Requests refused since the start", count, {"reason": reason})

    def _heard(self, tenant: str) -> _Tenant:
        now = ids.monotonic()
        known = self._tenants.get(tenant)
        if known is None:
            known = _Tenant(tenant, now, self._limits.tenant_rate * self._limits.burst_s)
            self._tenants[tenant] = known
        rate = self._limits.tenant_rate
        known.tokens = min(max(1.0, rate * self._limits.burst_s), known.tokens + (now - known.seen_s) * rate)
        known.seen_s = now
        self._tenants.move_to_end(tenant)
        self._forget(now)
        return known

    def _forget(self, now: float) -> None:
        kept_s = max(_ACTIVE_S, self._limits.burst_s)  # by then its bucket is full again
        while self._tenants:
            oldest = next(iter(self._tenants.values()))
            if now - oldest.seen_s <= kept_s:
                return
            if oldest.running or oldest.line:
                oldest.seen_s = now
                self._tenants.move_to_end(oldest.name)
            else:
                del self._tenants[oldest.name]

    def _check(self, known: _Tenant, method: str, path: str) -> None:
        if not self._answers():
            raise self._count("store", Unavailable(
                "the database does not answer just now", hint="try again in a moment",
                details={"reason": "store", "retry_after_s": 2},
            ))  # fmt: skip
        if (spent := self._refusal(known.name, method, path)) is not None:
            raise self._count(str(spent.details.get("reason", "quota")), spent)
        if self._limits.tenant_rate:
            if known.tokens < 1.0:
                wait = math.ceil((1.0 - known.tokens) / self._limits.tenant_rate)
                raise self._count("rate", _rate_limited("rate", self._limits.tenant_rate, max(1, wait)))
            known.tokens -= 1.0

    def _count(self, reason: str, error: CodexmemError) -> CodexmemError:
        self._refused[reason] = self._refused.get(reason, 0) + 1
        return error

    def _share(self, known: _Tenant) -> int:
        now = ids.monotonic()
        newest = (each for each in reversed(self._tenants.values()) if each is not known)
        other = next(newest, None)  # the one that was heard of last: the first or second that is looked at
        shared = other is not None and (other.running > 0 or now - other.seen_s <= _ACTIVE_S)
        return min(self._limits.slots, self._limits.tenant_slots) if shared else self._limits.slots

    def _may_run(self, known: _Tenant) -> bool:
        return self._running < self._limits.slots and known.running < self._share(known)

    def _start(self, known: _Tenant) -> None:
        known.running += 1
        self._running += 1

    async def _wait(self, known: _Tenant, receive: Receive) -> None:
        share = self._share(known)
        expected_s = (len(known.line) + 1) * known.takes_s / share
        if len(known.line) >= self._limits.tenant_waiting or expected_s > self._limits.waiting_s:
            raise self._crowded(known, share, expected_s)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not known.in_turn:
            known.in_turn = True
            self._lines.append(known)
        known.line.append(turn)
        gone = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({turn, gone}, timeout=self._limits.waiting_s, return_when=asyncio.FIRST_COMPLETED)
            if turn.done():
                return
            if gone.done():
                raise ClientLeft
            raise self._crowded(known, share, expected_s)
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._leave(known, None)  # its turn came in the same moment
            else:
                known.line.remove(turn)
            raise
        finally:
            gone.cancel()

    def _crowded(self, known: _Tenant, share: int, expected_s: float) -> CodexmemError:
        # Each is given a time of its own, at the pace at which the tenant is served: they do not come back all at once.
        now = ids.monotonic()
        latest = now + _LONGEST_RETRY_S
        known.back_s = min(
            latest, max(known.back_s, now + min(expected_s, self._limits.waiting_s)) + known.takes_s / share
        )
        wait = max(1, math.ceil(known.back_s - now))
        if known.running >= share:
            return self._count("concurrency", _rate_limited("concurrency", share, wait))
        return self._count("overloaded", Unavailable(
            "this server has more to do than it can just now", hint="try again later, or add a server",
            details={"reason": "overloaded", "limit": self._limits.slots, "retry_after_s": wait},
        ))  # fmt: skip

    def _leave(self, known: _Tenant, began: float | None) -> None:
        known.running -= 1
        self._running -= 1
        if began is not None:
            known.takes_s += _WEIGHT * (min(_TIMED_S, ids.monotonic() - began) - known.takes_s)
        self._call_next()

    def _call_next(self) -> None:
        passed = 0
        while self._lines and passed < len(self._lines) and self._running < self._limits.slots:
            known = self._lines.popleft()
            if not known.line:  # all of it gave up
                known.in_turn = False
                continue
            if self._may_run(known):
                known.line.popleft().set_result(None)
                self._start(known)
                passed = 0
            else:
                passed += 1
            if known.line:
                self._lines.append(known)
            else:
                known.in_turn = False


async def _left(receive: Receive) -> None:
    """Until the client has hung up; its body was read before."""
    with suppress(asyncio.CancelledError):
        while (await receive())["type"] != "http.disconnect":
            pass


def _is_live(message: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(_LIVE) for name, value in message["headers"])


def _rate_limited(reason: str, limit: float, wait_s: int) -> RateLimited:
    what = "requests a second" if reason == "rate" else "requests at once while others are served"
    return RateLimited(
        f"your tenant has reached its limit of {limit:g} {what}",
        hint=f"try again in {wait_s} s; nothing was done",
        details={"reason": reason, "limit": limit, "retry_after_s": wait_s},
    )
