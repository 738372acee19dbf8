"""How a run of a job ends: completed with its effect, back to the queue, failed with an event, or canceled.

Each ending is one transaction, fenced by worker and attempt, so that a run which lost its job leaves no trace. A lost
connection leaves open whether the transaction committed; trying again is safe, because the fence then fails.
"""

import logging
import random
import threading
from collections.abc import Callable

from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.job_kind import Done, JobKinds, Lost, Overdue
from codexmem.kernel.jobs.queue import JOBS_BELL
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, RateLimited, Unavailable
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import (
    MAX_DELAY_MS,
    WORKER_LOST,
    GiveUp,
    Job,
    JobStatus,
    RetryLater,
    backoff_ms,
    is_hopeless,
)
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.notify import Notifier

PAUSES_S = (0.05, 0.2, 0.5, 1.0, 2.0)  # between tries while the store does not answer
_MAX_ERROR = 300

_log = logging.getLogger(__name__)


class JobOutcomes:
    """Writes the ends of runs; every call acts for the job's own tenant."""

    def __init__(self, db: Database, jobs: Jobs, log: Log, notifier: Notifier, clock: Clock, job_kinds: JobKinds, *,
                 checkpoint: Callable[[str], None]) -> None:  # fmt: skip
        self._db = db
        self._jobs = jobs
        self._events = log
        self._bell = notifier
        self._clock = clock
        self._duties = job_kinds
        self._checkpoint = checkpoint
        self.hurried = threading.Event()  # set when the worker must be gone soon: no more waiting for the store

    def complete(self, job: Job, done: Done) -> None:
        """The effect and the end of the job, both or neither; raises Lost, or what the effect raised."""

        def end() -> None:
            with self._db.transaction() as tx:
                if done.effect is not None:
                    done.effect()
                if not self._jobs.finish(job, JobStatus.COMPLETED, now_ms=self._clock.now_ms(), result=done.result):
                    raise Lost(f"job {job.id} is no longer ours")
                self._checkpoint("before_commit")
                if job.lane is not None:
                    tx.after_commit(self._ring)

        self._insist(job, end)

    def fail(self, job: Job, error: Exception) -> None:
        """After an error of a handler: try again later, or fail for good with an event."""
        retry = _retry_delay_ms(job, error)
        text, error_class = describe(error), classify(error)

        def end() -> None:
            now_ms = self._clock.now_ms()
            with self._db.transaction() as tx:
                if retry is not None:
                    if self._jobs.postpone(
                        job, run_at_ms=now_ms + retry, error=text, error_class=error_class, refund=False
                    ):
                        self._tell(job, JobStatus.QUEUED, text)
                        return
                    # Canceled meanwhile, or no longer ours: the fence tells which.
                    status = JobStatus.CANCELED
                else:
                    status = JobStatus.FAILED
                if not self._jobs.finish(job, status, now_ms=now_ms, error=text, error_class=error_class):
                    raise Lost(f"job {job.id} is no longer ours")
                if status is JobStatus.FAILED:
                    self._events.append(failure_event(job, text, error_class))
                self._tell(job, status, text)
                if job.lane is not None:
                    tx.after_commit(self._ring)

        self._insist(job, end)

    def cancel(self, job: Job) -> None:
        """The run has stopped because someone asked."""

        def end() -> None:
            with self._db.transaction() as tx:
                if not self._jobs.finish(job, JobStatus.CANCELED, now_ms=self._clock.now_ms()):
                    raise Lost(f"job {job.id} is no longer ours")
                self._tell(job, JobStatus.CANCELED, "")
                tx.after_commit(self._ring)

        self._insist(job, end)

    def give_back(self, job: Job) -> None:
        """The worker is shutting down: the job is claimable at once, the attempt not counted."""

        def end() -> None:
            now_ms, status = self._clock.now_ms(), JobStatus.QUEUED
            with self._db.transaction() as tx:
                if not self._jobs.postpone(
                    job, run_at_ms=_own_place(job, now_ms), error=job.error, error_class=job.error_class, refund=True
                ):
                    status = JobStatus.CANCELED
                    if not self._jobs.finish(job, status, now_ms=now_ms):
                        raise Lost(f"job {job.id} is no longer ours")
                self._tell(job, status, "its worker was stopped")
                tx.after_commit(self._ring)

        self._insist(job, end)

    def take_away(self, job: Job) -> bool:
        """A worker vanished: its job goes back to the queue, or fails if it is likely to take the next one along.

        False if it was not taken: the lease was renewed, or somebody else was faster.
        """
        with acting_as(job.tenant):
            now_ms = self._clock.now_ms()
            again = None if is_hopeless(job) else _own_place(job, now_ms)
            if again is not None and job.error_class == WORKER_LOST:
                again = now_ms + backoff_ms(job.attempts, _jitter())  # not beside the same neighbours once more
            error = f"its worker vanished during attempt {job.attempts} of {job.max_attempts}"
            with self._db.transaction() as tx:
                status = self._jobs.take_away(
                    job, now_ms=now_ms, retry_at_ms=again, error=error, error_class=WORKER_LOST
                )
                if status is JobStatus.FAILED:
                    self._events.append(failure_event(job, error, WORKER_LOST))
                if status is not None:
                    self._tell(job, status, error)
                    tx.after_commit(self._ring)
            if status is not None:
                _log.warning("job %d of kind %s lost its worker, now %s", job.id, job.kind, status.value)
            return status is not None

    def _insist(self, job: Job, end: Callable[[], None]) -> None:
        with acting_as(job.tenant):
            for pause in PAUSES_S:
                try:
                    return end()
                except Unavailable as error:
                    _log.warning("job %d cannot be ended yet: %s", job.id, error.message)
                    if self.hurried.wait(pause):
                        break
            return end()

    def _tell(self, job: Job, status: JobStatus, why: str) -> None:
        job_kind = self._duties.get(job.kind)
        if job_kind is not None and job_kind.moved is not None:
            job_kind.moved(job, status, why)

    def _ring(self) -> None:
        self._bell.notify(JOBS_BELL)


