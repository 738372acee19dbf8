"""What the page of a project tells: what was learned on which day, what needs care, what it cost and what it gave.

Values alone. What is not known is None, never zero.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import REMEMBERED, Kind
from codexmem.recall.review_model import ReviewCounts

LEARNED = REMEMBERED - {Kind.PROMPT}  # what was asked is not what was learned
DAY_MS = 86_400_000
MAX_WEEKS = 53
MAX_COST_DAYS = 30  # as long as the log keeps what models answered and what agents were given
MAX_VALUES = 20  # of a label
_FIRST = date(1970, 1, 1)
_MAX_OFFSET = 14 * 60  # minutes; no clock of the world is further from UTC


def day_name(day: int) -> str:
    """2026-11-18."""
    return (_FIRST + timedelta(days=day)).isoformat()


class MemoryConcern(StrEnum):
    """Why a memory that is in use may need care."""

    CHANGED = "changed"  # its files were changed since
    GONE = "gone"  # its files are no longer there
    NEVER_TOLD = "never_told"  # no agent was told it, and none opened it
    UNUSED = "unused"  # told often, never opened or confirmed


@dataclass(frozen=True, slots=True)
class DaySpan:
    """Days of somebody's clock, the first and the last included; numbers count days since 1970 on that clock."""

    first: int
    last: int
    offset: int = 0  # minutes that the clock is ahead of UTC

    def __post_init__(self) -> None:
        """Refuse a clock that nobody has."""
        if abs(self.offset) > _MAX_OFFSET:
            raise InvalidArgument(f"an offset of {self.offset} minutes is no time zone's")

    @classmethod
    def until(cls, now_ms: int, days: int, offset: int = 0) -> "DaySpan":
        """The last so many days, today included."""
        last = (now_ms + offset * 60_000) // DAY_MS
        return cls(last - days + 1, last, offset)

    @property
    def numbers(self) -> range:
        """Every day of it."""
        return range(self.first, self.last + 1)

    @property
    def offset_ms(self) -> int:
        """What is added to a time of UTC."""
        return self.offset * 60_000

    @property
    def from_ms(self) -> int:
        """The first moment."""
        return self.first * DAY_MS - self.offset_ms

    @property
    def to_ms(self) -> int:
        """The last moment."""
        return (self.last + 1) * DAY_MS - self.offset_ms - 1


@dataclass(slots=True)
class LearnedDay:
    """What was learned on one day."""

    day: int
    memories: int = 0
    sessions: int = 0
    types: dict[str, int] = field(default_factory=dict)  # by type; where a memory has none, by its kind


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The values of each label that most memories have, with how many."""

    values: dict[str, list[tuple[str, int]]]  # by file, concept, type, agent and origin
    whole: bool  # False if only the newest memories were looked at


@dataclass(frozen=True, slots=True)
class ReadingCounts:
    """How many memories were told too little or too often."""

    never_told: int
    unused: int
    whole: bool  # False if only the newest memories were looked at


@dataclass(frozen=True, slots=True)
class StaleCounts:
    """How many memories rest on files that are no longer as they were."""

    changed: int
    gone: int
    compared: int
    whole: bool


@dataclass(frozen=True, slots=True)
class ProjectHealth:
    """What of a project needs care."""

    waiting: ReviewCounts
    reading: ReadingCounts
    stale: StaleCounts | None  # None: the server sees no checkout of the project


@dataclass(slots=True)
class ModelUse:
    """Questions to a model, and what they cost."""

    calls: int = 0
    unmeasured: int = 0  # calls of which nobody said what they cost
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, calls: int, prompt: int, completion: int) -> None:
        """One answer more."""
        self.calls += calls
        self.unmeasured += 0 if prompt + completion else calls
        self.prompt_tokens += prompt
        self.completion_tokens += completion

    def merge(self, other: "ModelUse") -> None:
        """All of another's as well."""
        self.calls += other.calls
        self.unmeasured += other.unmeasured
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens

    @property
    def tokens(self) -> int | None:
        """What is known of the cost; None if there were calls and none of them was measured."""
        return None if self.calls and self.unmeasured == self.calls else self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class ToldCounts:
    """What became of memories that agents were told."""

    told: int
    used: int  # of these, opened by an agent at any time
    corrected: int  # of these, edited, replaced or put away after they were told
    whole: bool


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What agents of a project were given."""

    starts: int
    prompts: int
    tokens: int
    memories: ToldCounts | None  # None: something was given, and it is not on record what
    whole: bool


@dataclass(frozen=True, slots=True)
class ProjectCost:
    """What a project's memory cost on the days of a span, and what it gave; days are those of UTC, as the budget's."""

    span: DaySpan
    days: dict[int, ModelUse]
    models: dict[str | None, ModelUse]  # None: which model it was is not on record
    projects: dict[str, ModelUse]
    store_tokens: int  # of all projects, with work that belongs to none
    store_calls: int | None
    whole: bool
    given: HandedOver
