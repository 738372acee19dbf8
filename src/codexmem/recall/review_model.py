"""What the review of memories speaks of: why something waits, what can be decided, pairs as they are kept, pages."""

from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model.memory import Memory, State
from codexmem.kernel.model.query import RowCursor

COUNTED = 1_000  # counting stops here: so many, or more
MAX_ITEMS = 100


class ReviewReason(StrEnum):
    """Why something waits for a person."""

    PROPOSED = "proposed"  # an agent wrote it where a person has to agree
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"


class ReviewDecision(StrEnum):
    """What a person can decide."""

    APPROVE = "approve"  # of what was proposed
    REJECT = "reject"
    KEEP = "keep"  # both, of a pair
    REOPEN = "reopen"  # a pair of which both were kept
    MERGE = "merge"  # one takes the other over
    SUPERSEDE = "supersede"  # the newer takes the older one's place
    HIDE = "hide"  # one of the two


@dataclass(frozen=True, slots=True)
class FindingKey:
    """Which pair, and for what reason."""

    reason: str
    seq: int  # the newer
    other: int


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A pair as it was found."""

    key: FindingKey
    project: str
    score: float
    found_ms: int
    decided: str | None = None


@dataclass(frozen=True, slots=True)
class FindingCursor:
    """The last pair that a caller has seen."""

    found_ms: int
    seq: int
    other: int


@dataclass(frozen=True, slots=True)
class ReviewCounts:
    """How much of each sort is open, counted up to `COUNTED`."""

    proposed: int
    duplicate: int
    contradiction: int
    qa_candidates: int


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One thing to decide about: a memory, or two."""

    reason: ReviewReason
    newer: Memory
    older: Memory | None = None
    score: float = 1.0
    found_ms: int = 0
    sentences: tuple[str, str] | None = None  # that contradict each other, the newer first
    agreed: State | None = None  # of a proposal: what a person agreed to before, which goes on being told


@dataclass(frozen=True, slots=True)
class ReviewCursor:
    """Where a page ended: among the proposed or, behind them, among the pairs."""

    proposed: RowCursor | None = None
    pair: FindingCursor | None = None


@dataclass(frozen=True, slots=True)
class ReviewItems:
    """One page, what was proposed first; and where the next begins."""

    items: tuple[ReviewItem, ...]
    after: ReviewCursor | None


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """A decision about one item: `other` is the older memory of a pair."""

    decision: ReviewDecision
    seq: int
    other: int | None = None
    target: int | None = None  # merge: the one that stays, else the older; hide: the one to hide, else the newer
    reason: str = ""
