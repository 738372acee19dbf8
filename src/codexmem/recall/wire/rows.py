"""Observations, summaries and prompts in the fields that clients of contract 000 know: alone, in lists, among results
and around an anchor. Lists are native arrays. Services are named for their types alone, so that a client may read this.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import ConfigDict, Field

from codexmem.http.moments import iso
from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs, SummaryAttrs
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.wire import Figure, WireAnswer, required_first
from codexmem.recall.wire.layout import TURN

if TYPE_CHECKING:
    from codexmem.recall.lookup import LookupResults
    from codexmem.recall.saving import SavedMemory
    from codexmem.recall.timeline import TimelineWindow
    from codexmem.recall.wire.requests import ListRequest

_Score = Field(None, description="only with a query: probability of relevance")


class Observation(WireAnswer):
    """One observation."""

    id: int
    memory_session_id: str | None
    project: str
    text: str | None
    type: str
    title: str
    subtitle: str
    facts: tuple[str, ...]
    narrative: str
    concepts: tuple[str, ...]
    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    prompt_number: int | None
    discovery_tokens: int
    created_at: str
    created_at_epoch: int

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A memory of this kind, or a turn read as one, with the further fields of a larger document."""
        state, attrs = memory.state, memory.state.attrs
        assert isinstance(attrs, ObservationAttrs | SummaryAttrs)
        observed = attrs if isinstance(attrs, ObservationAttrs) else ObservationAttrs()
        return cls(
            id=memory.seq,
            memory_session_id=memory.session,
            project=state.project,
            text=None,  # a field of old rows that nothing fills any more
            type=state.type if observed is attrs else TURN,
            title=state.title,
            subtitle=observed.subtitle,
            facts=observed.facts,
            narrative=state.content,
            concepts=observed.concepts,
            files_read=attrs.files_read,
            files_modified=attrs.files_modified,
            prompt_number=attrs.prompt_number,
            discovery_tokens=attrs.discovery_tokens,
            created_at=iso(memory.created_ms),
            created_at_epoch=memory.created_ms,
            **more,
        )


class MarkedObservation(Observation):
    """An observation whose files are not as they were."""

    staleness: str = Field(description="what became of its files in the caller's checkout")


class Summary(WireAnswer):
    """One checkpoint of a session."""

    id: int
    session_id: str | None
    memory_session_id: str | None
    project: str
    request: str
    investigated: str
    learned: str
    completed: str
    next_steps: str
    notes: str
    prompt_number: int | None
    discovery_tokens: int
    created_at: str
    created_at_epoch: int

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A memory of this kind, with the further fields of a larger document."""
        attrs = memory.state.attrs
        assert isinstance(attrs, SummaryAttrs)
        return cls(
            id=memory.seq,
            session_id=memory.session,
            memory_session_id=memory.session,
            project=memory.state.project,
            request=attrs.request,
            investigated=attrs.investigated,
            learned=attrs.learned,
            completed=attrs.completed,
            next_steps=attrs.next_steps,
            notes=attrs.notes,
            prompt_number=attrs.prompt_number,
            discovery_tokens=attrs.discovery_tokens,
            created_at=iso(memory.created_ms),
            created_at_epoch=memory.created_ms,
            **more,
        )


class Prompt(WireAnswer):
    """What somebody asked; a private one has no text."""

    id: int
    content_session_id: str | None
    project: str
    prompt_number: int
    prompt_text: str
    private: bool
    created_at: str
    created_at_epoch: int

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A memory of this kind, with the further fields of a larger document."""
        attrs = memory.state.attrs
        assert isinstance(attrs, PromptAttrs)
        return cls(
            id=memory.seq,
            content_session_id=memory.session,
            project=memory.state.project,
            prompt_number=attrs.prompt_number,
            prompt_text=memory.state.content,
            private=attrs.private,
            created_at=iso(memory.created_ms),
            created_at_epoch=memory.created_ms,
            **more,
        )


class _Page(WireAnswer):
    model_config = ConfigDict(json_schema_extra=required_first("hasMore", "offset", "limit"))

    items: tuple[Any, ...]
    hasMore: bool  # noqa: N815  the contract's spelling
    offset: int
    limit: int

    @classmethod
    def of(cls, memories: Sequence[Memory], request: "ListRequest", *, more: bool) -> Self:
        """One page of a list."""
        items = tuple(_ROW[memory.kind].of(memory) for memory in memories)
        return cls(items=items, hasMore=more, offset=request.offset, limit=request.limit)


class ObservationPage(_Page):
    """Observations, the newest first."""

    items: tuple[Observation, ...]


class SummaryPage(_Page):
    """Summaries, the newest first."""

    items: tuple[Summary, ...]


class PromptPage(_Page):
    """Prompts, the newest first."""

    items: tuple[Prompt, ...]


class FoundObservation(Observation):
    """An observation among results."""

    score: Figure | None = _Score


class FoundSummary(Summary):
    """A summary among results."""

    score: Figure | None = _Score


class FoundPrompt(Prompt):
    """A prompt among results."""

    score: Figure | None = _Score


