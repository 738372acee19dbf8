"""What happens now, for a bounded number of watchers: logged events, each once and in order, and the queue's depth.

Events are pulled from the log when a watcher is ready for them, so a slow one lags instead of filling a buffer, and one
that comes back goes on where it was. The depth is a state, not an event: only the latest is kept, and it has no place
in the log.

The depth of the queue as it changes, for whoever watches.

One thread looks while anybody watches, for all of them: soon after something rang, now and then in any case (the end of
a job rings for nobody), and never more than twice a second for one tenant. What was not looked at is not kept.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from codexmem.kernel.events.live import Follower, Live
from codexmem.kernel.events.log import bell_name
from codexmem.kernel.jobs.queue import JOBS_BELL
from codexmem.kernel.model.errors import NotReady
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.job import QueueDepth
from codexmem.kernel.store import depth
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.notify import Notifier

GAP_S = 0.5
LOOK_S = 2.0

_log = logging.getLogger(__name__)

Tell = Callable[[QueueDepth], None]


@dataclass(slots=True)
class _Watched:
    """One tenant's queue and those who watch it."""

    tellers: list[Tell]
    deaf: Callable[[], None]
    known: QueueDepth


class DepthMeter:
    """Measures the queues that are being watched."""

    def __init__(self, db: Database, notifier: Notifier, kinds: Sequence[str], *, gap_s: float = GAP_S,
                 look_s: float = LOOK_S) -> None:  # fmt: skip
        self._db = db
        self._kinds = kinds  # of jobs that count as waiting
        self._bell = notifier
        self._gap_s = gap_s
        self._look_s = look_s
        self._lock = threading.Lock()
        self._watched: dict[str, _Watched] = {}
        self._rung = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._deaf: Callable[[], None] = lambda: None

    def watch(self, tell: Tell) -> tuple[QueueDepth, Callable[[], None]]:
        """The depth of the acting tenant's queue now, and each change until the returned function is called.

        `tell` is called from a thread of the meter's own and must return at once.
        """
        tenant, now = self._db.acting_tenant(), depth.measure(self._db, self._kinds)
        with self._lock:
            if tenant not in self._watched:
                self._watched[tenant] = _Watched([], self._bell.listen(bell_name(tenant), self._rung.set), now)
            self._watched[tenant].tellers.append(tell)
            if self._thread is None and not self._stopped.is_set():
                self._deaf = self._bell.listen(JOBS_BELL, self._rung.set)
                self._thread = threading.Thread(target=self._run, name="codexmem-queue-depth", daemon=True)
                self._thread.start()
        return now, lambda: self._leave(tenant, tell)

    def close(self, *, wait_s: float = 0.0) -> None:
        """Tell no more; wait so long for a look under way, before the store is closed."""
        self._stopped.set()
        self._rung.set()
        if wait_s and (thread := self._thread) is not None:
            thread.join(wait_s)

    def _leave(self, tenant: str, tell: Tell) -> None:
        with self._lock:
            watched = self._watched.get(tenant)
            if watched is None or tell not in watched.tellers:
                return
            watched.tellers.remove(tell)
            if not watched.tellers:
                watched.deaf()
                del self._watched[tenant]
        self._rung.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._gap_s):
            self._rung.wait(self._look_s)
            self._rung.clear()  # before looking, so that a ring during the look is not lost
            if self._stopped.is_set():
                return
            with self._lock:
                if not self._watched:
                    self._deaf()
                    self._thread = None  # under the lock: whoever watches next starts another
                    return
                tenants = list(self._watched)
            for tenant in tenants:
                self._look(tenant)

    def _look(self, tenant: str) -> None:
        try:
            with acting_as(tenant):
                now = depth.measure(self._db, self._kinds)
        except Exception:
            if not self._stopped.is_set():  # else the store may be closed already
                _log.warning("the queue's depth could not be read; trying again", exc_info=True)
            return
        with self._lock:
            watched = self._watched.get(tenant)
            if watched is None or watched.known == now:
                return
            watched.known = now
            tellers = tuple(watched.tellers)
        for tell in tellers:
            tell(now)


