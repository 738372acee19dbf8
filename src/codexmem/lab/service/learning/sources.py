"""Reading what a learning is made from, source by source, within a budget, and saying what was read.

Every source that is opened leaves an event: what it was, how much of it was read, and whether that was all. When the
budget is spent, the next source is told to be left out and no more are opened.

What one learning looks at: the run and its feedback as they stand at one moment, and how much of them is read.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from codexmem.kernel.model import privacy
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.store.database import Database
from codexmem.lab.lesson_extractor import MAX_LESSONS
from codexmem.lab.model import Batch, Evidence, Feedback, Run
from codexmem.lab.service.trace import Entry, RunTrace, no_run
from codexmem.lab.store.runs import RunTable

FeedbackOf = Callable[[str], Feedback | None]  # a run


@dataclass(frozen=True, slots=True)
class SnapshotBudget:
    """How many characters are read, in all and of one source; a learning costs no more, however long the run was."""

    total_chars: int = 40_000  # of the run, and of lessons near to it
    compared_chars: int = 36_000  # of lessons that the proposals are compared with
    feedback_chars: int = 8_000
    output_chars: int = 12_000
    event_chars: int = 1_500
    evidence_chars: int = 1_500
    lesson_chars: int = 1_500
    events: int = 40
    evidence: int = 8
    lessons: int = 8

    def to_json(self) -> dict[str, object]:
        """As it is traced."""
        return asdict(self)


POLICY: dict[str, object] = {
    "max_lessons": MAX_LESSONS,
    "what_people_wrote": "kept",  # notes, and lessons that somebody edited or archived, are never changed
    "archive": "only for a lesson that replaces it, or the run's own that its feedback no longer supports",
    "one_delta": True,
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run as one learning sees it."""

    run: Run
    batch: Batch
    output: dict[str, Any] | None
    feedback: Feedback | None
    cutoff_ms: int  # what was traced later is not read

    @property
    def missing(self) -> list[str]:
        """What there is to learn from and is not there; without feedback nothing is learned."""
        found = ["feedback"] if self.feedback is None else []
        return [*found, "final_output"] if self.output is None else found

    def to_json(self) -> dict[str, object]:
        """As the contract names it."""
        judged = self.feedback
        return {
            "trace_cutoff_ts": self.cutoff_ms / 1000,
            "feedback_id": judged.id if judged is not None else None,
            "feedback_updated_at": judged.updated_ms / 1000 if judged is not None else None,
            "final_output_event_id": self.run.final_event_id,
        }


def take(db: Database, runs: RunTable, feedback_of: FeedbackOf, clock: Clock, run_id: str) -> Snapshot:
    """Look once, at everything together."""
    with db.reading():
        run = runs.run(run_id)
        batch = runs.batch(run.batch_id) if run is not None else None
        if run is None or batch is None:
            raise no_run(run_id)
        cutoff = max(clock.now_ms(), run.ended_ms or 0)
        return Snapshot(run, batch, runs.output(run_id), feedback_of(run_id), cutoff)


EvidenceOf = Callable[[str, str], Evidence | None]  # of a run, by its alias

FULL = "full"
EXCERPT = "excerpt"  # its beginning
NONE = "none"


