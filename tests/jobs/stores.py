"""Empty stores for queue tests, with everything that stands on them.

Workers see the jobs of all tenants, so on PostgreSQL these tests have a database of their own, emptied before each.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from codexmem.kernel.events.live import Live
from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.job_kind import JobKinds
from codexmem.kernel.jobs.queue import Enqueued, Queue
from codexmem.kernel.jobs.worker import Worker
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.job import Job, JobStatus, NewJob
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.notify import Notifier
from codexmem.kernel.store.opening import open_database, sqlite_url, upgrade_store
from tests._support.postgres import PostgresServer
from tests._support.waiting import eventually

TENANT = "local"
_urls: dict[int, str] = {}


@dataclass
class Parts:
    """A store and what is built on it."""

    url: str
    db: Database
    jobs: Jobs
    dispatch: Dispatch
    events: EventTable
    notifier: Notifier
    log: Log
    queue: Queue
    live: Live

    @classmethod
    def of(cls, url: str, db: Database) -> Parts:
        jobs, dispatch, events, notifier, clock = (
            Jobs(db),
            Dispatch(db),
            EventTable(db),
            db.engine.make_bell(),
            SystemClock(),
        )
        log = Log(db, events, notifier, clock)
        return cls(url, db, jobs, dispatch, events, notifier, log, Queue(db, jobs, dispatch, notifier, clock),
                   Live(db, events, notifier))  # fmt: skip

    def worker(self, job_kinds: JobKinds, **options: Any) -> Worker:
        options = {"threads": 2, "lease_ms": 600, "look_s": 0.2, **options}
        clock = options.pop("clock", SystemClock())
        return Worker(self.db, self.jobs, self.dispatch, self.log, self.notifier, clock, job_kinds, **options)

    @contextmanager
    def working(self, job_kinds: JobKinds, **options: Any) -> Iterator[Worker]:
        """A worker that runs during the block."""
        worker = self.worker(job_kinds, **options)
        worker.start()
        try:
            yield worker
        finally:
            worker.stop()

    def put(self, kind: str = "note", **fields: Any) -> int:
        """Enqueue through the queue; returns the id."""
        outcome = self.queue.enqueue(NewJob(kind, fields.pop("payload", {}), **fields))
        assert isinstance(outcome, Enqueued)
        return outcome.id

    def store(self, kind: str = "note", *, now_ms: int = 1_000, **fields: Any) -> int | None:
        """Enqueue at a time of the test's choice."""
        return self.jobs.enqueue(NewJob(kind, fields.pop("payload", {}), **fields), now_ms=now_ms)

    def claim(self, worker: str = "w1", *, limit: int = 10, now_ms: int = 1_000, lease_ms: int = 30_000) -> list[Job]:
        return self.dispatch.claim(worker, limit=limit, lease_ms=lease_ms, now_ms=now_ms)

    def claim_ids(self, worker: str = "w1", **options: Any) -> list[int]:
        return [job.id for job in self.claim(worker, **options)]

    def end(self, job: Job, status: JobStatus = JobStatus.COMPLETED, *, now_ms: int = 1_000) -> bool:
        return self.jobs.finish(job, status, now_ms=now_ms)

    def job(self, job_id: int) -> Job:
        job = self.jobs.get(job_id)
        assert job is not None
        return job

    def status(self, job_id: int) -> JobStatus:
        return self.job(job_id).status

    def wait_for(self, *job_ids: int, status: JobStatus = JobStatus.COMPLETED) -> None:
        eventually(lambda: all(self.status(each) is status for each in job_ids))


def stale(job: Job, **changes: Any) -> Job:
    """The job as another worker might remember it."""
    return replace(job, **changes)


@contextmanager
def empty_store(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    """Everything on an empty store of this engine, acting as its one tenant."""
    if engine_name == "sqlite":
        path = tmp_path / "codexmem.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        url = sqlite_url(path)
    else:
        url = _emptied(request.getfixturevalue("postgres_server"))
    db = open_database(url)
    parts = Parts.of(url, db)
    try:
        with acting_as(TENANT):
            yield parts
    finally:
        parts.notifier.close()
        db.close()


def _emptied(server: PostgresServer) -> str:
    if server.port not in _urls:
        _urls[server.port] = server.create_database("codexmem_queue")
        upgrade_store(_urls[server.port])
    with psycopg.connect(_urls[server.port], autocommit=True) as connection:
        connection.execute("TRUNCATE jobs, events RESTART IDENTITY")
    return _urls[server.port]
