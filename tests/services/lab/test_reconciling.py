"""After a crash: runs whose job is gone are put right, and how many is told."""

from __future__ import annotations

import pytest

from codexmem.kernel.jobs.job_kind import JobContext
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.store.database import Database
from codexmem.lab.model import BatchStatus, Run, RunStatus
from tests._support.lab import LabBench, StepAgent
from tests.services.lab.conftest import Build
from tests.services.lab.test_execution import Killed, claim, finish, killing


def begun(lab: LabBench, agent: StepAgent) -> tuple[Run, Job]:
    """A run in the middle of its second step, whose worker is dead."""
    killing(agent, 2)
    _, (run,) = lab.order()
    job = claim(lab)
    with pytest.raises(Killed):
        lab.lab.execution.run(job, JobContext(job, 60))
    return run, job


def change(db: Database, statement: str) -> None:
    """What nobody but an operator at the table would do."""
    with db.transaction() as tx:
        tx.connection.exec_driver_sql(statement)


def test_what_ran_when_the_only_process_died_is_counted_and_goes_on(build: Build) -> None:
    agent = StepAgent()
    lab = build(agent)
    run, _ = begun(lab, agent)
    lab.order(2)
    assert lab.lab.reconciling.begin(alone=True) == 1
    assert lab.lab.system.view().reconciled == 1
    finish(lab)
    assert lab.lab.runs.run(run.id).status is RunStatus.COMPLETED


def test_a_living_workers_run_is_left_alone(build: Build) -> None:
    agent = StepAgent()
    lab = build(agent)
    run, _ = begun(lab, agent)
    assert lab.lab.reconciling.begin(alone=False) == 0
    assert lab.lab.runs.run(run.id).status is RunStatus.RUNNING


def test_a_run_whose_job_is_gone_is_queued_again(build: Build) -> None:
    agent = StepAgent()
    lab = build(agent)
    run, job = begun(lab, agent)
    change(lab.db, "DELETE FROM jobs")
    assert lab.lab.reconciling.begin(alone=False) == 1
    seen = lab.lab.runs.run(run.id)
    assert seen.status is RunStatus.QUEUED
    assert seen.job_id not in {None, job.id}
    finish(lab)
    assert lab.lab.runs.run(run.id).status is RunStatus.COMPLETED
    assert lab.lab.reconciling.begin(alone=False) == 0


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_a_run_whose_job_ended_without_it_ends_the_same_way(build: Build, status: str) -> None:
    agent = StepAgent()
    lab = build(agent)
    run, _ = begun(lab, agent)
    change(lab.db, f"UPDATE jobs SET status = '{status}', ended_ms = 1, error = '表被改过'")
    assert lab.lab.reconciling.begin(alone=False) == 1
    seen = lab.lab.runs.run(run.id)
    assert seen.status.value == status
    assert lab.lab.runs.batch(run.batch_id).status is BatchStatus(status)
    assert lab.types(run)[-1] == f"run_{status}"
    if status == "failed":
        assert seen.error == "表被改过"


def test_a_job_canceled_at_the_queue_cancels_its_run(build: Build) -> None:
    lab = build(StepAgent())
    _, (run,) = lab.order()
    job = claim(lab)
    assert lab.queue.cancel(job.id) is JobStatus.RUNNING
    lab.worker().reclaim()
    assert lab.queue.get(job.id).status is JobStatus.CANCELED
    assert lab.lab.runs.run(run.id).status is RunStatus.CANCELED
    assert lab.types(run) == ["run_canceled"]


def test_a_failed_job_that_is_retried_leaves_an_ended_run_alone(build: Build) -> None:
    agent = StepAgent()
    lab = build(agent)
    run, _ = begun(lab, agent)
    change(lab.db, "UPDATE jobs SET status = 'failed', ended_ms = 1, error = 'x'")
    lab.lab.reconciling.begin(alone=False)
    assert lab.queue.retry_failed() == 1
    finish(lab)
    assert lab.lab.runs.run(run.id).status is RunStatus.FAILED
    assert lab.types(run)[-1] == "run_failed"