class Sources:
    """What one learning has read so far; used by one thread."""

    def __init__(self, rb_job_id: str, budget: SnapshotBudget, trace: RunTrace) -> None:
        self._job = rb_job_id
        self._budget = budget
        self._trace = trace
        self._left = budget.total_chars
        self.texts: list[tuple[str, str]] = []  # label and text
        self.events: list[Entry] = []

    def read_run(self, snapshot: Snapshot, evidence: EvidenceOf | None, lessons: Callable[[str], Memory | None]
                 ) -> None:  # fmt: skip
        """The feedback first, then the answer, what it cites, and how the agent came to it."""
        budget, run_id = self._budget, snapshot.run.id
        judged, output = snapshot.feedback, snapshot.output
        if judged is not None:
            self._open("feedback", judged.id, lambda: feedback_text(judged), budget.feedback_chars, "feedback")
        if output is not None:
            event_id = snapshot.run.final_event_id or run_id
            self._open("final_output", event_id, lambda: _json(output["recipes_json"]), budget.output_chars, "answer")
            for alias in list(output.get("citations") or {})[: budget.evidence if evidence is not None else 0]:
                self._open_evidence(run_id, alias, evidence)
            for mem_id in list(output.get("memory_ids") or ())[: budget.lessons]:
                self._open("memory", mem_id, lambda mem_id=mem_id: _content(lessons(mem_id)),  # type: ignore[misc]
                           budget.lesson_chars, f"lesson that the answer cites, mem:{mem_id}")  # fmt: skip
        self._read_trace(snapshot)

    def begin_comparing(self) -> None:
        """From here on known lessons are read, out of a budget of their own."""
        self._left = self._budget.compared_chars

    def read_lesson(self, memory: Memory) -> str:
        """A known lesson, as much of it as is shown to a model."""
        return self._open("memory", memory.id, lambda: memory.state.content, self._budget.lesson_chars, None) or ""

    def _open_evidence(self, run_id: str, alias: str, evidence: EvidenceOf | None) -> None:
        def read() -> str | None:
            found = evidence(run_id, alias) if evidence is not None else None
            return None if found is None else f"{found.source}\n{found.content}"

        self._open("evidence", alias, read, self._budget.evidence_chars, f"evidence {alias}")

    def _read_trace(self, snapshot: Snapshot) -> None:
        page = self._trace.page(
            snapshot.run.id, types=[EventType.RECAP_INFO, EventType.RUN_FAILED], until_ms=snapshot.cutoff_ms,
            limit=self._budget.events, payloads=True,
        )  # fmt: skip
        for event in page.items:
            if self._left <= 0:
                return
            payload = event.payload or {}
            self._open("trace_event", event.id, lambda payload=payload: _json(payload),  # type: ignore[misc]
                       self._budget.event_chars, "step of the agent")  # fmt: skip

    def _open(self, kind: str, name: str, read: Callable[[], str | None], most: int, label: str | None) -> str | None:
        """Read one source; None if it is not there or the budget is spent."""
        told: dict[str, object] = {
            "rb_job_id": self._job, "source_type": kind, "source_id": name, "mode_requested": FULL, "mode_used": NONE,
            "returned_chars": 0, "truncated": False,
        }  # fmt: skip
        if self._left <= 0:
            told |= {"truncated": True, "error_code": "budget_exhausted"}
            self.events.append((EventType.RB_SOURCE_OPENED, told))
            return None
        whole = read()
        if whole is None:
            self.events.append((EventType.RB_SOURCE_OPENED, told | {"error_code": "not_found"}))
            return None
        # Other people's words go to a model: without what is private or secret in them.
        clean = str(self._trace.masked(privacy.strip(whole)))
        text = clean[: min(most, self._left)]
        self._left -= len(text)
        cut = len(text) < len(clean)
        told |= {"mode_used": EXCERPT if cut else FULL, "returned_chars": len(text), "truncated": cut}
        self.events.append((EventType.RB_SOURCE_OPENED, told))
        if label is not None:
            self.texts.append((label, text))
        return text


def feedback_text(judged: Feedback) -> str:
    """What a person said and measured."""
    measured = (f"{each.product_name}: {each.value:g} ({each.fraction:.1%})" for each in judged.products)
    said = [
        ("score", "" if judged.score is None else f"{judged.score:g}"), ("pros", judged.pros), ("cons", judged.cons),
        ("other", judged.other), ("products", "; ".join(measured)),
    ]  # fmt: skip
    return "\n".join(f"{name}: {text}" for name, text in said if text)


def _content(memory: Memory | None) -> str | None:
    return None if memory is None else memory.state.content


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
