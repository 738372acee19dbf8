"""Batches and runs: stored whole or not at all, listed in stable pages, taking turns, canceled once."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from codexmem.kernel.jobs.job_kind import Done, JobKind
from codexmem.kernel.jobs.worker import Worker
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.job import PATIENT, JobStatus, NewJob
from codexmem.kernel.store import queue_head
from codexmem.kernel.store.database import acting_as
from codexmem.lab.model import MAX_RUNS, BatchOrder, BatchStatus, RunStatus
from codexmem.lab.service.journal import Journal
from codexmem.lab.service.runs import RunCursor
from codexmem.lab.store import runs as lab_runs
from tests._support.lab import SECRET, LabBench, StepAgent
from tests._support.waiting import eventually
from tests.jobs.stores import TENANT
from tests.services.lab.conftest import Build


def statuses(lab: LabBench, batch_id: str) -> Counter[str]:
    found, _ = lab.lab.runs.runs_of(batch_id, limit=MAX_RUNS)
    return Counter(run.status.value for run in found)


def test_a_batch_its_runs_and_jobs_are_stored_together(build: Build) -> None:
    lab = build(StepAgent())
    batch, runs = lab.order(3, extra={"k": 1})
    assert lab.lab.runs.batch(batch.id) == batch
    assert lab.lab.runs.runs_of(batch.id)[0] == runs
    jobs = [lab.queue.get(run.job_id or 0) for run in runs]
    assert [(job.kind, job.payload, job.subject, job.priority) for job in jobs] == [
        ("lab.run", {"run_id": run.id}, f"run:{run.id}", PATIENT) for run in runs
    ]
    turn = lab.lab.runs.turn()

    def undone() -> None:
        with lab.db.transaction():
            lab.lab.runs.create(BatchOrder("not kept", 5), turn=turn)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert len(lab.lab.runs.batches()[0]) == 1
    assert lab.queue.counts()[JobStatus.QUEUED] == 3


def test_secrets_in_a_request_are_not_kept(build: Build) -> None:
    lab = build(StepAgent())
    batch, _ = lab.order(1, f"use {SECRET} please", extra={"token": SECRET})
    assert SECRET not in str(lab.lab.runs.batch(batch.id))
    with pytest.raises(InvalidArgument):
        lab.order(1, "x", temperature=float("nan"))


def test_pages_go_on_while_batches_are_added(build: Build) -> None:
    lab = build(StepAgent())
    old = [lab.order(1, f"页 {n}")[0].id for n in range(9)]
    seen: list[str] = []
    below: RunCursor | None = None
    while True:
        page, below = lab.lab.runs.batches(below=below, limit=4)
        seen += [batch.id for batch in page]
        if below is None:
            break
        lab.order(1, "页 later")
    assert [each for each in seen if each in old] == old[::-1] or len(set(seen) & set(old)) == 9
    assert len(seen) == len(set(seen))


def test_a_search_reads_so_many_requests_and_no_more(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_runs, "LOOKED_THROUGH", 5)
    lab = build(StepAgent())
    wanted = [lab.order(1, f"needle 针_{n} 100%")[0].id for n in range(2)]
    for n in range(12):
        lab.order(1, f"hay {n}")
    pages, below = [], None
    while True:
        page, below = lab.lab.runs.batches(text="NEEDLE 针_", below=below, limit=50)
        pages.append([batch.id for batch in page])
        if below is None:
            break
    assert len(pages) == 3
    assert sorted(each for page in pages for each in page) == sorted(wanted)
    assert lab.lab.runs.batches(text="针%", limit=50)[0] == []


def test_pages_of_several_statuses_are_one_list(build: Build) -> None:
    lab = build(StepAgent(steps=1))
    for n in range(9):
        batch, _ = lab.order(1, f"批 {n}")
        if n % 3 == 0:
            lab.lab.runs.cancel_batch(batch.id)
    with lab.working():
        eventually(lambda: not lab.lab.runs.runs(statuses=[RunStatus.QUEUED, RunStatus.RUNNING])[0])
    for n in range(2):
        lab.order(1, f"批 late {n}")
    wanted = [BatchStatus.COMPLETED, BatchStatus.CANCELED]

    def read(limit: int, **wish: Any) -> list[str]:
        found: list[str] = []
        below: RunCursor | None = None
        while True:
            page, below = lab.lab.runs.batches(below=below, limit=limit, **wish)
            found += [batch.id for batch in page]
            if below is None:
                return found

    everything = read(50)
    ended = [each for each in everything if lab.lab.runs.batch(each).status in wanted]
    assert (len(everything), len(ended)) == (11, 9)
    for limit in (1, 2, 4, 9, 50):
        assert read(limit, statuses=wanted) == ended
        assert read(limit, statuses=[*wanted, BatchStatus.QUEUED]) == everything
        assert read(limit, text="批", statuses=wanted) == ended
        assert read(limit, statuses=[BatchStatus.FAILED]) == []
    runs, _ = lab.lab.runs.runs(statuses=[RunStatus.COMPLETED, RunStatus.CANCELED], limit=50)
    assert sorted(run.batch_id for run in runs) == sorted(ended)


@pytest.mark.parametrize("engine_name", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_nobody_sees_or_cancels_what_belongs_to_others(build: Build) -> None:
    lab = build(StepAgent())
    batch, (run,) = lab.order()
    with acting_as("somebody-else"):
        assert lab.lab.runs.batches() == ([], None)
        assert lab.lab.runs.runs() == ([], None)
        for ask in (lab.lab.runs.batch, lab.lab.runs.cancel_batch):
            with pytest.raises(NotFound):
                ask(batch.id)
        for ask_run in (lab.lab.runs.run, lab.lab.runs.cancel_run, lab.lab.runs.output, lab.lab.trace.page):
            with pytest.raises(NotFound):
                ask_run(run.id)
        # But everybody stands in one line.
        assert lab.lab.runs.turn() == lab.lab.runs.turn() < lab.clock.now_ms() - MAX_RUNS / 2
    assert lab.lab.runs.run(run.id) == run


def test_a_backlog_of_long_runs_is_no_stall(build: Build) -> None:
    lab = build(StepAgent())
    lab.order(3)
    now = lab.clock.now_ms()
    assert queue_head.take(lab.db, now_ms=now).head is not None
    lab.dispatch.claim("w", limit=1, lease_ms=600_000, now_ms=now)
    assert queue_head.take(lab.db, now_ms=now + 300_000).head is None
    # Its worker is gone: now somebody should have taken the next one.
    assert queue_head.take(lab.db, now_ms=now + 601_000).head is not None
    lab.queue.enqueue(NewJob("note", {}))
    assert queue_head.take(lab.db, now_ms=lab.clock.now_ms()).head is not None


@pytest.mark.slow
def test_batches_take_turns(build: Build) -> None:
    """A batch of four that comes after a batch of forty does not wait for the forty."""
    order: list[str] = []
    lock = threading.Lock()

    def note(task: Any, journal: Journal, number: int) -> None:
        with lock:
            order.append(task.run.batch_id)

    lab = build(StepAgent(steps=1, during=note))
    large = lab.order(40)[0].id
    small = lab.order(4)[0].id
    third = lab.order(40)[0].id
    with lab.working(threads=2):
        eventually(lambda: lab.lab.runs.batch(third).status.ended and lab.lab.runs.batch(large).status.ended)
    assert max(index for index, batch in enumerate(order) if batch == small) < 16
    first_half = Counter(batch for batch in order[:44] if batch != small)
    assert abs(first_half[large] - first_half[third]) <= 4


def test_a_late_batch_joins_where_the_line_is_now(build: Build) -> None:
    lab = build(StepAgent(steps=1))
    lab.order(20)
    claimed = lab.dispatch.claim("w", limit=10, lease_ms=1000, now_ms=lab.clock.now_ms())
    _, runs = lab.order(2)
    head = lab.lab.runs.turn()
    places = [lab.queue.get(run.job_id or 0).run_at_ms for run in runs]
    assert places == [head, head + 1]
    assert head > claimed[-1].run_at_ms


def test_canceling_a_batch_of_five_hundred(build: Build) -> None:
    lab = build(StepAgent())
    batch, runs = lab.order(500)
    canceling = lab.lab.runs.cancel_batch(batch.id, "不要了")
    seen = lab.lab.runs.batch(batch.id)
    assert (seen.status, seen.canceled_runs, seen.cancel_id) == (BatchStatus.CANCELED, 500, canceling.id)
    assert seen.started_ms is None
    assert lab.queue.counts()[JobStatus.CANCELED] == 500
    assert [event.payload for event in lab.trace(runs[499])] == [{"reason": "不要了"}]
    assert lab.lab.runs.cancel_batch(batch.id).id == canceling.id


def test_a_running_run_is_canceled_at_its_next_check(build: Build) -> None:
    begun, opened = threading.Event(), threading.Event()

    def hang(task: Any, journal: Journal, number: int) -> None:
        begun.set()
        while not opened.wait(0.005):
            journal.check()

    lab = build(StepAgent(during=hang))
    batch, (run,) = lab.order()
    with lab.working(lease_ms=10_800_000, look_s=3_600.0):  # the cancel must wake it
        assert begun.wait(60)
        lab.lab.runs.cancel_run(run.id)
        try:
            eventually(lambda: lab.lab.runs.run(run.id).status is RunStatus.CANCELED)
        finally:
            opened.set()
    assert lab.types(run) == ["run_started", "llm_request", "run_canceled"]
    assert lab.lab.runs.batch(batch.id).status is BatchStatus.CANCELED
    assert lab.queue.get(run.job_id or 0).status is JobStatus.CANCELED


def test_a_run_whose_cancel_was_accepted_never_completes(build: Build) -> None:
    """The cancel comes after the agent's last step and before the end is written."""
    lab: LabBench
    run_id = ""

    def cancel(task: Any, journal: Journal, number: int) -> None:
        if number == 3:
            lab.lab.runs.cancel_run(task.run.id)

    lab = build(StepAgent(during=cancel))
    _, (run,) = lab.order()
    run_id = run.id
    with lab.working():
        eventually(lambda: lab.lab.runs.run(run_id).status.ended)
    assert lab.lab.runs.run(run_id).status is RunStatus.CANCELED
    assert lab.types(run_id).count("run_canceled") == 1
    assert "final_output" not in lab.types(run_id)


