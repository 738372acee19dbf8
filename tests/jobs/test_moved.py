"""What a job was about hears of its moves, in the transaction of each; and an interrupted job keeps its place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.kernel.jobs.job_kind import Done, JobContext, JobKind
from codexmem.kernel.model.job import PATIENT, GiveUp, Job, JobStatus, RetryLater
from tests._support.waiting import eventually
from tests.jobs.stores import Parts, empty_store

Told = list[tuple[int, JobStatus, str, JobStatus]]


@pytest.fixture
def parts(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Parts]:
    """An empty store of each engine."""
    with empty_store(engine_name, tmp_path, request) as made:
        yield made


def listening(parts: Parts, told: Told) -> JobKind:
    """A kind of job that does what its job's payload says, and notes what it is told and what the table says then."""
    begun = threading.Event()

    def run(job: Job, context: JobContext) -> Done:
        match job.payload.get("do"):
            case "retry" if job.attempts == 1:
                raise RetryLater("busy", delay_ms=0)
            case "fail":
                raise GiveUp("坏了")
            case "wait":
                begun.set()
                while True:
                    context.wait(0.01)
        return Done()

    def moved(job: Job, status: JobStatus, why: str) -> None:
        told.append((job.id, status, why, parts.status(job.id)))

    return JobKind(run, moved=moved)


def test_every_move_but_success_is_told(parts: Parts) -> None:
    told: Told = []
    again = parts.put("note", payload={"do": "retry"})
    fails = parts.put("note", payload={"do": "fail"})
    fine = parts.put("note")
    with parts.working({"note": listening(parts, told)}):
        parts.wait_for(again, fine)
        parts.wait_for(fails, status=JobStatus.FAILED)
    assert sorted(told) == sorted([
        (again, JobStatus.QUEUED, "busy", JobStatus.QUEUED), (fails, JobStatus.FAILED, "坏了", JobStatus.FAILED),
    ])  # fmt: skip


def test_canceling_stopping_and_vanishing_are_told(parts: Parts) -> None:
    told: Told = []
    job_kind = listening(parts, told)
    canceled = parts.put("note", payload={"do": "wait"})
    with parts.working({"note": job_kind}):
        parts.wait_for(canceled, status=JobStatus.RUNNING)
        parts.queue.cancel(canceled)
        parts.wait_for(canceled, status=JobStatus.CANCELED)
    assert [each[:2] for each in told] == [(canceled, JobStatus.CANCELED)]
    given_back = parts.put("note", payload={"do": "wait"})
    worker = parts.worker({"note": job_kind})
    worker.start()
    parts.wait_for(given_back, status=JobStatus.RUNNING)
    worker.stop(0.4)
    assert [each[:2] for each in told[1:]] == [(given_back, JobStatus.QUEUED)]
    (job,) = parts.dispatch.claim("dead", limit=1, lease_ms=60_000, now_ms=2**41)
    assert parts.worker({"note": job_kind}).reclaim() == 1
    assert told[2][:2] == (job.id, JobStatus.QUEUED)
    assert "vanished" in told[2][2]


def test_who_cannot_be_told_does_not_keep_the_others(parts: Parts) -> None:
    def moved(job: Job, status: JobStatus, why: str) -> None:
        if job.payload.get("do") == "poison":
            raise RuntimeError("cannot hear")

    job_kind = JobKind(lambda job, context: Done(), moved=moved)
    poisoned, healthy = parts.put("note", payload={"do": "poison"}), parts.put("note")
    parts.dispatch.claim("dead", limit=2, lease_ms=60_000, now_ms=2**41)
    assert parts.worker({"note": job_kind}).reclaim() == 1
    # All or nothing: the job whose hearer failed is still its worker's.
    assert (parts.status(poisoned), parts.status(healthy)) == (JobStatus.RUNNING, JobStatus.QUEUED)


def test_an_interrupted_job_keeps_its_place_before_a_backlog(parts: Parts) -> None:
    first = parts.store(now_ms=1_000)
    parts.dispatch.claim("dead", limit=1, lease_ms=10, now_ms=2_000)
    later = parts.store(now_ms=3_000)
    assert parts.worker({}).reclaim() == 1
    assert parts.claim_ids("next", limit=2, now_ms=2**41) == [first, later]


def test_patient_jobs_leave_a_thread(parts: Parts) -> None:
    slow = [parts.store(priority=PATIENT) for _ in range(4)]
    quick = [parts.store(), parts.store(priority=-9)]
    claimed = [job.id for job in parts.dispatch.claim("w", limit=5, lease_ms=9, now_ms=9_000, patient=2)]
    assert claimed == [quick[0], *slow[:2], quick[1]]
    assert parts.dispatch.claim("w", limit=5, lease_ms=9, now_ms=9_000, patient=0) == []
    assert parts.dispatch.next_due(patient=False) is None
    assert parts.dispatch.next_due() is not None
    assert parts.dispatch.first_at(PATIENT) == 1_000
    assert parts.dispatch.first_at(0) is None


def test_a_saturated_worker_sleeps(parts: Parts) -> None:
    """With a backlog of patient jobs and all their threads taken, nobody asks the queue over and over."""
    opened = threading.Event()

    def run(job: Job, context: JobContext) -> Done:
        while not opened.wait(0.01):
            context.check()
        return Done()

    for _ in range(6):
        parts.put("slow", priority=PATIENT)
    try:
        with parts.working({"slow": JobKind(run)}, threads=3, look_s=5.0, lease_ms=20_000) as worker:
            eventually(lambda: worker.progress().running == 2)
            assert worker._claim() == 5.0
            opened.set()
            eventually(lambda: parts.queue.counts()[JobStatus.COMPLETED] == 6)
    finally:
        opened.set()
