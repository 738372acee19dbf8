"""The review queue on the wire."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.kernel.model.life import Life
from codexmem.kernel.model.memory import Mark, Memory, Origin
from codexmem.kernel.wire import Figure, WireAnswer
from codexmem.recall.review_model import COUNTED, ReviewCounts, ReviewDecision, ReviewItem, ReviewReason, ReviewVerdict
from codexmem.recall.wire.history import FieldChange, field_changes
from codexmem.recall.wire.memories import Short

_NUMBER = Annotated[int, Field(strict=True, ge=1, lt=2**63)]


class ReviewMemory(Short):
    """A memory of an item."""

    project: str
    uri: str | None
    version: int
    life: Life
    marks: tuple[Mark, ...]
    origin: Origin
    content: str = Field(description="all that it says")
    shown: int = Field(description="how often agents were told it unasked")
    used: int = Field(description="how often it was opened")

    @classmethod
    def of_item(cls, memory: Memory, life: Life) -> Self:
        """A memory, and where it is in its life."""
        state = memory.state
        return cls.of(
            memory, project=state.project, uri=state.uris[0] if state.uris else None, version=memory.version, life=life,
            marks=tuple(sorted(state.marks)), origin=memory.author, content=state.content,
            shown=memory.counters.shown, used=memory.counters.used,
        )  # fmt: skip


# How a memory stands is no part of what a person agrees to, and which addresses a text mentions follows from the text.
_NOT_AGREED_TO = frozenset({"status", "marks", "uris", "links", "confidence", "mentions"})


class ReviewRow(WireAnswer):
    """One thing to decide about."""

    id: str = Field(description="12 for a memory that was proposed, 12:7 for a pair, the newer first")
    reason: ReviewReason
    newer: ReviewMemory
    older: ReviewMemory | None = Field(description="null unless it is a pair")
    score: Figure = Field(description="0 to 1: how much of what they tell the two share")
    found_ms: int
    sentences: tuple[str, str] | None = Field(description="that contradict each other, the newer memory's first")
    changes: tuple[FieldChange, ...] = Field(
        description="of a proposal: in what it differs from what a person agreed to; none if nobody agreed before"
    )
    decisions: tuple[ReviewDecision, ...] = Field(description="that can be made about it")

    @classmethod
    def of(cls, item: ReviewItem, lives: dict[int, Life]) -> Self:
        """An item, with the lives of its memories."""
        newer, older = item.newer, item.older
        return cls(
            id=f"{newer.seq}" if older is None else f"{newer.seq}:{older.seq}",
            reason=item.reason,
            newer=ReviewMemory.of_item(newer, lives[newer.seq]),
            older=ReviewMemory.of_item(older, lives[older.seq]) if older is not None else None,
            score=item.score,
            found_ms=item.found_ms,
            sentences=item.sentences,
            changes=field_changes(item.agreed, newer.state, without=_NOT_AGREED_TO) if item.agreed is not None else (),
            decisions=_OF_ONE if older is None else _OF_PAIR,
        )


_OF_ONE = (ReviewDecision.APPROVE, ReviewDecision.REJECT)
_OF_PAIR = (ReviewDecision.KEEP, ReviewDecision.MERGE, ReviewDecision.SUPERSEDE, ReviewDecision.HIDE)


class ReviewTotals(WireAnswer):
    """How much waits."""

    proposed: int
    duplicate: int
    contradiction: int
    qa_candidates: int = Field(description="in the queue of questions with answers, /v1/qa/items?status=candidate")
    most: int = Field(description="counting stops here: so many, or more")

    @classmethod
    def of(cls, counted: ReviewCounts) -> Self:
        """What was counted."""
        return cls(
            proposed=counted.proposed, duplicate=counted.duplicate, contradiction=counted.contradiction,
            qa_candidates=counted.qa_candidates, most=COUNTED,
        )  # fmt: skip


class ReviewAnswer(WireAnswer):
    """What waits for a person: proposals first, then pairs, the last found first."""

    items: tuple[ReviewRow, ...] = Field(
        description="may be few, or none, while there is more: pairs that were edited since are passed over"
    )
    counts: ReviewTotals
    next_cursor: str | None
    has_more: bool


class ScanAnswer(WireAnswer):
    """What one look at new memories found."""

    claims: int = Field(description="new memories that say what holds, and were compared")
    found: int = Field(description="pairs")
    merged: int = Field(description="exact duplicates that were made one")
    delta: str | None = Field(description="undo it to have those as they were")
    more: bool = Field(description="whether there is more to look at: call again")


class DecisionBody(BaseModel):
    """`POST /api/review/decide`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: ReviewDecision
    seq: _NUMBER = Field(description="the memory that was proposed, or the newer of a pair")
    other: _NUMBER | None = Field(None, description="the older of a pair")
    target: _NUMBER | None = Field(
        None, description="merge: the one that stays, else the older; hide: the one to hide, else the newer"
    )
    reason: Annotated[str, Field(max_length=4_000)] = Field("", description="kept with every version")

    def verdict(self) -> ReviewVerdict:
        """The decision as the service takes it."""
        return ReviewVerdict(self.decision, self.seq, self.other, self.target, self.reason)
