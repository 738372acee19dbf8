"""What the program knows about itself: health, readiness, version.

Health answers as long as the process does. Readiness is a promise that requests succeed. A queue whose next job has
been waiting for a minute while nothing was started is a stall, which is told but takes no server away: what does the
work may be another process, and without servers nothing would be captured or found either.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model import ids
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store import queue_head
from codexmem.kernel.store.database import Database

STALL_MS = 60_000


class Phase(StrEnum):
    """Where the program stands."""

    INITIALIZING = "initializing"  # the store is being opened
    READY = "ready"
    STALLED = "stalled"  # requests succeed, but jobs wait and nobody takes them
    UNAVAILABLE = "unavailable"  # the store does not answer, or cannot be written
    FAILED = "failed"  # the store could not be opened; the process is about to end
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """Facts that need no store."""

    version: str
    initialized: bool
    pid: int
    uptime_s: float


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether requests can be served, and if not, why not."""

    phase: Phase
    reason: str | None = None

    @property
    def ready(self) -> bool:
        """Whether to send requests here."""
        return self.phase in {Phase.READY, Phase.STALLED}


class StallWatch:
    """Watches the queue through repeated looks and says for how long it has stood still."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._lock = threading.Lock()
        self._head: tuple[str, int, int] | None = None
        self._moved_ms = clock.now_ms()

    def standing_ms(self) -> int:
        """For how long the next job has been waiting without any sign of work; 0 if work moves or none is there."""
        now = self._clock.now_ms()
        with self._lock:
            before = self._head
        look = queue_head.take(self._db, now_ms=now, before=before)
        with self._lock:
            # A long queue that is being worked off shows as a head that was taken, or as a job started lately.
            if look.moved:
                self._moved_ms = now
            self._head = look.head
            if look.head is None or look.waiting_since_ms is None:
                return 0
            return max(0, now - max(look.waiting_since_ms, look.started_ms or 0, self._moved_ms))


class StoreWatch:
    """Asks a database server every second whether it answers, so that nobody else has to wait to learn it.

    Requests that would only wait for it are refused meanwhile; they come again when it does.
    """

    def __init__(self, db: Database, *, every_s: float = 1.0, patience_s: float = 3.0) -> None:
        self._db = db
        self._every_s = every_s
        self._patience_s = patience_s
        self._answered = True
        self._asked_s: float | None = None  # since when an answer is waited for
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask_on, name="codexmem-store-watch", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def close(self) -> None:
        """Ask no more."""
        self._stop.set()

    def answers(self) -> bool:
        """Whether it answered when it was last asked, and has not been silent for long since; never waits."""
        asked_s = self._asked_s
        return self._answered and (asked_s is None or ids.monotonic() - asked_s <= self._patience_s)

    def _ask_on(self) -> None:
        while not self._stop.wait(self._every_s):
            self._asked_s = ids.monotonic()
            try:
                with self._db.dispatching():  # to begin and end it takes an answer each
                    pass
                self._answered = True
            except Exception:
                self._answered = False
            self._asked_s = None


class ServerStatus:
    """The program's own state; readable before the store is open and after it is closed."""

    def __init__(self, *, version: str, clock: Clock, pid: int | None = None) -> None:
        """`pid` is that of the process to stop, if it is another one."""
        self.version = version
        self._pid = pid or os.getpid()
        self._clock = clock
        self._began = ids.monotonic()
        self._phase = Phase.INITIALIZING
        self._reason: str | None = None
        self._standing_ms: Callable[[], int] | None = None
        self._trouble: Callable[[], str | None] = lambda: None

    def opened(self, db: Database) -> None:
        """The store is open: from now on readiness looks at the queue."""
        self._standing_ms = StallWatch(db, self._clock).standing_ms
        self._trouble = db.engine.trouble
        self._phase, self._reason = Phase.READY, None

    def waiting_for(self, reason: str) -> None:
        """The store cannot be opened yet; trying goes on."""
        self._reason = reason

    def failed(self, reason: str) -> None:
        """The store cannot be opened at all."""
        self._phase, self._reason = Phase.FAILED, reason

    def stopping(self) -> None:
        """No further requests should come; a failure that is the cause stays visible."""
        if self._phase is not Phase.FAILED:
            self._phase, self._reason = Phase.STOPPING, None

    @property
    def initialized(self) -> bool:
        """Whether the store was opened."""
        return self._standing_ms is not None

    def health(self) -> ServerHealth:
        """Always answers."""
        return ServerHealth(self.version, self.initialized, self._pid, round(ids.monotonic() - self._began, 3))

    def readiness(self) -> Readiness:
        """Looks at the queue, so it fails when the store does not answer."""
        if self._phase is not Phase.READY or self._standing_ms is None:
            return Readiness(self._phase, self._reason)
        if (trouble := self._trouble()) is not None:
            return Readiness(Phase.UNAVAILABLE, trouble)
        try:
            standing = self._standing_ms()
        except Exception as error:  # whatever it is, requests would meet it too
            return Readiness(Phase.UNAVAILABLE, f"the store does not answer ({type(error).__name__})")
        if standing > STALL_MS:
            return Readiness(Phase.STALLED, f"jobs have been waiting for {standing // 1000} s and none was started")
        return Readiness(Phase.READY)