def test_what_has_ended_cannot_be_canceled(build: Build) -> None:
    lab = build(StepAgent(steps=1))
    batch, (run,) = lab.order()
    with lab.working():
        eventually(lambda: lab.lab.runs.batch(batch.id).status.ended)
    with pytest.raises(Conflict, match="completed"):
        lab.lab.runs.cancel_run(run.id)
    with pytest.raises(Conflict, match="completed"):
        lab.lab.runs.cancel_batch(batch.id)
    assert lab.types(run)[-1] == "final_output"


@pytest.mark.parametrize("completed", [0, 1, 8])
def test_a_run_ends_once_and_a_batch_with_its_last_run(build: Build, completed: int) -> None:
    """Workers, cancels of single runs and of the whole batch at the same time: counts and traces agree."""
    lab = build(StepAgent(steps=1))
    batch, runs = lab.order(40)
    start = threading.Barrier(3)

    def cancel_some() -> None:
        with acting_as(TENANT):
            start.wait()
            for run in runs[::3]:
                with suppress(Conflict):
                    lab.lab.runs.cancel_run(run.id)

    def cancel_all() -> None:
        with acting_as(TENANT), suppress(Conflict):
            start.wait()
            eventually(lambda: lab.lab.runs.batch(batch.id).completed_runs >= completed)
            lab.lab.runs.cancel_batch(batch.id)

    threads = [threading.Thread(target=each) for each in (cancel_some, cancel_all)]
    for thread in threads:
        thread.start()
    with lab.working(threads=4), lab.working(threads=4):
        start.wait()
        eventually(lambda: lab.lab.runs.batch(batch.id).status.ended)
        for thread in threads:
            thread.join()
    seen = lab.lab.runs.batch(batch.id)
    counted = statuses(lab, batch.id)
    assert counted == Counter(completed=seen.completed_runs, canceled=seen.canceled_runs)
    assert counted.total() == 40
    if seen.cancel_id is not None:
        assert seen.status is BatchStatus.CANCELED
    ends = {EventType.RUN_CANCELED: "canceled", EventType.FINAL_OUTPUT: "completed"}
    for run in runs:
        told = [ends[EventType(event.type)] for event in lab.trace(run, *ends)]
        assert told == [lab.lab.runs.run(run.id).status.value]


def test_other_work_has_a_thread_while_long_runs_take_the_rest(build: Build) -> None:
    opened, ran = threading.Event(), threading.Event()

    def wait(task: Any, journal: Journal, number: int) -> None:
        while not opened.wait(0.01):
            journal.check()

    lab = build(StepAgent(steps=1, during=wait))
    batch, _ = lab.order(6)

    def quick(job: object, context: object) -> Done:
        ran.set()
        return Done()

    job_kinds = {**lab.lab.job_kinds(), "quick": JobKind(quick)}
    worker = Worker(lab.db, lab.jobs, lab.dispatch, lab.log, lab.notifier, lab.clock, job_kinds, threads=3)
    worker.start()
    try:
        eventually(lambda: statuses(lab, batch.id)["running"] == 2)
        lab.queue.enqueue(NewJob("quick", {}))
        assert ran.wait(60)
        assert statuses(lab, batch.id)["running"] == 2
        opened.set()
        eventually(lambda: lab.lab.runs.batch(batch.id).status.ended)
    finally:
        opened.set()
        worker.stop(2.0)
