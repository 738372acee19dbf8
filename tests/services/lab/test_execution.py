"""Executing runs: what is done is done once, whoever dies; what cannot be done ends with a reason."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest

from codexmem.kernel.jobs.job_kind import JobContext, Lost
from codexmem.kernel.model.errors import Conflict, InvalidArgument, Unavailable
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.job import Job, JobStatus, RetryLater
from codexmem.lab.model import BatchStatus, RunOutput, RunStatus, RunTask
from codexmem.lab.service.execution import Unequipped
from codexmem.lab.service.journal import MAX_RESULT_CHARS, Journal
from tests._support.lab import SECRET, LabBench, StepAgent
from tests._support.waiting import eventually
from tests.services.lab.conftest import Build


class Killed(BaseException):
    """As if the process ended here: nothing that follows is executed."""


def claim(lab: LabBench, worker: str = "doomed") -> Job:
    (job,) = lab.dispatch.claim(worker, limit=1, lease_ms=20_000, now_ms=lab.clock.now_ms())
    return job


def die_at(lab: LabBench, worker: str = "doomed") -> Job:
    """A worker that claims the next run and is killed inside it."""
    job = claim(lab, worker)
    with pytest.raises(Killed):
        lab.lab.execution.run(job, JobContext(job, 60))
    return job


def finish(lab: LabBench) -> None:
    """Another worker comes, finds the dead one's jobs and does all that is left."""
    worker = lab.worker()
    worker.reclaim()
    worker.start()
    try:
        eventually(lambda: _idle(lab))
    finally:
        worker.stop(2.0)


def _idle(lab: LabBench) -> bool:
    counts = lab.queue.counts()  # one look: between two a job may come back to the queue
    return not counts[JobStatus.QUEUED] and not counts[JobStatus.RUNNING]


def killing(agent: StepAgent, at: int, *, times: int = 1) -> None:
    left = [times]

    def during(task: RunTask, journal: Journal, number: int) -> None:
        if number == at and left[0]:
            left[0] -= 1
            raise Killed

    agent.during = during


@pytest.mark.parametrize("at", [1, 2, 3])
def test_after_a_crash_a_run_goes_on_from_its_journal(build: Build, at: int) -> None:
    agent = StepAgent()
    lab = build(agent)
    killing(agent, at)
    batch, (run,) = lab.order()
    die_at(lab)
    assert lab.lab.runs.run(run.id).status is RunStatus.RUNNING
    finish(lab)
    assert lab.lab.runs.run(run.id).status is RunStatus.COMPLETED
    assert lab.lab.runs.batch(batch.id).status is BatchStatus.COMPLETED
    # The call during which the worker died was made twice, and the trace says so; the others once.
    calls = Counter(key for _, key in agent.done)
    assert calls == {f"model:{n}": 2 if n == at else 1 for n in (1, 2, 3)}
    asked = Counter(event.payload["key"] for event in lab.trace(run, EventType.LLM_REQUEST) if event.payload)
    assert asked == calls
    answered = Counter(event.payload["key"] for event in lab.trace(run, EventType.LLM_RESPONSE) if event.payload)
    assert set(answered.values()) == {1}
    assert lab.types(run).count("run_started") == 1
    assert lab.types(run).count("run_resumed") == 1
    assert lab.lab.runs.run(run.id).steps == 3


def test_between_a_crash_and_the_next_worker_the_run_waits(build: Build) -> None:
    agent = StepAgent()
    lab = build(agent)
    killing(agent, 2)
    _, (run,) = lab.order()
    die_at(lab)
    assert lab.worker().reclaim() == 1
    seen = lab.lab.runs.run(run.id)
    assert (seen.status, seen.steps) == (RunStatus.QUEUED, 1)
    assert lab.queue.get(run.job_id or 0).status is JobStatus.QUEUED


def test_a_worker_that_lost_its_run_can_write_nothing(build: Build) -> None:
    """It was slow, not dead: its job was taken away in the middle of a step."""
    agent = StepAgent()
    lab = build(agent)
    late: list[BaseException] = []

    def taken(task: RunTask, journal: Journal, number: int) -> None:
        agent.during = lambda task, journal, number: None
        assert lab.worker().reclaim() == 1
        try:
            journal.note(EventType.RECAP_INFO, {"too": "late"})
        except Lost as error:
            late.append(error)
        with pytest.raises(Lost):
            journal.record("model:1", {"said": "too late"}, (EventType.LLM_RESPONSE, {}))
        raise Lost("as the worker would")

    agent.during = taken
    _, (run,) = lab.order()
    job = claim(lab)
    with pytest.raises(Lost):
        lab.lab.execution.run(job, JobContext(job, 60))
    finish(lab)
    assert len(late) == 1
    assert "recap_info" not in lab.types(run)
    assert lab.lab.runs.run(run.id).status is RunStatus.COMPLETED
    output = lab.lab.runs.output(run.id)
    assert "too late" not in str(output)


def test_a_late_end_is_fenced_off(build: Build) -> None:
    lab = build(StepAgent())
    _, (run,) = lab.order()
    job = claim(lab)
    done = lab.lab.execution.run(job, JobContext(job, 60))
    assert done.effect is not None
    assert lab.worker().reclaim() == 1
    with pytest.raises(Lost):
        done.effect()
    assert lab.lab.runs.run(run.id).status is RunStatus.QUEUED
    finish(lab)
    assert lab.types(run).count("final_output") == 1


