"""What goes into a distillation and what comes out of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from codexmem.kernel.model.capture import CapturedEvent
from codexmem.kernel.model.statement import LastingKind

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
class FinishedTurn:
    """One turn with everything that was said and done in it."""

    number: int
    prompt: str
    events: tuple[CapturedEvent, ...]
    message: str = ""  # the agent's last words
    at_ms: int = 0
    prompt_event: int | None = None  # number of the captured event that the request is
    message_event: int | None = None  # … and of the one that the last words are


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A memory that the author is shown, so that it writes nothing twice."""

    label: str  # by which an answer names it: K1
    seq: int
    kind: str
    text: str
    by_person: bool = False  # whether a person said it


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


class OperationKind(StrEnum):
    """What an author wants to be done."""

    ADD = "add"
    UPDATE = "update"  # a known memory is still right, and is written anew with more
    SUPERSEDE = "supersede"  # a known memory holds no longer; this takes its place
    CONFIRM = "confirm"  # a known memory was said or seen again
    MERGE = "merge"  # known memories say the same; one of them stays


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that an author wants, with what it rests on; what the evidence does not bear is left out."""

    op: OperationKind
    kind: LastingKind
    target: int | None = None  # number of the known memory
    title: str = ""
    text: str = ""
    events: tuple[int, ...] = ()  # captured events that it cites
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    by_person: bool = False  # whether words of the person that it cites are about it
    proposed: bool = False  # whether a person has to agree before it counts
    reason: str = ""
    dropped: tuple[int, ...] = ()  # numbers of memories that go, where one stays
    unproven: tuple[str, ...] = ()  # what was claimed and does not stand in what is cited


@dataclass(frozen=True, slots=True)
class AuthorAnswer:
    """What an author made of some turns, and what it took."""

    operations: tuple[Operation, ...] = ()
    outcomes: tuple[ModelOutcome, ...] = ()
    kept: int = 0  # claims that stand
    refused: tuple[str, ...] = ()  # claims that do not
    questions: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_ms: float = 0.0
    error_class: str | None = None  # why there is no answer although somebody was to be asked
    error: str | None = None
    wait_s: float = 0.0  # how long the model wants to be left alone
    model: str | None = None  # the name of who was asked

    @property
    def by(self) -> By:
        """Whose memories stand: where the model said nothing usable, those of the rules."""
        return "model" if ModelOutcome.SUCCESS in self.outcomes else "rules"

    def __add__(self, other: "AuthorAnswer") -> "AuthorAnswer":
        """Two answers about the same session as one."""
        return AuthorAnswer(
            (*self.operations, *other.operations), (*self.outcomes, *other.outcomes), self.kept + other.kept,
            (*self.refused, *other.refused), self.questions + other.questions, self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens, self.model_ms + other.model_ms,
            other.error_class or self.error_class, other.error or self.error, max(self.wait_s, other.wait_s),
            other.model or self.model,
        )  # fmt: skip
