"""What one learning looks at: the run and its feedback as they stand at one moment, and how much of them is read."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store.database import Database
from codexmem.lab.feedback_model import Feedback
from codexmem.lab.lesson_extractor import MAX_LESSONS
from codexmem.lab.model import Batch, Run
from codexmem.lab.service.trace import no_run
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

    def to_json(self) -> dict[str, Any]:
        """As it is traced."""
        return asdict(self)


POLICY: dict[str, Any] = {
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

    def to_json(self) -> dict[str, Any]:
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
