"""Following the log as it grows.

Followers pull: each remembers its place and reads the next batch from the store when it is ready for one. A slow
reader lags behind instead of filling a buffer, a reader that comes back goes on from its place, and neither misses an
event nor sees one twice. What one follower costs is one batch, and there are only so many followers.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from codexmem.kernel.events.log import bell_name
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import InvalidArgument, RateLimited
from codexmem.kernel.model.event import Event, LogPosition
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.notify import Notifier

BATCH = 256
LOOK_S = 3.0  # a wake-up may be lost; nobody waits longer than this
MAX_FOLLOWERS = 32
MAX_PER_KEY = 8
_SOON_S = 0.02


def resume_token(place: LogPosition) -> str:
    """A place as text, for a reader to come back with; exact even when its event has been pruned since."""
    return f"{place.seq}" if place.position == 0 else f"{place.seq}.{place.position}"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a follower gets; everything, unless said otherwise."""

    types: frozenset[str] = frozenset()
    subject_prefix: str = ""

    def takes(self, event: Event) -> bool:
        """Whether the event is one of them."""
        return (not self.types or event.type in self.types) and event.subject.startswith(self.subject_prefix)


class Live:
    """Lets a bounded number of followers read along."""

    def __init__(self, db: Database, events: EventTable, notifier: Notifier) -> None:
        self._db = db
        self._events = events
        self._bell = notifier
        self._lock = threading.Lock()
        self._followers: Counter[str] = Counter()

    def follow(self, *, key: str, resume: str | LogPosition | None = None, types: Sequence[str] = (),
               subject_prefix: str = "", look_s: float = LOOK_S) -> "Follower":  # fmt: skip
        """Start a follower of the acting tenant's log: after a place, a resume token or a bare number; or from now.

        `key` names who asks, for the limit. The follower must be closed.
        """
        with self._db.reading() as tx:
            tenant = tx.tenant
            place = self._place(resume)
        wanted = EventFilter(frozenset(types), subject_prefix)
        with self._lock:
            if self._followers[key] >= MAX_PER_KEY:
                raise _too_many(f"this key already has {MAX_PER_KEY} live readers")
            if self._followers.total() >= MAX_FOLLOWERS:
                raise _too_many(f"the server already has {MAX_FOLLOWERS} live readers")
            self._followers[key] += 1
        return Follower(self._events, self._bell, tenant, place, wanted, look_s, lambda: self._leave(key))

    def count(self) -> int:
        """How many read along just now."""
        return self._followers.total()

    def _leave(self, key: str) -> None:
        with self._lock:
            self._followers[key] -= 1
            if not self._followers[key]:
                del self._followers[key]

    def _place(self, resume: str | LogPosition | None) -> LogPosition:
        if resume is None:
            return self._events.end()
        if isinstance(resume, LogPosition):
            return resume
        seq, _, position = resume.partition(".")
        # As long as a 64-bit number at most: more is nobody's token, and no engine could compare it.
        if not all(part.isascii() and part.isdigit() and len(part) <= 18 for part in (seq, position or "0")):
            raise InvalidArgument(f"{resume[:40]!r} is not a place in the log", hint="send back the last event's id")
        if position:
            place, end = LogPosition(int(position), int(seq)), self._events.end()
            # Beyond the end is a place in another history, before a restore; reading on from there would miss much.
            # So is one whose event stands at another position here: the tenant has come from another cluster.
            stored = self._events.stored(place.seq)
            if (place.position, place.seq) <= (end.position, end.seq) and stored in (None, place):
                return place
        return self._events.place_of(int(seq))


def _too_many(message: str) -> RateLimited:
    return RateLimited(message, hint="close one, or try again later", details={"retry_after_s": 10})


class Follower:
    """One reader's place in the log; used by one thread or task at a time."""

    def __init__(
        self,
        events: EventTable,
        notifier: Notifier,
        tenant: str,
        place: LogPosition,
        wanted: EventFilter,
        look_s: float,
        left: Callable[[], None],
    ) -> None:
        self._events = events
        self._tenant = tenant
        self._place = place
        self._wanted = wanted
        self._look_s = look_s
        self._left = left
        self._closed = False
        self._closing = threading.Lock()
        self._behind = False  # the last look was cut short by its limit
        self._woken = threading.Event()
        self._task_woken: Callable[[], None] | None = None
        self._hints = 0  # looks since something last stirred, 0 once all is quiet
        self._deaf = notifier.listen(bell_name(tenant), self._wake)

    @property
    def place(self) -> LogPosition:
        """Everything up to here has been returned or was not wanted."""
        return self._place

    def read(self, *, limit: int = BATCH) -> list[Event]:
        """The wanted ones of the next events, at most so many; never waits. None need not mean the end of the log."""
        limit = max(1, min(limit, BATCH))
        if self._closed:
            return []
        with acting_as(self._tenant):
            batch = self._events.after(self._place, limit=limit)
        self._behind = len(batch) == limit
        if batch:
            self._place = batch[-1].place
            self._hints = 1
        return [event for event in batch if self._wanted.takes(event)]

    def next(self, *, timeout_s: float, limit: int = BATCH) -> list[Event]:
        """The next events; waits for them, and returns none when the time is up or the follower is closed."""
        deadline = ids.monotonic() + timeout_s
        while True:
            self._woken.clear()  # before looking, so that a ring during the look is not lost
            found = self.read(limit=limit)
            remaining = deadline - ids.monotonic()
            if found or self._closed or remaining <= 0:
                return found
            if not self._behind:
                self._woken.wait(min(remaining, self._pause()))

    async def next_soon(self, *, timeout_s: float, limit: int = BATCH) -> list[Event]:
        """The same for a task: waits without a thread, reads in one. Cancel it only to close the follower."""
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        deadline = loop.time() + timeout_s

        def wake() -> None:
            loop.call_soon_threadsafe(woken.set)

        self._task_woken = wake
        try:
            while True:
                woken.clear()
                found = await asyncio.to_thread(self.read, limit=limit)
                remaining = deadline - loop.time()
                if found or self._closed or remaining <= 0:
                    return found
                if not self._behind:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(woken.wait(), min(remaining, self._pause()))
        finally:
            self._task_woken = None

    def close(self) -> None:
        """Stop following and wake whoever waits; may be called twice, from any thread."""
        with self._closing:
            first, self._closed = not self._closed, True
        if first:
            self._deaf()
            self._left()
            self._wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wake(self) -> None:
        self._hints = 1
        self._woken.set()
        if (task_woken := self._task_woken) is not None:
            task_woken()

    def _pause(self) -> float:
        # Something stirred, and an older transaction may still be undecided and hide what follows it. It rings only if
        # it wrote an event itself, so look again by ourselves, soon and then less and less often.
        if not self._hints:
            return self._look_s
        self._hints += 1
        pause: float = _SOON_S * 2 ** (self._hints - 2)
        if pause >= self._look_s:
            self._hints = 0
            return self._look_s
        return pause
