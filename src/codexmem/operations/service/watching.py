"""What happens now, for a bounded number of watchers: logged events, each once and in order, and the queue's depth.

Events are pulled from the log when a watcher is ready for them, so a slow one lags instead of filling a buffer, and one
that comes back goes on where it was. The depth is a state, not an event: only the latest is kept, and it has no place
in the log.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from codexmem.kernel.events.live import Follower, Live
from codexmem.kernel.model.errors import NotReady
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.job import QueueDepth
from codexmem.operations.service.depth import DepthMeter

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
