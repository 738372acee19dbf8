"""Running jobs: one thread hands out, one keeps the leases, and each job runs in a thread of its own.

The dispatcher claims only what can start at once, sleeps until notified or the next due time, and never ends because of
an error: it logs, waits and goes on. Nothing here knows what jobs do; that table comes from the composition root.
"""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.job_kind import JobContext, JobKinds, Lost, Overdue, Stopped
from codexmem.kernel.jobs.leases import LeaseRenewer, QueueClock
from codexmem.kernel.jobs.outcomes import JobOutcomes
from codexmem.kernel.jobs.queue import CANCEL_BELL, JOBS_BELL
from codexmem.kernel.model import ids, spans
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import PATIENT, Canceled, GiveUp, Job
from codexmem.kernel.store.database import Database, acting_as, reading_the_newest
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.notify import Notifier

LEASE_MS = 20_000  # with one look more, a vanished worker's job moves on within 30 s
LOOK_S = 5.0
UNWIND_S = 1.0  # of a stop's grace, for runs that are told to stop and do
_SHORTEST_S = 0.02  # when something is due but another worker is just taking it
_MAX_OVERDUE = 3  # runs past their time per thread; with more than that the worker stops claiming and reads as stalled

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """Whether a worker gets on; ages in milliseconds."""

    running: int
    overdue: int  # runs past their time that have not returned
    oldest_ready_age_ms: int | None  # how long the first claimable job has waited, None if none waits
    last_end_age_ms: int | None  # since a run last ended, None if none has
    dispatch_age_ms: int  # since the dispatcher last looked without trouble
    heartbeat_age_ms: int  # since leases were last kept without trouble


