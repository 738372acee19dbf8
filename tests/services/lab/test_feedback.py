"""Feedback and the learning that follows it: both or neither."""

from __future__ import annotations

import pytest

from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType
from codexmem.lab.model import CatalogEntry, FeedbackInput, Measurement, Shelved
from tests._support.lab import LabBench, StepAgent
from tests._support.waiting import eventually
from tests.services.lab.conftest import Build


def ended_run(bench: LabBench) -> str:
    _, (run,) = bench.order(dry_run=True)
    with bench.working():
        eventually(lambda: bench.lab.runs.run(run.id).status.ended)
    return run.id


def test_feedback_that_is_refused_queues_no_learning(build: Build) -> None:
    bench = build(StepAgent(1))
    run_id = ended_run(bench)
    with pytest.raises(InvalidArgument, match="not in the catalog"):
        bench.lab.judging.save(run_id, FeedbackInput(products=(Measurement("nothing", 1.0),)))
    assert bench.lab.banking.learning.jobs(run_id) == []
    assert bench.trace(run_id, EventType.RB_LEARN_QUEUED) == []
    with pytest.raises(NotFound):
        bench.lab.judging.of_run(run_id)


def test_feedback_saved_again_while_learning_waits_is_learned_once(build: Build) -> None:
    bench = build(StepAgent(1))
    run_id = ended_run(bench)
    first = bench.lab.judging.save(run_id, FeedbackInput(score=1.0, cons="慢"))
    second = bench.lab.judging.save(run_id, FeedbackInput(score=9.0, pros="fast"))
    assert first.learning is not None
    assert first.learning == second.learning
    assert len(bench.lab.banking.learning.jobs(run_id)) == 1
    (queued,) = bench.trace(run_id, EventType.RB_LEARN_QUEUED)
    assert (queued.payload or {})["reason"] == "feedback"


def test_learning_by_itself_can_be_switched_off(build: Build) -> None:
    bench = build(StepAgent(1), lab_learn=False)
    run_id = ended_run(bench)
    saved = bench.lab.judging.save(run_id, FeedbackInput(pros="很好"))
    assert saved.learning is None
    assert bench.lab.banking.learning.jobs(run_id) == []
    _, (waiting,) = bench.order(dry_run=True)
    with pytest.raises(Conflict, match="has not ended"):
        bench.lab.judging.save(waiting.id, FeedbackInput())


def test_values_are_checked_where_no_endpoint_has_done_so(build: Build) -> None:
    bench = build(StepAgent(1), lab_learn=False)
    run_id = ended_run(bench)
    made = bench.lab.catalog.add_product(CatalogEntry("C2H4"))
    for value in (float("nan"), float("inf"), -1.0):
        with pytest.raises(InvalidArgument, match="must be a number"):
            bench.lab.judging.save(run_id, FeedbackInput(products=(Measurement(made.id, value),)))
    for score in (float("nan"), float("-inf")):
        with pytest.raises(InvalidArgument, match="score"):
            bench.lab.judging.save(run_id, FeedbackInput(score=score))
    with pytest.raises(InvalidArgument, match="name"):
        bench.lab.catalog.add_product(CatalogEntry(" <private>x</private> "))
    assert bench.lab.catalog.products([Shelved.ARCHIVED]) == ([], None)