def describe(error: Exception) -> str:
    """One line for people: further lines of a driver's error would show the values it was given."""
    if isinstance(error, CodexmemError | RetryLater | GiveUp):
        return str(error)[:_MAX_ERROR]
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:_MAX_ERROR].removesuffix(": ")


def classify(error: Exception) -> str:
    """The class under which failures are counted."""
    match error:
        case RetryLater() | GiveUp():
            return error.error_class
        case RateLimited():
            return "rate_limit"
        case InvalidArgument():
            return "unrecoverable"
        case Overdue():
            return "timeout"
        case CodexmemError() | OSError():
            return "transient"
        case _:
            return "internal"


def failure_event(job: Job, error: str, error_class: str) -> NewEvent:
    """The line in the log that a job has failed for good."""
    payload = {"kind": job.kind, "subject": job.subject, "attempts": job.attempts, "error": error,
               "error_class": error_class}  # fmt: skip
    return NewEvent(EventType.QUEUE_FAILED, subject=f"job:{job.id}", payload=payload)


def _retry_delay_ms(job: Job, error: Exception) -> int | None:
    """How long to wait before the next attempt; None when there is to be none."""
    if isinstance(error, GiveUp | InvalidArgument) or job.attempts >= job.max_attempts:
        return None
    if isinstance(error, RetryLater) and error.delay_ms is not None:
        return max(0, min(error.delay_ms, MAX_DELAY_MS))
    return backoff_ms(job.attempts, _jitter())


def _own_place(job: Job, now_ms: int) -> int:
    """A job that was interrupted keeps its place among those of its priority: behind a backlog it would wait twice."""
    return min(job.run_at_ms, now_ms)


def _jitter() -> float:
    return random.random()  # noqa: S311 - spreads retries, protects nothing