class Worker:
    """Runs jobs of every tenant, so many at a time, until stopped."""

    def __init__(
        self,
        db: Database,
        jobs: Jobs,
        dispatch: Dispatch,
        log: Log,
        notifier: Notifier,
        clock: Clock,
        job_kinds: JobKinds,
        *,
        threads: int = 4,
        lease_ms: int = LEASE_MS,
        look_s: float = LOOK_S,
        checkpoint: Callable[[str], None] = lambda _: None,
    ) -> None:
        # Never the same twice: the fence must tell this worker from one that had its job before.
        self.name = f"{os.getpid()}-{ids.prefixed('worker')}"
        self._dispatch = dispatch
        self._bell = notifier
        self._clock = QueueClock(clock)
        self._duties = job_kinds
        self._threads = threads
        self._lease_ms = lease_ms
        self._look_s = look_s
        self._checkpoint = checkpoint
        self._ending = JobOutcomes(db, jobs, log, notifier, self._clock, job_kinds, checkpoint=checkpoint)
        self._keeper = LeaseRenewer(
            dispatch, self._ending, self._clock, self.name, self._held, lease_ms=lease_ms, look_s=look_s
        )
        self._lock = threading.Lock()
        self._runs: dict[JobContext, threading.Thread] = {}
        self._woken = threading.Event()
        self._ended = threading.Condition(self._lock)
        self._stopping = threading.Event()
        self._last_end: float | None = None
        self._looked = ids.monotonic()
        self._deaf: list[Callable[[], None]] = []
        self._dispatcher = threading.Thread(target=self._hand_out, name="codexmem-dispatch", daemon=True)

    def start(self) -> None:
        """Begin to claim."""
        self._deaf = [
            self._bell.listen(JOBS_BELL, self._woken.set),
            self._bell.listen(CANCEL_BELL, self._keeper.stir),
        ]
        self._keeper.start()
        self._dispatcher.start()

    def reclaim(self) -> int:
        """Before `start`, where this process alone owns the store: whoever held a job is gone. Returns how many did."""
        return self._keeper.recover_all()

    def stop(self, grace_s: float = 5.0) -> None:
        """Claim no more, let runs end, tell the rest to stop, give back what still runs; done within the grace."""
        if self._dispatcher.ident is None:
            return  # never started: this process serves and does not work
        deadline = ids.monotonic() + grace_s
        self._stopping.set()
        self._woken.set()
        for deaf in self._deaf:
            deaf()
        self._join(self._dispatcher, deadline)
        self._wait_for_runs(deadline - min(UNWIND_S, grace_s / 2))
        for context in self._held():
            context.interrupt(Stopped)
        self._wait_for_runs(deadline - min(UNWIND_S, grace_s / 2) / 2)
        self._ending.hurried.set()
        for context in self._held():
            context.interrupt(Lost)
            self._give_back(context.job)
        self._keeper.close(max(0.1, deadline - ids.monotonic()))

    def progress(self) -> WorkerProgress:
        """What readiness needs to know; looks into the queue once."""
        due = self._dispatch.next_due()
        now, now_ms = ids.monotonic(), self._clock.now_ms()
        with self._lock:
            overdue = self._overdue()
            running = len(self._runs) - overdue
        waited = now_ms - due.run_at_ms if due is not None else -1
        return WorkerProgress(
            running=running,
            overdue=overdue,
            oldest_ready_age_ms=waited if waited >= 0 else None,
            last_end_age_ms=None if self._last_end is None else int((now - self._last_end) * 1000),
            dispatch_age_ms=self.dispatch_age_ms(),
            heartbeat_age_ms=int(self._keeper.beat_age_s() * 1000),
        )

    def stuck(self) -> bool:
        """Whether it claims no more, because its dispatcher has ended or too many runs do not return; asks nobody."""
        with self._lock:
            return not self._dispatcher.is_alive() or self._overdue() > self._threads * _MAX_OVERDUE

    def dispatch_age_ms(self) -> int:
        """Since the dispatcher last looked without trouble; asks nobody."""
        return int((ids.monotonic() - self._looked) * 1000)

    def _hand_out(self) -> None:
        troubles = 0
        while not self._stopping.is_set():
            self._woken.clear()  # before looking, so that a ring during the look is not lost
            try:
                pause_s = self._claim()
                self._looked = ids.monotonic()
                troubles = 0
            except Exception:
                troubles += 1
                _log.warning("jobs could not be claimed; trying again", exc_info=True)
                self._stopping.wait(min(self._look_s, 0.1 * 2 ** min(troubles, 10)))
                continue
            if pause_s > 0:
                self._woken.wait(pause_s)

    def _claim(self) -> float:
        """Start what can start; returns how long to sleep."""
        with self._lock:
            overdue = self._overdue()
            free = self._threads - (len(self._runs) - overdue)
            if overdue > self._threads * _MAX_OVERDUE:
                free = 0
            patient = max(1, self._threads - 1) - sum(each.job.priority == PATIENT for each in self._runs)
        if free <= 0:
            return self._look_s
        claimed = self._dispatch.claim(
            self.name, limit=free, patient=max(0, patient), lease_ms=self._lease_ms, now_ms=self._clock.now_ms()
        )
        for job in claimed:
            self._start(job)
        if claimed:
            return 0.0
        due = self._dispatch.next_due(patient=patient > 0)
        if due is None:
            return self._look_s
        if self._clock.observe(due.seen_ms):
            _log.warning("this machine's clock is behind the queue's; going on with the queue's time")
            self._keeper.renew()  # our leases were given by the time that was behind
        return min(self._look_s, max(_SHORTEST_S, (due.run_at_ms - self._clock.now_ms()) / 1000))

    def _start(self, job: Job) -> None:
        if self._stopping.is_set():
            self._give_back(job)
            return
        job_kind = self._duties.get(job.kind)
        context = JobContext(job, job_kind.timeout_s if job_kind is not None else self._lease_ms / 1000)
        thread = threading.Thread(target=self._run, args=(context,), name=f"codexmem-job-{job.id}", daemon=True)
        with self._lock:
            self._runs[context] = thread
        thread.start()

    def _run(self, context: JobContext) -> None:
        job = context.job
        try:
            with acting_as(job.tenant), reading_the_newest(), _recorded(job) as span:
                self._work(context, span)
        except Lost:
            _log.warning("job %d of kind %s was lost to another worker", job.id, job.kind)
        except Exception:
            # Its lease is no longer renewed, so the job moves on without us.
            _log.exception("job %d of kind %s could not be ended", job.id, job.kind)
        finally:
            with self._ended:
                del self._runs[context]
                self._last_end = ids.monotonic()
                self._ended.notify_all()
            self._woken.set()
        self._checkpoint("before_next")

    def _work(self, context: JobContext, span: spans.Span) -> None:
        job = context.job
        self._checkpoint("claimed")
        try:
            job_kind = self._duties.get(job.kind)
            if job_kind is None:
                raise GiveUp(f"nobody here knows the kind {job.kind!r}", error_class="unknown_kind")
            with job_kind.acting(job):
                done = job_kind.run(job, context)
                self._checkpoint("handled")
                self._ending.complete(job, done)
            self._checkpoint("after_commit")
        except Canceled:
            self._ending.cancel(job)
        except Stopped:
            self._ending.give_back(job)
        except Lost:
            raise
        except Exception as error:
            span.failed(type(error).__qualname__)
            if isinstance(error, GiveUp | Overdue):
                _log.warning("job %d of kind %s: %s", job.id, job.kind, error)
            else:
                _log.warning("job %d of kind %s failed at attempt %d", job.id, job.kind, job.attempts, exc_info=True)
            self._ending.fail(job, error)

    def _give_back(self, job: Job) -> None:
        try:
            self._ending.give_back(job)
        except Lost:
            pass  # it ended in the last moment
        except Exception:
            _log.warning("job %d could not be given back; its lease will run out", job.id, exc_info=True)

    def _held(self) -> list[JobContext]:
        with self._lock:
            return list(self._runs)

    def _overdue(self) -> int:
        moment = ids.monotonic()
        return sum(moment > context.deadline for context in self._runs)

    def _wait_for_runs(self, deadline: float) -> None:
        with self._ended:
            self._ended.wait_for(lambda: not self._runs, max(0.0, deadline - ids.monotonic()))

    @staticmethod
    def _join(thread: threading.Thread, deadline: float) -> None:
        if thread.is_alive():
            thread.join(max(0.1, deadline - ids.monotonic()))


def _recorded(job: Job) -> AbstractContextManager[spans.Span]:
    recorder = spans.recorder()
    return spans.NOTHING if recorder is None else recorder.job(job.kind, job.payload.get(spans.CAUSE))
