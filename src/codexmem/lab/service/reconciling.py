"""After a crash: runs whose job is gone are put right.

A run moves with its job in one transaction, so this finds what somebody else has done to the queue's table, or what an
older program left behind: a run that waits or runs although its job has ended or is no longer there.

What somebody who watches the lab asks: is a worker at work, what waits, what was put right at the start.
"""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model import ids
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.store import depth
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.jobs import Jobs
from codexmem.lab.model import BatchStatus, Run, RunStatus
from codexmem.lab.service.execution import RunTransitions
from codexmem.lab.service.runs import enqueue
from codexmem.lab.store.runs import RunTable

_STEP = 200


class Reconciling:
    """Looks through the acting tenant's unfinished runs; costs a step for each of them."""

    def __init__(
        self, db: Database, runs: RunTable, jobs: Jobs, moves: RunTransitions, queue: Queue, clock: Clock
    ) -> None:
        self._db = db
        self._runs = runs
        self._jobs = jobs
        self._moves = moves
        self._queue = queue
        self._clock = clock
        self.reconciled = 0  # runs found running with nobody to execute them, since this process began

    def begin(self, *, alone: bool) -> int:
        """Put right what is not; returns how many runs were said to run and did not.

        `alone` says that no other process can hold a job, so that whatever runs has lost its worker.
        """
        found = sum(self._look(status, alone=alone) for status in (RunStatus.RUNNING, RunStatus.QUEUED))
        self.reconciled += found
        return found

    def _look(self, status: RunStatus, *, alone: bool) -> int:
        found, below, more = 0, None, True
        while more:
            page, below = self._runs.runs_page(statuses=[status], below=below, limit=_STEP)
            more = below is not None
            jobs = {job.id: job for job in self._jobs.many([run.job_id for run in page if run.job_id is not None])}
            for run in page:
                job = jobs.get(run.job_id or 0)
                lost = job is None or job.ended_ms is not None
                if lost:
                    self._put_right(run, job)
                found += (lost or alone) and status is RunStatus.RUNNING
        return found

    def _put_right(self, run: Run, job: Job | None) -> None:
        with self._db.transaction():
            match job.status if job is not None else None:
                case JobStatus.FAILED:
                    error = (job.error if job is not None else None) or "its job failed"
                    if self._moves.failed(run.id, run.batch_id, error):
                        return
                    self._moves.canceled(run.id, run.batch_id)
                case JobStatus.CANCELED:
                    self._runs.mark([run.id], cancel_id=ids.prefixed("cancel"), reason="its job was canceled")
                    self._moves.canceled(run.id, run.batch_id)
                case _ if run.cancel_id is not None:
                    self._moves.canceled(run.id, run.batch_id)
                case _:
                    self._runs.requeue(run.id)
                    job_id = enqueue(self._queue, run.id, place_ms=self._clock.now_ms())
                    if job_id is not None:
                        self._runs.rejoin(run.id, job_id)


LEARN = "lab.learn"  # the kind of job that learns from a run


@dataclass(frozen=True, slots=True)
class Watch:
    """Whether a worker of this process works."""

    enabled: bool
    running: bool
    poll_interval_s: float  # at most so long until it looks, if a wake-up was lost


@dataclass(frozen=True, slots=True)
class SystemView:
    """One look."""

    at_ms: int
    worker: Watch
    runs: dict[RunStatus, int]
    batches: dict[BatchStatus, int]
    learning: dict[JobStatus, int]
    reconciled: int


class System:
    """Looks when asked; each status is counted up to a limit, so a look costs no more as the lab grows."""

    def __init__(
        self, db: Database, runs: RunTable, reconciling: Reconciling, clock: Clock, watch: Callable[[], Watch]
    ) -> None:
        self._db = db
        self._runs = runs
        self._reconciling = reconciling
        self._clock = clock
        self._watch = watch

    def view(self) -> SystemView:
        """How it stands."""
        runs, batches = self._runs.counts()
        learning = depth.by_status(self._db, LEARN)
        return SystemView(self._clock.now_ms(), self._watch(), runs, batches, learning, self._reconciling.reconciled)