class SearchOutcome(WireAnswer):
    """How a search went, behind what it found; degraded answers say so."""

    model_config = ConfigDict(json_schema_extra=required_first("totalResults", "query", "hasMore"))

    totalResults: int  # noqa: N815  the contract's spelling
    query: str
    hasMore: bool  # noqa: N815  the contract's spelling
    mode: str | None = Field(None, description="only with a query: hybrid or lexical-only")
    notes: tuple[str, ...] | None = Field(None, description="what was degraded or left out, in words; only then")

    @classmethod
    def of(cls, found: "LookupResults", query: str, **more: Any) -> Self:
        """What a search found."""
        outcome: dict[str, Any] = {"totalResults": len(found.memories), "query": query, "hasMore": found.more}
        if found.mode is not None:
            outcome["mode"] = found.mode.value
        if found.notes:
            outcome["notes"] = found.notes
        return cls(**outcome, **more)


class _Categories(WireAnswer):
    observations: tuple[FoundObservation, ...]
    sessions: tuple[FoundSummary, ...]
    prompts: tuple[FoundPrompt, ...]


class SearchRows(SearchOutcome, _Categories):  # a later base's fields are answered first
    """What a search found, by category; with format=json."""

    @classmethod
    def of_search(cls, found: "LookupResults", query: str) -> Self:
        """In each category in the order of the results."""
        return cls.of(
            found,
            query,
            observations=_found(FoundObservation, Kind.OBSERVATION, found),
            sessions=_found(FoundSummary, Kind.SUMMARY, found),
            prompts=_found(FoundPrompt, Kind.PROMPT, found),
        )


class _At(WireAnswer):
    kind: str


class ObservationAt(Observation, _At):
    """An observation of a timeline."""

    model_config = ConfigDict(json_schema_extra=required_first(*Observation.model_fields))

    kind: Literal["observation"]


class SummaryAt(Summary, _At):
    """A summary of a timeline."""

    model_config = ConfigDict(json_schema_extra=required_first(*Summary.model_fields))

    kind: Literal["session"]


class PromptAt(Prompt, _At):
    """A prompt of a timeline."""

    model_config = ConfigDict(json_schema_extra=required_first(*Prompt.model_fields))

    kind: Literal["prompt"]


class TimelineAnchor(WireAnswer):
    """Which of the items is the anchor."""

    type: Literal["observation", "session", "prompt"]
    id: int


class TimelineRows(WireAnswer):
    """What happened around an anchor, in order; with format=json."""

    anchor: TimelineAnchor | None
    items: tuple[ObservationAt | SummaryAt | PromptAt, ...]

    @classmethod
    def of(cls, shown: "TimelineWindow") -> Self:
        """A timeline."""
        anchor = shown.anchor
        return cls(
            anchor=TimelineAnchor(type=_ITEMS[anchor.kind], id=anchor.seq) if anchor is not None else None,
            items=tuple(_AT[memory.kind].of(memory, kind=_ITEMS[memory.kind]) for memory in shown.items),
        )


class Saved(WireAnswer):
    """What a save answers."""

    success: bool
    id: int
    title: str
    project: str
    message: str
    duplicate: bool | None = None  # only where the same was saved before

    @classmethod
    def of(cls, saved: "SavedMemory") -> Self:
        """What was saved, or was there already."""
        memory = saved.memory
        return cls(
            success=True,
            id=memory.seq,
            title=memory.state.title,
            project=memory.state.project,
            message=f"Memory saved as observation #{memory.seq}",
            **({"duplicate": True} if saved.duplicate else {}),
        )


class TextPart(WireAnswer):
    """A piece of text as an MCP client takes it."""

    type: Literal["text"]
    text: str


class TextAnswer(WireAnswer):
    """Text for a model; what is answered unless rows are asked for."""

    content: tuple[TextPart, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """One text, so that a bridge can pass it on."""
        return cls(content=(TextPart(type="text", text=text),))


_ROW: Mapping[Kind, type[Observation | Summary | Prompt]] = {
    Kind.OBSERVATION: Observation,
    Kind.SUMMARY: Summary,
    Kind.PROMPT: Prompt,
}
_AT: Mapping[Kind, type[ObservationAt | SummaryAt | PromptAt]] = {
    Kind.OBSERVATION: ObservationAt,
    Kind.SUMMARY: SummaryAt,
    Kind.PROMPT: PromptAt,
}
_ITEMS: Mapping[Kind, Literal["observation", "session", "prompt"]] = {
    Kind.OBSERVATION: "observation",
    Kind.SUMMARY: "session",
    Kind.PROMPT: "prompt",
}


def _found(row: type[Any], kind: Kind, found: "LookupResults") -> tuple[Any, ...]:
    return tuple(row.of(memory, **scored(memory, found)) for memory in found.memories if memory.kind is kind)


def scored(memory: Memory, found: "LookupResults") -> dict[str, float]:
    """The field that only results of a query have."""
    return {"score": round(found.scores[memory.seq], 4)} if memory.seq in found.scores else {}
