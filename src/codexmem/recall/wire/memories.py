"""Memories of any kind, in a few words as lists tell them, and with all that is known of them as programs of ours read
them. Times are milliseconds since 1970.
"""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.params import Int64
from codexmem.kernel.model import handle, note, text_size
from codexmem.kernel.model.attrs import QaAttrs
from codexmem.kernel.model.memory import REMEMBERED, VISIBLE, Kind, Memory, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery, SearchResult, Unit
from codexmem.kernel.wire import Figure, WireAnswer, required_first
from codexmem.recall.context import ContextRequest
from codexmem.recall.context_page import Given
from codexmem.recall.forgetting import ForgetPreview
from codexmem.recall.overview import MOST_COUNTED

_TITLE = 200  # characters
_SNIPPET = 300  # characters
_FACETS = ("type", "concept", "file", "tag", "role")
_MAX_PROJECTS = 5
_Texts = Annotated[list[str], Field(max_length=50)]


class Short(WireAnswer):
    """A memory in a few words."""

    ref: str = Field(
        description="a name that every interface takes: #12, #S9, #P7, project://config, qa-…, kb-…, mem:…"
    )
    seq: int
    kind: Kind
    type: str
    title: str
    snippet: str
    created_ms: int
    tokens: int = Field(description="about what reading it costs")

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A memory, with the further fields of a larger document."""
        state = memory.state
        asked = state.attrs.question if isinstance(state.attrs, QaAttrs) else ""
        return cls(
            ref=handle.ref(memory),
            seq=memory.seq,
            kind=memory.kind,
            type=state.type,
            title=note.headline(state.title or asked or state.content, _TITLE),
            snippet=_excerpt(state.content),
            created_ms=memory.created_ms,
            tokens=text_size.tokens(state.content),
            **more,
        )


class TimelineRow(Short):
    """One memory of the list."""

    project: str
    status: Status
    uri: str | None
    session: int | None = Field(description="number of the session in which it was made, if that was captured")
    session_key: str | None

    @classmethod
    def of_session(cls, memory: Memory, session: int | None) -> Self:
        """A memory, made in this session."""
        state = memory.state
        return cls.of(
            memory,
            project=state.project,
            status=state.status,
            uri=state.uris[0] if state.uris else None,
            session=session,
            session_key=memory.session,
        )


class TimelinePage(WireAnswer):
    """Some memories, always the newest first."""

    items: tuple[TimelineRow, ...]
    older: str | None = Field(description="the cursor of older ones; null at the end")
    newer: str | None = Field(description="the cursor of newer ones, also of those to come; null if there is nothing")
    anchor: str | None = Field(description="the memory that was asked for as an anchor")


class MemoryCount(WireAnswer):
    """How many memories there are."""

    count: int
    more: bool = Field(description=f"whether there may be more: only {MOST_COUNTED:,} are counted")

    @classmethod
    def of(cls, count: int) -> Self:
        """So many were counted."""
        return cls(count=count, more=count == MOST_COUNTED)


class ContextPreview(WireAnswer):
    """What the next session would be given; nothing is counted as shown and no session begins."""

    project: str
    prompt: str
    text: str = Field(description="to the letter; empty if there is nothing to say")
    tokens: int = Field(description="about what reading it costs")
    memories: tuple[int, ...] = Field(description="numbers of the memories it tells")

    @classmethod
    def of(cls, request: ContextRequest, given: Given) -> Self:
        """What this request would be given."""
        return cls(
            project=request.project, prompt=request.prompt, text=given.text, tokens=given.tokens, memories=given.seqs
        )


class Forgotten(Short):
    """A memory that would go."""

    project: str


class ForgetAnswer(WireAnswer):
    """What was erased, or with `preview` what would be."""

    success: bool
    erased: int
    found: int | None = Field(default=None, description="only with preview: how many memories would go")
    more: bool | None = Field(default=None, description="only with preview: so many that only these were counted")
    first: tuple[Forgotten, ...] | None = Field(default=None, description="only with preview: some of them")

    @classmethod
    def of_preview(cls, outline: ForgetPreview) -> Self:
        """What would go."""
        first = tuple(Forgotten.of(each, project=each.state.project) for each in outline.first)
        return cls(success=True, erased=0, found=outline.found, more=outline.more, first=first)


class FullSearch(BaseModel):
    """`POST /api/memories/search`: each field that is given must hold, several values of one mean any of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str
    projects: Annotated[list[str], Field(max_length=_MAX_PROJECTS)] = Field(
        default=[], description="memories of any of these; the empty name means those of no project; none means all"
    )
    kinds: list[Kind] = Field(default=[], description="none means every kind but chunk")
    statuses: list[Status] = Field(default=[], description="none means candidate, active and validated")
    type: _Texts = []
    concept: _Texts = []
    file: _Texts = []
    tag: _Texts = []
    role: _Texts = []
    session: str | None = None
    created_from_ms: Int64 | None = None
    created_to_ms: Int64 | None = None
    as_of_ms: Int64 | None = Field(None, description="what the memory held then, found by words only")
    min_score: float | None = Field(
        None, description="results below this are left out; 0 shows even what does not fit, which is else left out"
    )
    limit: int = 10
    offset: int = 0
    unit: Unit = Unit.MEMORY
    recipe: str = "default"
    explain: bool = Field(False, description="with what each signal added to the rank of a result")

    def search(self, project: str | None, *, limit: int, offset: int) -> SearchQuery:
        """The search of one project, or of all."""
        wanted = Filter(
            kinds=frozenset(self.kinds) or REMEMBERED,
            project=project,
            statuses=frozenset(self.statuses) or VISIBLE,
            facets=tuple((name, frozenset(values)) for name in _FACETS if (values := getattr(self, name))),
            session=self.session,
            created_from_ms=self.created_from_ms,
            created_to_ms=self.created_to_ms,
        )
        return SearchQuery(
            self.query, wanted, limit=limit, offset=offset, min_score=self.min_score, unit=self.unit,
            recipe=self.recipe, explain=self.explain, as_of_ms=self.as_of_ms,
        )  # fmt: skip


