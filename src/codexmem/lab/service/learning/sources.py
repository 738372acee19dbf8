"""Reading what a learning is made from, source by source, within a budget, and saying what was read.

Every source that is opened leaves an event: what it was, how much of it was read, and whether that was all. When the
budget is spent, the next source is told to be left out and no more are opened.
"""

import json
from collections.abc import Callable
from typing import Any

from codexmem.kernel.model import privacy
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.memory import Memory
from codexmem.lab.feedback_model import Feedback
from codexmem.lab.model import Evidence
from codexmem.lab.service.learning.snapshot import Snapshot, SnapshotBudget
from codexmem.lab.service.trace import Entry, RunTrace

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
        told: dict[str, Any] = {
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
