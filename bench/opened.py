"""A store with its queue, opened for measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from codexmem.domain.ids import SystemClock
from codexmem.domain.job import Job, JobStatus, NewJob
from codexmem.events.log import Log
from codexmem.jobs.duty import Context, Done, Duty
from codexmem.jobs.queue import Enqueued, Queue
from codexmem.jobs.worker import Worker
from codexmem.store.bell import Bell
from codexmem.store.database import Database, acting_as
from codexmem.store.dispatch import Dispatch
from codexmem.store.events import Events
from codexmem.store.jobs import Jobs
from codexmem.store.opening import open_database

TENANT = "local"


@dataclass
class Opened:
    """A store with its queue."""

    db: Database
    jobs: Jobs
    dispatch: Dispatch
    events: Events
    bell: Bell
    log: Log
    queue: Queue

    def worker(self, duty: Callable[[Job, Context], Done], **options: Any) -> Worker:
        return Worker(
            self.db, self.jobs, self.dispatch, self.log, self.bell, SystemClock(), {"bench": Duty(duty)}, **options
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
    jobs, dispatch, events, bell, clock = Jobs(db), Dispatch(db), Events(db), db.engine.make_bell(), SystemClock()
    try:
        with acting_as(TENANT):
            log = Log(db, events, bell, clock)
            yield Opened(db, jobs, dispatch, events, bell, log, Queue(db, jobs, dispatch, bell, clock))
    finally:
        bell.close()
        db.close()
