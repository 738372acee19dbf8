"""Lessons of the ReasoningBank: what they are made from, what a learning may do to them, and when two say the same.

A learning turns a judged run into proposals, and proposals into changes: add, update, archive. What a person wrote or
edited is left as it is; a change that would touch it is refused and told.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from codexmem.kernel.model.attrs import LessonAttrs
from codexmem.kernel.model.memory import Memory, State, Status
from codexmem.lab.model import SCHEMA_VERSION

GLOBAL = "global"  # the role of a lesson for everyone
MAX_CONTENT = 20_000  # characters of a lesson
MAX_ROLE = 64
MAX_RUNS = 20  # runs that one lesson names; more do not make it truer
SURE = 0.95  # confidence that no number of runs goes beyond
STEP = 0.1  # what one more run adds to it

_ALIKE = 0.7  # likeness from which two say the same
_OPPOSED = 0.6  # likeness from which two that disagree are about the same
_READ = 600  # characters compared
_FOLD = re.compile(r"[\W_]+")
_AGAINST = re.compile(
    r"\b(?:avoid|never|not|don't|doesn't|cannot|can't|no longer|fails?|failed|worse|harmful)\b"
    r"|避免|不要|不能|不应|不宜|不会|不是|勿|切忌|失败|无效|有害|更差"
)


class LessonType(StrEnum):
    """Who made a lesson; the value is the contract's spelling."""

    LEARNED = "reasoningbank_item"
    MANUAL = "manual_note"


@dataclass(frozen=True, slots=True)
class NewLesson:
    """What a person wants every later run to know."""

    content: str
    role: str = GLOBAL
    source_run_id: str | None = None
    schema_version: int = SCHEMA_VERSION
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LessonEdit:
    """What a person changes in a lesson; None leaves a field as it is."""

    content: str | None = None
    role: str | None = None
    status: Status | None = None  # active or archived
    schema_version: int | None = None
    extra: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A lesson that a run teaches, before it is compared with the others."""

    title: str  # what it says, in one line; two lessons are compared by it
    content: str
    role: str = GLOBAL


@dataclass(frozen=True, slots=True)
class Add:
    """A new lesson."""

    lesson: Proposal
    replaces: tuple[int, ...] = ()  # numbers of lessons that this learning archives for it
    contradicts: tuple[int, ...] = ()  # numbers of lessons that stay although it says otherwise


@dataclass(frozen=True, slots=True)
class Update:
    """A lesson that this run confirms, or says better."""

    target: Memory
    lesson: Proposal


@dataclass(frozen=True, slots=True)
class Archive:
    """A lesson that this run has disproved."""

    target: Memory
    reason: str


Change = Add | Update | Archive


@dataclass(frozen=True, slots=True)
class RefusedChange:
    """A change that learning may not make, and why."""

    change: str  # update or archive
    mem_id: str
    reason: str

    def to_json(self) -> dict[str, str]:
        """As it is traced."""
        return {"change": self.change, "mem_id": self.mem_id, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class LessonPlan:
    """What one learning will change; each lesson at most once."""

    changes: tuple[Change, ...] = ()
    refused: tuple[RefusedChange, ...] = ()
    seen: tuple[Memory, ...] = field(default=())  # what it was decided on; one of them changed since: decide again


def attrs_of(state: State) -> LessonAttrs:
    """The extra fields of a lesson."""
    if not isinstance(state.attrs, LessonAttrs):
        raise TypeError(f"{type(state.attrs).__name__} do not belong to a lesson")
    return state.attrs


def extra_of(state: State) -> dict[str, object]:
    """What callers keep beside a lesson."""
    text = attrs_of(state).extra
    kept: dict[str, object] = json.loads(text) if text else {}
    return kept


def spelled_job(job_id: int) -> str:
    """A job as the contract names it."""
    return f"rbjob_{job_id}"


def is_a_persons(memory: Memory) -> bool:
    """Whether a person wrote, edited or archived it."""
    return memory.state.type == LessonType.MANUAL or attrs_of(memory.state).by_hand


def likeness(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1: by groups of three letters or, in Chinese, two characters."""
    return _shared(_shape(one), _shape(other))


def nearness(proposal: Proposal, memory: Memory) -> float:
    """How alike a proposal and a lesson are; what a person wrote counts as it stands, whatever its title says."""
    state = memory.state
    said = {state.title or state.content, state.content} if is_a_persons(memory) else {state.title or state.content}
    return max(likeness(proposal.title, each) for each in said)


def same(proposal: Proposal, memory: Memory) -> bool:
    """Whether a lesson says already what is proposed."""
    return (
        nearness(proposal, memory) >= _ALIKE
        and _against(proposal.content) == _against(memory.state.content)
    )  # fmt: skip


def opposed(proposal: Proposal, memory: Memory) -> bool:
    """Whether a lesson is about the same and says otherwise."""
    return (
        nearness(proposal, memory) >= _OPPOSED
        and _against(proposal.content) != _against(memory.state.content)
    )  # fmt: skip


def nearest(proposal: Proposal, memories: Sequence[Memory]) -> list[Memory]:
    """The lessons with those most like the proposal first."""
    return sorted(memories, key=lambda each: (-nearness(proposal, each), each.seq))


def _against(text: str) -> bool:
    return _AGAINST.search(text.lower()) is not None


def _shape(text: str) -> frozenset[str]:
    folded = _FOLD.sub(" ", text[:_READ].casefold()).strip()
    size = 3 if folded.isascii() else 2
    return frozenset(folded[at : at + size] for at in range(max(1, len(folded) - size + 1))) if folded else frozenset()


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    if not one or not other:
        return 0.0
    both = len(one & other)
    return both / (len(one) + len(other) - both)