class FullMemory(WireAnswer):
    """A memory with all that is known of its present state."""

    label: str = Field(description="its name as people read it: #12, #S9, note project://config, kb-…")
    seq: int
    id: str
    kind: Kind
    version: int
    origin: str
    session: str | None
    source: str | None
    created_ms: int
    updated_ms: int
    content: str
    attrs: dict[str, Any]
    project: str
    status: Status
    type: str
    title: str
    priority: int
    confidence: Figure
    uris: tuple[str, ...]
    links: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A memory, with the further fields of a larger document."""
        return cls(
            label=handle.label(memory),
            seq=memory.seq,
            id=memory.id,
            kind=memory.kind,
            version=memory.version,
            origin=memory.origin.value,
            session=memory.session,
            source=memory.source,
            created_ms=memory.created_ms,
            updated_ms=memory.updated_ms,
            **memory.state.to_json(),
            **more,
        )


class _Ranked(WireAnswer):
    rank: int
    score: Figure = Field(description="probability of relevance")
    signals: dict[str, Figure]


class FullResult(FullMemory, _Ranked):  # a later base's fields are answered first
    """A memory that was found."""

    model_config = ConfigDict(json_schema_extra=required_first(*FullMemory.model_fields))

    @classmethod
    def of_search(cls, rank: int, found: SearchResult) -> Self:
        """A result at this place."""
        return cls.of(found.memory, rank=rank, score=found.score, signals=found.signals)


class FullResults(WireAnswer):
    """What was found, best first, and how."""

    query: str
    projects: tuple[str, ...]
    mode: SearchMode
    results: tuple[FullResult, ...]
    more: bool
    notes: tuple[str, ...] = Field(description="what was degraded and why")
    sources: dict[str, int]
    timings_ms: dict[str, Figure]
    recipe: str
    unit: Unit
    limit: int
    offset: int
    min_score: float | None
    as_of_ms: int | None

    @classmethod
    def of(cls, asked: FullSearch, answer: SearchAnswer) -> Self:
        """The answer to this search."""
        ranked = enumerate(answer.results, start=asked.offset + 1)
        return cls(
            query=asked.query,
            projects=tuple(asked.projects),
            mode=answer.mode,
            results=tuple(FullResult.of_search(rank, found) for rank, found in ranked),
            more=answer.more,
            notes=answer.notes,
            sources=answer.sources,
            timings_ms=answer.timings_ms,
            recipe=asked.recipe,
            unit=asked.unit,
            limit=asked.limit,
            offset=asked.offset,
            min_score=asked.min_score,
            as_of_ms=asked.as_of_ms,
        )


def _excerpt(text: str) -> str:
    line = " ".join(text[: 10 * _SNIPPET].split())
    return line if len(line) <= _SNIPPET else f"{line[: _SNIPPET - 1].rstrip()}…"
