"""Judged runs for tests of learning: an agent with recipes, feedback, and a model that says what a test decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from codexmem.kernel.llm.openai import OpenAIModel
from codexmem.kernel.model import ids
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.memory import Memory, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.schema import feedback, feedback_products, products
from codexmem.lab.lesson_extractor import Teacher
from codexmem.lab.model import Run, RunOutput, RunTask
from codexmem.lab.service.bank import KINDS
from codexmem.lab.service.journal import Journal
from tests._support.lab import LabBench
from tests._support.model_server import Asked, ModelServer
from tests._support.waiting import eventually

RECIPES: dict[str, object] = {
    "recipes": [
        {"M1": "Cu", "M2": "Mo", "atomic_ratio": "1:1", "small_molecule_modifier": "benzoic acid (-COOH)",
         "rationale": "Cu binds CO [C1], 与 Mo 协同"},
        {"M1": "Fe", "M2": "Ni", "atomic_ratio": "2:1", "small_molecule_modifier": "none", "rationale": "cheap [C2]"},
    ],
    "overall_notes": "试三次",
}  # fmt: skip


@dataclass
class RecipeAgent:
    """Answers every request with the same recipes, and cites these lessons."""

    cites: tuple[str, ...] = ()

    def answer(self, task: RunTask, journal: Journal) -> RunOutput:
        return RunOutput(RECIPES, {"C1": "kb:kb_principles__chunk-1"}, self.cites)


def judge(db: Database, run_id: str, *, score: float | None = 7.5, pros: str = "", cons: str = "", other: str = "",
          measured: Sequence[tuple[str, float]] = (), now_ms: int = 1_700_000_000_000) -> str:  # fmt: skip
    """Feedback on a run, in place of what was there; returns its id."""
    total = sum(value for _, value in measured)
    feedback_id = ids.prefixed("feedback")
    with db.transaction() as tx:
        tx.run(feedback.delete().where(feedback.c.run_id == run_id))
        tx.add(feedback, {
            "id": feedback_id, "run_id": run_id, "score": score, "pros": pros, "cons": cons, "other": other,
            "created_ms": now_ms, "updated_ms": now_ms, "schema_version": 1, "extra": {},
        })  # fmt: skip
        for place, (name, value) in enumerate(measured):
            product = ids.prefixed("p")
            tx.add(products, {
                "id": product, "name": name, "folded": product, "status": "active", "created_ms": now_ms,
                "updated_ms": now_ms, "schema_version": 1, "extra": {},
            })  # fmt: skip
            tx.add(feedback_products, {
                "id": ids.prefixed("fbp"), "feedback_id": feedback_id, "place": place, "product_id": product,
                "value": value, "fraction": value / total if total else 0.0,
            })  # fmt: skip
    return feedback_id


def ended_runs(lab: LabBench, n_runs: int = 1, **order: Any) -> list[Run]:
    """Runs that have ended."""
    _, runs = lab.order(n_runs, **order)
    with lab.working():
        eventually(lambda: all(lab.lab.runs.run(run.id).status.ended for run in runs))
    return [lab.lab.runs.run(run.id) for run in runs]


def learned(lab: LabBench, run: Run | str) -> Job:
    """The job of a learning that has ended."""
    job_id = lab.lab.banking.learning.queue(run if isinstance(run, str) else run.id).job_id
    return finished(lab, job_id)


def finished(lab: LabBench, job_id: int) -> Job:
    """A job once it has ended, run by a worker of its own."""
    with lab.working(threads=1):
        eventually(lambda: lab.queue.get(job_id).ended_ms is not None)
    return lab.queue.get(job_id)


def lessons(lab: LabBench, statuses: frozenset[Status] = frozenset(Status)) -> dict[str, Memory]:
    """Every lesson by its id."""
    found = lab.memories.page(Filter(KINDS, statuses=statuses), PageRequest(500)).items
    return {memory.id: memory for memory in found}


def states(lab: LabBench) -> dict[str, State]:
    """What every lesson says that is not hidden; a lesson that was taken back is as one that never was."""
    return {
        mem_id: memory.state for mem_id, memory in lessons(lab).items() if memory.state.status is not Status.DELETED
    }


def taught(status: JobStatus, job: Job) -> Job:
    """The job, if it ended so."""
    assert job.status is status, job.error
    return job


@dataclass
class Script:
    """What the model says about lessons, and about what becomes of them."""

    lessons: Callable[[Asked], Any] | Any = field(default_factory=dict)
    merging: Callable[[Asked], Any] | Any = field(default_factory=dict)

    def __call__(self, asked: Asked) -> str:
        name = asked.body["response_format"]["json_schema"]["name"]
        said = self.lessons if name == "lessons" else self.merging
        said = said(asked) if callable(said) else said
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def teacher(server: ModelServer) -> Teacher:
    """Who asks this server."""
    return Teacher(OpenAIModel("scripted", base_url=server.url, api_key="sk-test", pause_s=0.05))


def said_lessons(*given: tuple[str, str] | tuple[str, str, str]) -> dict[str, Any]:
    """An answer with these lessons: title, content and perhaps a role."""
    return {
        "skip": False, "reason": "",
        "lessons": [dict(zip(("title", "content", "role"), (*each, "global")[:3], strict=True)) for each in given],
    }  # fmt: skip


def said_merging(*decisions: tuple[str, int, str], archive: Sequence[tuple[int, int, str]] = ()) -> dict[str, Any]:
    """An answer with one decision per lesson (action, target, content), and what is archived (target, replaced_by)."""
    return {
        "decisions": [
            {"lesson": number, "action": action, "target": target, "content": content}
            for number, (action, target, content) in enumerate(decisions, 1)
        ],
        "archive": [
            {"target": target, "replaced_by": replaced, "reason": reason} for target, replaced, reason in archive
        ],
    }  # fmt: skip
