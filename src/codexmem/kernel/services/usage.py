"""Quotas of a tenant: requests and captured events of a day, and stored memories.

Counting a request must not cost a write, nor make the requests of one tenant wait for each other at one row. So a
process counts in memory, and every other second one thread adds what came together to the day's tallies and reads what
all processes have added. A limit is therefore exceeded by at most what comes in that time, and a process that is killed
forgets that much. Stored memories are counted up to their limit, in an index, and at most for a hundredth of the time.

Model tokens have their own day (`capture/job_log.py`); they are tallies of the tenant likewise.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import RateLimited
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.visibility import as_server
from codexmem.kernel.store.counts import Figures
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.tallies import Tallies

REQUESTS, EVENTS, MEMORIES = "requests", "events", "memories"
_SETTLE_S = 2.0
_QUIET_S = 60.0  # a tenant that was not heard of for so long is forgotten; its tallies are not
_COUNT_SHARE = 100
_RECOUNT_S = 30.0
_DAY_S = 86_400

_log = logging.getLogger(__name__)
_asked: ContextVar[bool] = ContextVar("asked", default=False)


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """What a tenant may use; 0 for no limit."""

    daily_requests: int = 0
    daily_events: int = 0
    memories: int = 0

    def of(self, name: str) -> int:
        """The limit of this quota."""
        return {REQUESTS: self.daily_requests, EVENTS: self.daily_events, MEMORIES: self.memories}[name]


@dataclass(frozen=True, slots=True)
class QuotaState:
    """One quota, as far as is known in this process."""

    name: str
    used: int
    limit: int | None  # None: no limit

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.limit is not None and self.used >= self.limit


@dataclass(slots=True)
class _Known:
    day: str
    heard_s: float
    settled: dict[str, int] = field(default_factory=dict)  # what all processes have added
    new: dict[str, int] = field(default_factory=dict)  # what is still to be added
    adding: dict[str, int] = field(default_factory=dict)  # what is being added just now
    memories: int | None = None
    counted_s: float = float("-inf")
    count_took_s: float = 0.0


class Usage:
    """Counts what tenants use, and says what is spent."""

    def __init__(self, db: Database, tallies: Tallies, clock: Clock, limits: UsageLimits) -> None:
        self._db = db
        self._tallies = tallies
        self._figures = Figures(db)
        self._clock = clock
        self.limits = limits
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._settler = threading.Thread(target=self._settle_on, name="codexmem-usage", daemon=True)

    def start(self) -> None:
        """Add to the tallies from now on."""
        self._settler.start()

    def close(self) -> None:
        """Add what is left, and end."""
        if self._settler.is_alive():
            self._stop.set()
            self._settler.join(2 * _SETTLE_S)

    def count(self, tenant: str, name: str, amount: int = 1) -> None:
        """The tenant has used so much; never waits for the store."""
        with self._lock:
            known = self._of(tenant)
            known.new[name] = known.new.get(name, 0) + amount

    def refusal(self, tenant: str, *, events: bool) -> RateLimited | None:
        """Why a request cannot be answered, or none that brings events; None where nothing is spent."""
        names = (REQUESTS, EVENTS, MEMORIES) if events else (REQUESTS,)
        for name in names:
            limit = self.limits.of(name)
            if limit and self._used(tenant, name) >= limit:
                return self._spent(name, limit)
        return None

    def require_room(self) -> None:
        """Refuse to store one more memory for a request where there are too many.

        What jobs make of events that were accepted is stored all the same.
        """
        if not self.limits.memories or not _asked.get():
            return
        if self._used(self._db.acting_tenant(), MEMORIES) >= self.limits.memories:
            raise self._spent(MEMORIES, self.limits.memories)

    def states(self, tenant: str) -> list[QuotaState]:
        """Every quota of the tenant."""
        names = (REQUESTS, EVENTS, MEMORIES)
        return [QuotaState(name, self._used(tenant, name), self.limits.of(name) or None) for name in names]

    def settle(self) -> None:
        """Add what came together to the tallies, read what others added, and forget who is quiet."""
        with self._lock:
            for known in self._known.values():
                known.adding, known.new = _sum(known.adding, known.new), {}
            taken = {tenant: (known.day, known.adding) for tenant, known in self._known.items() if known.adding}
        for tenant, (day, adding) in taken.items():
            with acting_as(tenant):
                self._tallies.add({f"{name}.{day}": amount for name, amount in adding.items()})
                self._settled(tenant, day)
                sums = self._tallies.many([f"{REQUESTS}.{day}", f"{EVENTS}.{day}"])
            self._settled(tenant, day, {name.partition(".")[0]: value for name, value in sums.items()})
        self._recount()
        now = ids.monotonic()
        with self._lock:
            quiet = [
                name for name, each in self._known.items()
                if not each.new and not each.adding and now - each.heard_s > _QUIET_S
            ]  # fmt: skip
            for name in quiet:
                del self._known[name]

    def _recount(self) -> None:
        if not self.limits.memories:
            return
        now = ids.monotonic()
        with self._lock:
            due = [
                (tenant, known)
                for tenant, known in self._known.items()
                if now - known.counted_s > max(_RECOUNT_S, _COUNT_SHARE * known.count_took_s)
            ]
        for tenant, known in due:
            began = ids.monotonic()
            with acting_as(tenant), as_server():
                known.memories = self._figures.stored(most=self.limits.memories)
            known.counted_s = ids.monotonic()
            known.count_took_s = known.counted_s - began

    def _settle_on(self) -> None:
        while not self._stop.wait(_SETTLE_S):
            self._try_to_settle()
        self._try_to_settle()

    def _try_to_settle(self) -> None:
        try:
            self.settle()
        except Exception:
            _log.warning("what tenants used could not be added up; trying again", exc_info=True)

    def _settled(self, tenant: str, day: str, sums: dict[str, int] | None = None) -> None:
        """What was being added is; the sums, once they are known, hold what others added as well."""
        with self._lock:
            known = self._known.get(tenant)
            if known is not None and known.day == day:
                known.settled = _sum(known.settled, known.adding) if sums is None else sums
                known.adding = {}

    def _of(self, tenant: str) -> _Known:
        day = self._today()
        known = self._known.get(tenant)
        if known is None or known.day != day:
            known = self._known[tenant] = _Known(day, 0.0, memories=known.memories if known else None)
        known.heard_s = ids.monotonic()
        return known

    def _used(self, tenant: str, name: str) -> int:
        with self._lock:
            known = self._known.get(tenant)
            if known is None or known.day != self._today():
                return 0
            known.heard_s = ids.monotonic()  # also of one that is refused, or its quota would be forgotten
            if name == MEMORIES:
                return known.memories or 0
            return sum(counted.get(name, 0) for counted in (known.settled, known.adding, known.new))

    def _spent(self, name: str, limit: int) -> RateLimited:
        if name == MEMORIES:
            return RateLimited(
                f"your tenant stores as many memories as it may: {limit}",
                hint="forget some, or ask the operator of the server for more",
                details={"reason": name, "limit": limit, "retry_after_s": int(_RECOUNT_S)},
            )
        left_s = _DAY_S - self._clock.now_ms() // 1000 % _DAY_S
        return RateLimited(
            f"your tenant has used its {limit} {name} of today (UTC)",
            hint="they begin anew at midnight UTC; the operator of the server can allow more",
            details={"reason": name, "limit": limit, "retry_after_s": left_s},
        )

    def _today(self) -> str:
        return f"{datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC):%Y-%m-%d}"


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in one.keys() | other.keys()}


@contextmanager
def asked() -> Iterator[None]:
    """What is stored in this block is stored because somebody asks for it now."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)
