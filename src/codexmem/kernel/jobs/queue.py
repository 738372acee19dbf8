"""Putting jobs into the queue and looking after them.

A job is enqueued in the transaction that causes it, so there is never one without its cause or a cause without its job.
Running jobs is `worker`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import PRIORITIES, Job, JobStatus, NewJob
from codexmem.kernel.model.memory import MAX_KEY
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.notify import Notifier

JOBS_BELL = "jobs"  # something may be claimable
CANCEL_BELL = "jobs.cancel"  # a running job is to stop
MAX_LISTED = 500


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The job is stored."""

    id: int


@dataclass(frozen=True, slots=True)
class DedupedJob:
    """The same work is already waiting or running; nothing was stored."""


class Queue:
    """The acting tenant's jobs."""

    def __init__(self, db: Database, jobs: Jobs, dispatch: Dispatch, notifier: Notifier, clock: Clock) -> None:
        self._db = db
        self._jobs = jobs
        self._dispatch = dispatch
        self._bell = notifier
        self._clock = clock

    def enqueue(self, job: NewJob) -> Enqueued | DedupedJob:
        """Store the job with the caller's transaction; workers hear of it when that commits.

        A job with a lane holds the lane until the transaction ends: enqueue last, after the rows it speaks of.
        """
        if any(len(key) > MAX_KEY for key in (job.lane, job.dedupe_key, job.subject) if key is not None):
            raise InvalidArgument(f"a lane, dedupe key or subject is longer than {MAX_KEY} characters")
        if job.priority not in PRIORITIES:
            raise InvalidArgument(f"priority {job.priority} is not within {PRIORITIES.start} to {PRIORITIES.stop - 1}")
        with self._db.transaction() as tx:
            job_id = self._jobs.enqueue(job, now_ms=self._clock.now_ms())
            if job_id is None:
                return DedupedJob()
            tx.after_commit(self._ring)
            return Enqueued(job_id)

    def join(self, job_id: int, *, hurry: bool = False) -> bool:
        """Hold a job that has not been tried yet, to give it more in the caller's transaction; False if it is gone.

        Nothing may be enqueued into its lane afterwards, in the same transaction.
        """
        with self._db.transaction() as tx:
            if not self._jobs.join(job_id, hurry_ms=self._clock.now_ms() if hurry else None):
                return False
            if hurry:
                tx.after_commit(self._ring)
            return True

    def hurry(self, job_id: int, lane: str) -> None:
        """Let a job that has not been tried yet wait no longer."""
        with self._db.transaction() as tx:
            self._jobs.hurry(job_id, lane, now_ms=self._clock.now_ms())
            tx.after_commit(self._ring)

    def cancel(self, job_id: int) -> JobStatus:
        """Cancel a waiting job; ask a running one to stop, which it may do later or never. Returns where it stands."""
        with self._db.transaction() as tx:
            status = self._jobs.cancel(job_id, now_ms=self._clock.now_ms())
            if status is None:
                raise NotFound(f"no job {job_id}")
            tx.after_commit(lambda: self._bell.notify(CANCEL_BELL))
            tx.after_commit(self._ring)  # the next of its lane may run
            return status

    def cancel_many(self, job_ids: Sequence[int]) -> dict[int, JobStatus]:
        """The same for many jobs that have no lanes; returns where each stands that is still kept."""
        with self._db.transaction() as tx:
            found = self._jobs.cancel_many(job_ids, now_ms=self._clock.now_ms())
            tx.after_commit(lambda: self._bell.notify(CANCEL_BELL))
            return found

    def hold(self, job: Job) -> bool:
        """Keep others from a job that runs here until the caller's transaction ends; False if it was lost."""
        return self._jobs.hold(job)

    def first_at(self, priority: int) -> int | None:
        """The place in the line of the first job of this priority, of any tenant; never inside a transaction."""
        return self._dispatch.first_at(priority)

    def retry_failed(self, *, subject: str | None = None, limit: int = MAX_LISTED) -> int:
        """Queue failed jobs again, oldest first, with fresh attempts; returns how many."""
        with self._db.transaction() as tx:
            count = self._jobs.retry_failed(subject=subject, limit=min(limit, MAX_LISTED), now_ms=self._clock.now_ms())
            tx.after_commit(self._ring)
            return count

    def retry_step(self, after: int, *, subject: str | None = None, limit: int = MAX_LISTED) -> tuple[int, int | None]:
        """Queue some failed jobs with numbers above `after` again; returns how many, and where to go on unless done.

        Going by number, a job that fails once more while others still have their turn is not retried twice.
        """
        with self._db.transaction() as tx:
            step = self._jobs.retry_beyond(
                after, subject=subject, limit=min(limit, MAX_LISTED), now_ms=self._clock.now_ms()
            )
            tx.after_commit(self._ring)
            return step

    def get(self, job_id: int) -> Job:
        """One job."""
        job = self._jobs.get(job_id)
        if job is None:
            raise NotFound(f"no job {job_id}")
        return job

    def of_subject(self, subject: str, *, limit: int = 50) -> list[Job]:
        """The newest jobs about one subject."""
        return self._jobs.of_subject(subject, limit=min(limit, MAX_LISTED))

    def counts(self) -> dict[JobStatus, int]:
        """How many jobs stand where."""
        return self._jobs.counts()

    def oldest_ready_age_ms(self) -> int | None:
        """How long the first claimable job of any tenant has been waiting for a worker; None if none waits."""
        due = self._dispatch.next_due()
        age = self._clock.now_ms() - due.run_at_ms if due is not None else -1
        return age if age >= 0 else None

    def prune(self, *, ended_before_ms: int, limit: int = MAX_LISTED) -> int:
        """Remove some completed and canceled jobs that ended before; returns how many."""
        return self._jobs.prune(ended_before_ms=ended_before_ms, limit=min(limit, MAX_LISTED))

    # Last in the class: below it, `list` would mean this method to the type checker.
    def list(self, status: JobStatus, *, below: int | None = None, limit: int = 50) -> list[Job]:
        """Jobs of one status, newest first; `below` is the id of the last one of the page before."""
        return self._jobs.newest(status, below=below, limit=min(limit, MAX_LISTED))

    def _ring(self) -> None:
        self._bell.notify(JOBS_BELL)