EVENTS = (EventType.SESSION_STATUS, EventType.QUEUE_FAILED, EventType.MODEL_RESULT)
_READ_S = 10.0  # after this a look that found nothing ends, so that the place which it reached is known

Told = Event | QueueDepth


class LiveWatcher:
    """One stream; used by one task, closed by anyone."""

    def __init__(self, follower: Follower, left: Callable[["LiveWatcher"], None]) -> None:
        self._follower = follower
        self._left = left
        self._place = follower.place.seq
        self._depth: QueueDepth | None = None
        self._unwatch: Callable[[], None] = lambda: None
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stirred = asyncio.Event()
        self._reading: asyncio.Task[list[Event]] | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing more will come."""
        return self._closed

    @property
    def place(self) -> int:
        """The number of an event up to which everything was given, wanted or not: a reader may come back with it."""
        return self._place

    async def next(self, *, timeout_s: float) -> list[Told]:
        """What has happened since; waits for it, and returns nothing when the time is up or the watcher is closed."""
        if self._closed:
            return []
        self._loop = asyncio.get_running_loop()
        if self._depth is None:
            if self._reading is None:
                self._reading = self._loop.create_task(self._follower.next_soon(timeout_s=_READ_S))
            stirred = self._loop.create_task(self._stirred.wait())
            await asyncio.wait({self._reading, stirred}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            stirred.cancel()
        self._stirred.clear()
        told: list[Told] = []
        if (depth := self._depth) is not None:
            self._depth = None
            told.append(depth)
        if self._reading is not None and self._reading.done():
            reading, self._reading = self._reading, None
            told += reading.result()
            self._place = self._follower.place.seq  # not earlier: a look under way may be further than what was given
        return told

    def measured(self, depth: QueueDepth) -> None:
        """The queue has changed; called from any thread, and forgotten if it changes again before it is told."""
        self._depth = depth
        self._stir()

    def depth_from(self, depth: QueueDepth, unwatch: Callable[[], None]) -> None:
        """Begin with this depth; `unwatch` ends the changes."""
        self._depth = depth
        self._unwatch = unwatch

    def close(self) -> None:
        """End the stream and wake whoever waits for it; may be called twice, from any thread."""
        if not self._closed:
            self._closed = True
            self._unwatch()
            self._follower.close()
            self._left(self)
            self._stir()

    async def finish(self) -> None:
        """Close, and leave no task behind."""
        self.close()
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._reading

    def _stir(self) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._stirred.set)


class LiveWatching:
    """Opens watchers of the acting tenant."""

    def __init__(self, live: Live, meter: DepthMeter) -> None:
        self._live = live
        self._meter = meter
        self._lock = threading.Lock()
        self._watchers: set[LiveWatcher] = set()
        self._closed = False

    def watch(self, *, key: str, resume: str | None = None) -> LiveWatcher:
        """Start a stream from now on, or after the event with this number; `key` names who asks, for the limit."""
        follower = self._live.follow(key=key, resume=resume, types=[each.value for each in EVENTS])
        watcher = LiveWatcher(follower, self._leave)
        try:
            watcher.depth_from(*self._meter.watch(watcher.measured))
            with self._lock:
                if self._closed:
                    raise NotReady("the server is stopping", hint="try again when it has restarted")
                self._watchers.add(watcher)
        except BaseException:
            watcher.close()
            raise
        return watcher

    def close(self, *, wait_s: float = 0.0) -> None:
        """End every stream at once and open no more: when the server begins to stop, and before the store is closed.

        Waits so long at most until nothing is read any more.
        """
        with self._lock:
            self._closed = True
            watchers = tuple(self._watchers)
        for watcher in watchers:
            watcher.close()
        self._meter.close(wait_s=wait_s)

    def _leave(self, watcher: LiveWatcher) -> None:
        with self._lock:
            self._watchers.discard(watcher)
