"""When indexes are brought up to date: soon after a write, by one job at a time, and now and then in any case.

A write only leaves a note in memory, after its commit. A thread gathers such notes and enqueues one job for each
tenant, so that a burst of writes costs one row in the queue. No write is overlooked: whatever was committed before a
job ended is seen by the look that follows its end, and what a crash made us forget by the next round of looks.
"""

import logging
import threading
from collections.abc import Callable, Sequence

from codexmem.kernel.jobs.job_kind import Done, JobContext
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model import ids
from codexmem.kernel.model.job import Job, NewJob
from codexmem.kernel.model.visibility import as_server
from codexmem.kernel.search.indexer import Indexer, VectorIndexStatus, told
from codexmem.kernel.store.database import Database, acting_as

CATCH_UP = "index.catch_up"
TIMEOUT_S = 3_600.0  # a round may have a million memories before it; it ends earlier by itself, see ROUND_S
ROUND_S = 600.0
MAX_ATTEMPTS = 50  # with pauses of up to five minutes: an embedding server may be down for hours
GATHER_S = 0.2
SWEEP_S = 300.0
_PRIORITY = -1  # behind what somebody waits for

_log = logging.getLogger(__name__)


class Reminder:
    """Turns notes about tenants into calls, each after a moment in which further notes add nothing."""

    def __init__(self, *, gather_s: float = GATHER_S, sweep_s: float = SWEEP_S) -> None:
        self._gather_s = gather_s
        self._sweep_s = sweep_s
        self._wakes: Sequence[Callable[[str], object]] = ()
        self._lock = threading.Lock()
        self._noted: set[str] = set()
        self._known: set[str] = set()
        self._rung = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="codexmem-index-reminder", daemon=True)

    def remind(self, tenant: str) -> None:
        """Something of this tenant may have to be indexed; returns at once."""
        with self._lock:
            self._noted.add(tenant)
            self._known.add(tenant)
        self._rung.set()

    def start(self, *wakes: Callable[[str], object]) -> None:
        """Begin to make these calls for noted tenants, and now and then for all that were ever noted."""
        self._wakes = wakes
        self._thread.start()

    def stop(self) -> None:
        """Call no more; what was noted is found again by the next process."""
        self._stopping.set()
        self._rung.set()
        if self._thread.is_alive():
            self._thread.join(2.0)

    def flush(self) -> None:
        """Call for what is noted, now and here."""
        with self._lock:
            noted, self._noted = self._noted, set()
        for tenant in sorted(noted):
            self._call(tenant)

    def _run(self) -> None:
        swept = ids.monotonic()
        while not self._stopping.is_set():
            self._rung.wait(self._sweep_s)
            self._rung.clear()
            if self._stopping.wait(self._gather_s):
                return
            if ids.monotonic() - swept >= self._sweep_s:
                swept = ids.monotonic()
                with self._lock:
                    self._noted |= self._known
            self.flush()

    def _call(self, tenant: str) -> None:
        for wake in self._wakes:
            try:
                wake(tenant)
            except Exception:
                _log.warning("work on what a tenant wrote could not be enqueued; it is tried later", exc_info=True)


class Indexing:
    """The catch-up job and whoever asks how it stands."""

    def __init__(self, db: Database, indexer: Indexer, queue: Queue, reminder: Reminder, *,
                 round_s: float = ROUND_S) -> None:  # fmt: skip
        self._db = db
        self._indexer = indexer
        self._queue = queue
        self._reminder = reminder
        self._round_s = round_s

    def begin(self) -> None:
        """Look after the acting tenant from now on."""
        self._reminder.remind(self._db.acting_tenant())

    def wake(self, tenant: str) -> None:
        """Enqueue a round for the tenant if there is work and none waits already; what `Reminder.start` is given."""
        with acting_as(tenant), as_server():
            if self._indexer.has_work():
                self._queue.enqueue(
                    NewJob(CATCH_UP, {}, subject="index", dedupe_key=CATCH_UP, priority=_PRIORITY,
                           max_attempts=MAX_ATTEMPTS)
                )  # fmt: skip

    def catch_up(self, job: Job, context: JobContext) -> Done:
        """One round: as much as can be done in its time; the rest is another round's."""
        until = ids.monotonic() + self._round_s

        def proceed() -> None:
            context.check()
            if ids.monotonic() > until:
                raise _EnoughForNow

        try:
            result = told(self._indexer.catch_up(proceed))
        except _EnoughForNow:
            result = {"more": True}
        return Done(result, self._look_again)

    def status(self) -> VectorIndexStatus:
        """How far the vectors are."""
        return self._indexer.status()

    def rebuild(self) -> None:
        """Let every vector of the present model be made anew."""
        self._indexer.rebuild()

    def _look_again(self) -> None:
        # After the commit that ends this job: until then a new one would be taken for the same work and not be stored.
        with self._db.transaction() as tx:
            tx.after_commit(self.begin)


class _EnoughForNow(Exception):
    """The round has used up its time."""
