"""What the recall doors answer, for the interface description. The answers are built by `rows` and `everything` alone;
tests hold them against this.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field

from codexmem.domain.memory import Kind, Origin, Status
from codexmem.surfaces._kit.recall.rows import Observation, Prompt, Summary

_Item = Literal["observation", "session", "prompt"]


class PlainError(BaseModel):
    """What went wrong, and what to do next where that can be said."""

    error: str
    hint: str | None = None


def answers(model: Any) -> dict[int | str, dict[str, Any]]:
    """For a route that builds its answer itself: what it looks like, without a change to it."""
    return {200: {"model": model}, "default": {"model": PlainError, "description": "An error"}}


class TextPart(BaseModel):
    """A piece of text as an MCP client takes it."""

    type: Literal["text"]
    text: str


class TextAnswer(BaseModel):
    """Text for a model; what is answered unless rows are asked for."""

    content: list[TextPart]


class _Page(BaseModel):
    hasMore: bool  # noqa: N815  the contract's spelling
    offset: int
    limit: int


class ObservationPage(_Page):
    """Observations, the newest first."""

    items: list[Observation]


class SummaryPage(_Page):
    """Summaries, the newest first."""

    items: list[Summary]


class PromptPage(_Page):
    """Prompts, the newest first."""

    items: list[Prompt]


class _Scored(BaseModel):
    score: float | None = Field(None, description="only with a query: probability of relevance")


class FoundObservation(Observation, _Scored):
    """An observation among results."""


class FoundSummary(Summary, _Scored):
    """A summary among results."""


class FoundPrompt(Prompt, _Scored):
    """A prompt among results."""


class _Results(BaseModel):
    totalResults: int  # noqa: N815  the contract's spelling
    query: str
    hasMore: bool  # noqa: N815  the contract's spelling
    mode: str | None = Field(None, description="only with a query: hybrid or lexical-only")
    notes: list[str] | None = Field(None, description="what was degraded or left out, in words; only then")


class SearchRows(_Results):
    """What a search found, by category; with format=json."""

    observations: list[FoundObservation]
    sessions: list[FoundSummary]
    prompts: list[FoundPrompt]


class ObservationAt(Observation):
    """An observation of a timeline."""

    kind: Literal["observation"]


class SummaryAt(Summary):
    """A summary of a timeline."""

    kind: Literal["session"]


class PromptAt(Prompt):
    """A prompt of a timeline."""

    kind: Literal["prompt"]


class TimelineAnchor(BaseModel):
    """Which of the items is the anchor."""

    type: _Item
    id: int


class TimelineRows(BaseModel):
    """What happened around an anchor, in order; with format=json."""

    anchor: TimelineAnchor | None
    items: list[ObservationAt | SummaryAt | PromptAt]


class FoundMemory(_Scored):
    """A memory of any kind among results."""

    label: str = Field(description="a name that every door takes")
    kind: Kind
    seq: int
    id: str
    uri: str | None
    title: str
    excerpt: str
    project: str
    type: str
    status: Status
    origin: Origin
    source: str | None
    session: str | None
    version: int
    created_at: str
    created_at_epoch: int


class EverythingRows(_Results):
    """What a search over every kind found, best first."""

    results: list[FoundMemory]
    kinds: dict[str, int]