@pytest.mark.slow
def test_a_run_that_takes_its_worker_along_three_times_fails(build: Build) -> None:
    agent = StepAgent()
    lab = build(agent)
    killing(agent, 2, times=99)
    batch, (run,) = lab.order()
    for attempt in range(3):
        eventually(lambda: lab.dispatch.next_due() is not None)
        eventually(lambda: (lab.dispatch.next_due() or None).run_at_ms <= lab.clock.now_ms())  # type: ignore[union-attr]
        die_at(lab, f"doomed-{attempt}")
        assert lab.worker().reclaim() == 1
    seen = lab.lab.runs.run(run.id)
    assert (seen.status, lab.lab.runs.batch(batch.id).status) == (RunStatus.FAILED, BatchStatus.FAILED)
    assert "vanished" in str(seen.error)
    assert lab.types(run)[-1] == "run_failed"


def test_a_stopped_worker_gives_its_run_back(build: Build) -> None:
    begun, opened, agent = threading.Event(), threading.Event(), StepAgent()

    def hang(task: RunTask, journal: Journal, number: int) -> None:
        begun.set()
        while not opened.wait(0.005):
            journal.check()

    agent.during = hang
    lab = build(agent)
    batch, (run,) = lab.order()
    worker = lab.worker()
    worker.start()
    assert begun.wait(60)
    worker.stop(0.5)
    opened.set()
    seen = lab.lab.runs.run(run.id)
    assert (seen.status, lab.queue.get(run.job_id or 0).attempts) == (RunStatus.QUEUED, 0)
    agent.during = lambda task, journal, number: None
    finish(lab)
    assert lab.lab.runs.batch(batch.id).status is BatchStatus.COMPLETED


@pytest.mark.slow
def test_what_may_pass_is_tried_again(build: Build) -> None:
    agent = StepAgent()
    troubles: list[Exception] = [Unavailable("the model does not answer"), RetryLater("busy", delay_ms=10)]

    def during(task: RunTask, journal: Journal, number: int) -> None:
        if number == 2 and troubles:
            raise troubles.pop()

    agent.during = during
    lab = build(agent)
    batch, (run,) = lab.order()
    finish(lab)
    assert lab.lab.runs.batch(batch.id).status is BatchStatus.COMPLETED
    assert Counter(key for _, key in agent.done)["model:1"] == 1
    assert lab.types(run).count("run_resumed") == 2


def test_what_cannot_be_done_fails_with_its_reason(build: Build) -> None:
    agent = StepAgent()

    def during(task: RunTask, journal: Journal, number: int) -> None:
        raise ValueError(f"坏答案 with {SECRET}\nand more")

    agent.during = during
    lab = build(agent)
    batch, (run,) = lab.order()
    finish(lab)
    seen = lab.lab.runs.run(run.id)
    assert seen.status is RunStatus.FAILED
    assert str(seen.error).startswith("ValueError: 坏答案 with [REDACTED")
    (event,) = lab.trace(run, EventType.RUN_FAILED)
    assert event.payload is not None
    assert "test_execution.py" in event.payload["traceback"]
    assert SECRET not in str(event)
    assert lab.lab.runs.batch(batch.id).error == seen.error
    # A run's own failure is not one of the queue.
    assert lab.queue.get(run.job_id or 0).status is JobStatus.COMPLETED


def test_without_an_agent_a_run_says_so(build: Build) -> None:
    lab = build(Unequipped())
    _, (run,) = lab.order()
    finish(lab)
    assert lab.lab.runs.run(run.id).error == "no agent is configured"


def test_a_step_is_recorded_with_its_events_or_not_at_all(build: Build) -> None:
    lab = build(StepAgent())
    _, (run,) = lab.order()
    job = claim(lab)
    journals: list[Journal] = []

    class Holding:
        def answer(self, task: RunTask, journal: Journal) -> RunOutput:
            journals.append(journal)
            raise Killed

    lab.lab.execution._agent = Holding()
    with pytest.raises(Killed):
        lab.lab.execution.run(job, JobContext(job, 60))
    (journal,) = journals
    kept = journal.record("一步", {"text": f"half a pair \ud83d, key {SECRET}"}, (EventType.KB_LIST, {"total": 1}))
    assert kept == journal.done("一步")
    assert SECRET not in str(kept)
    assert "\ud83d" not in kept["text"]
    with pytest.raises(Conflict):
        journal.record("一步", {"again": True}, (EventType.KB_LIST, {"total": 2}))
    with pytest.raises(InvalidArgument):
        journal.record("two", {}, (EventType.MEMORY_WRITTEN, {}))
    with pytest.raises(InvalidArgument):
        journal.record("three", {"large": "x" * MAX_RESULT_CHARS})
    assert journal.done("two") is None

    def undone() -> None:
        with lab.db.transaction():
            journal.record("four", {}, (EventType.KB_LIST, {"total": 4}))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert [event.payload for event in lab.trace(run, EventType.KB_LIST)] == [{"total": 1}]
    assert lab.lab.runs.run(run.id).steps == 1


def test_secrets_stand_nowhere_in_what_a_run_leaves(build: Build) -> None:
    class Telling:
        def answer(self, task: RunTask, journal: Journal) -> RunOutput:
            journal.note(EventType.LLM_REQUEST, {"messages": [{"content": SECRET}], "api_key": "abc"})
            journal.record("k", {"said": SECRET}, (EventType.LLM_RESPONSE, {"raw": {"deep": [SECRET]}}))
            return RunOutput({"recipes": [{"rationale": SECRET}]}, {"C1": SECRET}, (SECRET,))

    lab = build(Telling())
    _, (run,) = lab.order()
    finish(lab)
    everything: list[Any] = [lab.trace(run), lab.lab.runs.output(run.id), lab.lab.runs.run(run.id)]
    assert lab.lab.runs.run(run.id).status is RunStatus.COMPLETED
    assert SECRET not in str(everything)
    with lab.db.reading() as tx:
        rows = tx.connection.exec_driver_sql("SELECT result FROM run_steps").all()
    assert rows
    assert SECRET not in str(rows)
