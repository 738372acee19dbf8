"""Health always answers; readiness tells a queue that stands from one that is merely long."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from codexmem.kernel.model.job import JobStatus, NewJob
from codexmem.kernel.services.status import STALL_MS, Phase, ServerStatus
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.dispatch import Dispatch
from codexmem.kernel.store.jobs import Jobs
from codexmem.kernel.store.opening import open_database, upgrade_store
from tests._support.postgres import PostgresServer

_names = itertools.count(1)
T0 = 1_700_000_000_000


@dataclass
class MovingClock:
    ms: int = T0

    def now_ms(self) -> int:
        return self.ms

    def pass_s(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)


@pytest.fixture
def alone(engine_name: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A store of this test's own: readiness looks at the jobs of all tenants."""
    if engine_name == "sqlite":
        yield request.getfixturevalue("sqlite_database")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_store(f"status{next(_names)}")
    db = open_database(url)
    yield db
    db.close()


@dataclass
class Watched:
    db: Database
    clock: MovingClock
    status: ServerStatus
    tenant: str

    def enqueue(self, count: int = 1, *, delay_ms: int = 0, priority: int = 0) -> None:
        with acting_as(self.tenant):
            for _ in range(count):
                Jobs(self.db).enqueue(NewJob("k", {}, delay_ms=delay_ms, priority=priority), now_ms=self.clock.ms)

    def claim(self) -> None:
        Dispatch(self.db).claim("w", limit=1, lease_ms=20_000, now_ms=self.clock.ms)

    def run_one(self) -> None:
        [job] = Dispatch(self.db).claim("w", limit=1, lease_ms=20_000, now_ms=self.clock.ms)
        with acting_as(self.tenant):
            assert Jobs(self.db).finish(job, JobStatus.COMPLETED, now_ms=self.clock.ms)

    def try_one(self, again_after_s: float) -> None:
        """A job that failed and is put back for later."""
        [job] = Dispatch(self.db).claim("w", limit=1, lease_ms=20_000, now_ms=self.clock.ms)
        later = self.clock.ms + int(again_after_s * 1000)
        with acting_as(self.tenant):
            assert Jobs(self.db).postpone(job, run_at_ms=later, error="no", error_class="X", refund=False)

    def phase(self) -> Phase:
        return self.status.readiness().phase


@pytest.fixture
def watched(alone: Database, tenant: str) -> Watched:
    clock = MovingClock()
    status = ServerStatus(version="1.2.3", clock=clock)
    status.opened(alone)
    return Watched(alone, clock, status, tenant)


def test_before_the_store_is_open_we_are_alive_but_not_ready() -> None:
    status = ServerStatus(version="1.2.3", clock=MovingClock())
    health = status.health()
    assert (health.version, health.initialized, health.pid) == ("1.2.3", False, os.getpid())
    assert health.uptime_s >= 0
    assert not status.readiness().ready
    assert status.readiness().phase is Phase.INITIALIZING
    status.waiting_for("PostgreSQL does not answer")
    assert status.readiness().reason == "PostgreSQL does not answer"
    status.failed("no")
    assert status.readiness().phase is Phase.FAILED


def test_an_idle_store_is_ready(watched: Watched) -> None:
    assert watched.status.health().initialized
    assert watched.status.readiness().ready
    watched.clock.pass_s(3600)
    assert watched.status.readiness().ready
    watched.status.stopping()
    assert watched.phase() is Phase.STOPPING


def test_a_job_that_nobody_takes_for_a_minute_is_a_stall(watched: Watched) -> None:
    watched.enqueue()
    watched.clock.pass_s(STALL_MS / 1000)
    assert watched.phase() is Phase.READY
    watched.clock.pass_s(1)
    readiness = watched.status.readiness()
    assert readiness.phase is Phase.STALLED
    assert "61 s" in str(readiness.reason)
    assert readiness.ready  # requests succeed, whoever is to do the work
    watched.run_one()
    assert watched.phase() is Phase.READY


def test_a_stall_shows_at_the_first_look(watched: Watched) -> None:
    """Nobody may have asked before: silence is not progress."""
    watched.enqueue()
    watched.clock.pass_s(300)
    assert watched.phase() is Phase.STALLED


def test_a_delayed_job_is_not_waiting(watched: Watched) -> None:
    watched.enqueue(delay_ms=600_000, priority=5)
    watched.clock.pass_s(300)
    assert watched.phase() is Phase.READY
    watched.enqueue()
    watched.clock.pass_s(70)
    assert watched.phase() is Phase.STALLED


def test_a_long_queue_that_is_worked_off_is_no_stall(watched: Watched) -> None:
    watched.enqueue(10)  # all at one moment, as an import does
    for _ in range(8):
        watched.clock.pass_s(50)
        watched.run_one()
        assert watched.phase() is Phase.READY
    watched.clock.pass_s(61)
    assert watched.phase() is Phase.STALLED


def test_jobs_that_were_started_lately_are_progress(watched: Watched) -> None:
    watched.enqueue(2)
    watched.clock.pass_s(90)
    watched.claim()
    assert watched.phase() is Phase.READY
    watched.clock.pass_s(61)  # its worker was stopped in the middle and nobody else claims
    assert watched.phase() is Phase.STALLED


@pytest.mark.postgresql
def test_a_store_that_does_not_answer_is_not_ready() -> None:
    with PostgresServer() as server:
        url = server.create_database("gone")
        upgrade_store(url)
        db = open_database(url)
        status = ServerStatus(version="1", clock=MovingClock())
        status.opened(db)
        assert status.readiness().ready
        server.stop("immediate")
        readiness = status.readiness()
        assert readiness.phase is Phase.UNAVAILABLE
        assert "postgres" not in str(readiness.reason).lower()
        server.start()
        assert status.readiness().ready
        db.close()


def test_a_job_that_joins_before_the_others_is_no_sign_of_work(watched: Watched) -> None:
    watched.enqueue()
    watched.clock.pass_s(300)
    assert watched.phase() is Phase.STALLED
    watched.enqueue(priority=5)
    assert watched.phase() is Phase.STALLED


def test_a_job_that_was_tried_and_put_back_is_a_sign_of_work(watched: Watched) -> None:
    watched.enqueue(10)
    for _ in range(4):
        watched.clock.pass_s(50)
        assert watched.phase() is Phase.READY
        watched.try_one(again_after_s=5)
    watched.clock.pass_s(50)
    assert watched.phase() is Phase.READY
    watched.clock.pass_s(61)
    assert watched.phase() is Phase.STALLED
