"""The depth of the queue as it changes, for whoever watches.

One thread looks while anybody watches, for all of them: soon after something rang, now and then in any case (the end of
a job rings for nobody), and never more than twice a second for one tenant. What was not looked at is not kept.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codexmem.kernel.events.log import bell_name
from codexmem.kernel.jobs.queue import JOBS_BELL
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
