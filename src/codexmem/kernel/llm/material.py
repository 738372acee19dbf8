"""What goes into a distillation and what comes out of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Literal, TypeVar

from codexmem.kernel.model.capture import CapturedEvent

T_co = TypeVar("T_co", covariant=True)

TYPES = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
CONCEPTS = (
    "how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off",
)  # fmt: skip
# Per observation; beyond that a list of files no longer tells one memory from another.
MAX_READ = 20
MAX_MODIFIED = 50

By = Literal["model", "rules"]


@dataclass(frozen=True, slots=True)
class Material:
    """Captured events of one turn, and what the person had asked for."""

    project: str
    prompt: str
    events: tuple[CapturedEvent, ...]


@dataclass(frozen=True, slots=True)
class ExtractedObservation:
    """One observation."""

    type: str  # one of TYPES, or a word of the model's own
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()  # some of CONCEPTS
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()  # from what tools did, never from what a model says
    events: tuple[int, ...] = ()  # numbers of the captured events it came from


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """One summary of a turn."""

    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing; notes alone are nothing."""
        return not (self.request or self.investigated or self.learned or self.completed or self.next_steps)


class ModelOutcome(StrEnum):
    """What is counted about answers; the value is the contract's spelling."""

    SUCCESS = "success"  # the model's answer was used
    PARSE_FAIL = "parse_fail"  # an answer was no JSON
    SCHEMA_FAIL = "schema_fail"  # an answer was JSON of another shape
    REPAIR_FAIL = "repair_fail"  # the second answer was no better
    FALLBACK_USED = "fallback_used"  # rules gave the answer


@dataclass(frozen=True, slots=True)
class ExtractionResult(Generic[T_co]):
    """What was extracted, who did it, and what it took."""

    value: T_co
    outcomes: tuple[ModelOutcome, ...]
    by: By
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_ms: float = 0.0
    error_class: str | None = None  # why rules answered although a model was there; None if there is none
    error: str | None = None
