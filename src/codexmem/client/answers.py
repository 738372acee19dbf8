"""What the server answers, as values. Fields that this version does not know are passed over.

Times named `…_ms` are milliseconds since 1970; `seq` is the number by which a memory is erased, `ref` what people call
it by.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Frozen, and open to servers that say more."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Health(Answer):
    """That the server answers."""

    status: str
    version: str
    uptime: int  # seconds
    initialized: bool


class Projects(Answer):
    """Every project that something is remembered of."""

    projects: tuple[str, ...]


class Saved(Answer):
    """A memory that was saved by hand."""

    id: int
    title: str
    project: str
    message: str
    duplicate: bool | None = None  # the same was saved before, and that one stands


class Observation(Answer):
    """What was seen or done, as it is remembered."""

    id: int
    type: str
    title: str
    subtitle: str
    narrative: str
    text: str | None
    facts: tuple[str, ...]
    concepts: tuple[str, ...]
    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    project: str
    memory_session_id: str | None
    prompt_number: int | None
    created_at: str
    created_at_epoch: int  # milliseconds


class FoundObservation(Observation):
    """An observation that a search found."""

    score: float | None = None  # probability of relevance; none without words to look for


class FoundSummary(Answer):
    """What a session came to, found by a search."""

    id: int
    request: str
    investigated: str
    learned: str
    completed: str
    next_steps: str
    notes: str
    project: str
    session_id: str | None
    created_at_epoch: int
    score: float | None = None


class FoundPrompt(Answer):
    """What somebody asked of an agent, found by a search."""

    id: int
    prompt_text: str
    prompt_number: int
    project: str
    content_session_id: str | None
    created_at_epoch: int
    score: float | None = None


class Found(Answer):
    """What a search found, each kind with the best first."""

    query: str
    observations: tuple[FoundObservation, ...]
    sessions: tuple[FoundSummary, ...]
    prompts: tuple[FoundPrompt, ...]
    total: int = Field(alias="totalResults")
    has_more: bool = Field(alias="hasMore")
    mode: str | None = None  # by which means; `notes` says what was degraded
    notes: tuple[str, ...] | None = None


class Observations(Answer):
    """Observations, the newest first."""

    items: tuple[Observation, ...]
    has_more: bool = Field(alias="hasMore")


class Row(Answer):
    """One memory of any kind in the long list."""

    ref: str
    seq: int
    kind: str
    type: str
    title: str
    snippet: str
    project: str
    status: str
    uri: str | None
    session_key: str | None
    created_ms: int


class Timeline(Answer):
    """Some memories, always the newest first."""

    items: tuple[Row, ...]
    older: str | None
    newer: str | None

    @property
    def following(self) -> str | None:
        """The cursor of older ones."""
        return self.older


class Undone(Answer):
    """What one call took back; while `more`, repeat it with `into=delta` and `after=after`."""

    delta: str | None  # take this back to have everything as it was
    restored: int
    left: int  # written by others since, and so left
    lost_uris: tuple[str, ...]
    after: int | None
    more: bool


class Forgotten(Answer):
    """What was erased for good, or with `preview` what would be."""

    erased: int
    found: int | None = None
    more: bool | None = None
