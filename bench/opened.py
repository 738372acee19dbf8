"""A store with its queue, opened for measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.job_kind import Done, JobContext, JobKind
from codexmem.kernel.jobs.queue import Enqueued, Queue
from codexmem.kernel.jobs.worker import Worker
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.job import Job, JobStatus, NewJob
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.notify import Notifier
from codexmem.kernel.store.opening import open_database

TENANT = "local"


@dataclass
class Opened:
    """A store with its queue."""

    db: Database
    jobs: Jobs
    dispatch: Dispatch
    events: EventTable
    notifier: Notifier
    log: Log
    queue: Queue

    def worker(self, job_kind: Callable[[Job, JobContext], Done], **options: Any) -> Worker:
        return Worker(
            self.db,
            self.jobs,
            self.dispatch,
            self.log,
            self.notifier,
            SystemClock(),
            {"bench": JobKind(job_kind)},
            **options,
        )

    def put(self, **fields: Any) -> int:
        outcome = self.queue.enqueue(NewJob("bench", {}, **fields))
        assert isinstance(outcome, Enqueued)
        return outcome.id

    def unfinished(self) -> int:
        counts = self.queue.counts()
        return counts[JobStatus.QUEUED] + counts[JobStatus.RUNNING]


@contextmanager
def opened(url: str) -> Iterator[Opened]:
    db = open_database(url, pool_size=8)
    jobs, dispatch, events, notifier, clock = (
        Jobs(db),
        Dispatch(db),
        EventTable(db),
        db.engine.make_bell(),
        SystemClock(),
    )
    try:
        with acting_as(TENANT):
            log = Log(db, events, notifier, clock)
            yield Opened(db, jobs, dispatch, events, notifier, log, Queue(db, jobs, dispatch, notifier, clock))
    finally:
        notifier.close()
        db.close()
