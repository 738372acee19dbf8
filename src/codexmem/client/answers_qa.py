"""Questions with answers as the server answers them."""

from __future__ import annotations

from codexmem.client.answers import Answer, Listed


class Hits(Answer):
    """How often an item was put before somebody, and relied upon."""

    shown: int
    used: int


class Validations(Answer):
    """How often its answer was tried, and how that ended."""

    success: int
    failure: int


class Item(Answer):
    """A question with its answer."""

    qa_id: str
    project_id: str
    question: str
    answer: str
    summary: str | None
    tags: tuple[str, ...]
    status: str  # candidate, active, validated, deprecated, expired
    unproven: bool
    confidence: float
    hits: Hits
    validations: Validations
    contradicts: tuple[str, ...]
    version: int
    created_at_ms: int
    updated_at_ms: int
    score: float | None = None


class Items(Listed[Item]):
    """Some items, the newest first."""


class Matches(Answer):
    """What a question found, the best first."""

    items: tuple[Item, ...]
    count: int
    mode: str
    degraded: tuple[str, ...] | None = None


class Candidate(Answer):
    """What became of a proposed item."""

    qa_id: str
    status: str
    created: bool  # not, if one that says the same was there
    merged_into: str | None
    confidence: float
    contradicts: tuple[str, ...]


class Judged(Answer):
    """An item after a report of how its answer did."""

    qa_id: str
    status: str
    previous_status: str
    confidence: float
    unproven: bool
    validations: Validations


class Counted(Answer):
    """How many reports were taken in."""

    accepted: int
    deduped: int
    unknown: tuple[str, ...]


class Decision(Item):
    """An item after a person decided about it; `delta` takes that back."""

    delta: str | None
