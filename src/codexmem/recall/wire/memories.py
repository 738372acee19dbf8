"""Memories of any kind, in a few words as lists tell them, and with all that is known of them as programs of ours read
them. Times are milliseconds since 1970.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.params import Int64
from codexmem.kernel.model import handle, note, text_size
from codexmem.kernel.model.attrs import QaAttrs
from codexmem.kernel.model.life import Life, life_of
from codexmem.kernel.model.memory import REMEMBERED, VISIBLE, Kind, Mark, Memory, Origin, Status
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery, SearchResult, Unit
from codexmem.kernel.wire import Figure, WireAnswer, required_first
from codexmem.recall.context import ContextRequest, PreviewedContext
from codexmem.recall.context_lines import MAX_MISSES, ContextLine, LineReason, NearMiss, NotTold
from codexmem.recall.forgetting import SHOWN, ErasureTrail, ForgetPreview
from codexmem.recall.lineage import Downstream, SessionCounts, ToldMemory
from codexmem.recall.overview import MOST_COUNTED
from codexmem.recall.staleness import FileFreshness

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
    life: Life
    marks: tuple[Mark, ...]
    origin: Origin
    uri: str | None
    session: int | None = Field(description="number of the session in which it was made, if that was captured")
    session_key: str | None

    @classmethod
    def of_session(cls, memory: Memory, session: int | None, life: Life | None = None, **more: Any) -> Self:
        """A memory, made in this session; where its life is not given, it is one that is in use."""
        state = memory.state
        return cls.of(
            memory,
            project=state.project,
            status=state.status,
            life=life if life is not None else life_of(memory, superseded=False),
            marks=tuple(sorted(state.marks)),
            origin=memory.author,
            uri=state.uris[0] if state.uris else None,
            session=session,
            session_key=memory.session,
            **more,
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


class ContextMemory(WireAnswer):
    """A memory that a line of the context tells, or that was just not told."""

    ref: str
    seq: int
    kind: Kind
    type: str
    title: str
    project: str
    origin: Origin
    life: Life
    marks: tuple[Mark, ...]
    stale: FileFreshness | None = Field(description="what became of its files in the checkout; null: not known")

    @classmethod
    def of(cls, memory: Memory, stale: FileFreshness | None, **more: Any) -> Self:
        """A memory, with the further fields of a larger document."""
        state = memory.state
        asked = state.attrs.question if isinstance(state.attrs, QaAttrs) else ""
        return cls(
            ref=handle.ref(memory),
            seq=memory.seq,
            kind=memory.kind,
            type=state.type,
            title=more.pop("title", "") or note.headline(state.title or asked or state.content, _TITLE),
            project=state.project,
            origin=memory.author,
            life=life_of(memory, superseded=False),
            marks=tuple(sorted(state.marks)),
            stale=stale,
            **more,
        )


class ContextPreviewLine(WireAnswer):
    """One line of the text, or the few lines that tell one memory."""

    text: str = Field(description="all of them, joined by line ends, are the text")
    tokens: int
    reason: LineReason = Field(description="why it stands there")
    section: LineReason | None = Field(description="null for what is around the sections")
    memory: ContextMemory | None = Field(description="what it tells; null for headings and for what was counted")

    @classmethod
    def of(cls, line: ContextLine, memory: ContextMemory | None) -> Self:
        """A line, and the memory that it tells."""
        return cls(
            text=line.text,
            tokens=text_size.tokens(line.text),
            reason=line.reason,
            section=line.section,
            memory=memory,
        )


class ContextSection(WireAnswer):
    """What a section costs, of how much it may."""

    name: LineReason
    tokens: int
    budget: int


class NotToldMemory(ContextMemory):
    """A memory that was just not told; its title is what it says where only that was not told."""

    why: NotTold
    section: LineReason | None = Field(description="where it would stand; null where that is not known")
    limit: int | None = Field(description="tokens which that section may cost; null where that is not known")


class ContextPreview(WireAnswer):
    """What the next session would be given; nothing is counted as shown and no session begins."""

    project: str
    prompt: str
    text: str = Field(description="to the letter; empty if there is nothing to say")
    tokens: int = Field(description="about what reading it costs")
    memories: tuple[int, ...] = Field(description="numbers of the memories it tells")
    budget: int = Field(description="tokens that it may cost")
    sections: tuple[ContextSection, ...]
    lines: tuple[ContextPreviewLine, ...]
    below: tuple[NotToldMemory, ...] = Field(description=f"what was just not told, at most {MAX_MISSES}")

    @classmethod
    def of(cls, request: ContextRequest, told: PreviewedContext) -> Self:
        """What this request would be given."""
        memories = {
            seq: ContextMemory.of(memory, told.freshness.get(seq)) for seq, memory in told.memories.items()
        }  # fmt: skip

        def missed(miss: NearMiss) -> NotToldMemory:
            title = note.headline(miss.text, _TITLE) if miss.text else ""
            return NotToldMemory.of(
                told.memories[miss.seq],
                told.freshness.get(miss.seq),
                why=miss.why,
                title=title,
                section=miss.section,
                limit=miss.limit,
            )

        return cls(
            project=request.project,
            prompt=request.prompt,
            text=told.given.text,
            tokens=told.given.tokens,
            memories=told.given.seqs,
            budget=told.budget,
            sections=tuple(
                ContextSection(name=each.name, tokens=each.tokens, budget=each.budget) for each in told.sections
            ),
            lines=tuple(
                ContextPreviewLine.of(line, memories.get(line.seq) if line.seq is not None else None)
                for line in told.lines
            ),
            below=tuple(missed(miss) for miss in told.misses),
        )


class Forgotten(Short):
    """A memory that would go."""

    project: str


class FollowedMemory(Forgotten):
    """A memory that may come of what is forgotten."""

    session: str | None = Field(description="that was told it and wrote this afterwards; null if only the words say so")

    @classmethod
    def found(cls, each: Downstream) -> Self:
        """This one."""
        return cls.of(each.memory, project=each.memory.state.project, session=each.session)


class UndoTrail(WireAnswer):
    """What may come of what is undone."""

    quoting: int = Field(description="memories that carry its words")
    first_quoting: tuple[FollowedMemory, ...]
    after: int = Field(description="memories only written after it was told")
    first_after: tuple[FollowedMemory, ...]

    @classmethod
    def of(cls, found: Sequence[Downstream]) -> Self:
        """These."""
        quoting, after = ([each for each in found if each.quotes is carries] for carries in (True, False))
        return cls(
            quoting=len(quoting),
            first_quoting=tuple(map(FollowedMemory.found, quoting[:SHOWN])),
            after=len(after),
            first_after=tuple(map(FollowedMemory.found, after[:SHOWN])),
        )


class HoldingBackup(WireAnswer):
    """A backup that still holds some of it."""

    name: str
    created_ms: int
    memories: int | None = Field(description="how many; null where it cannot be looked into")


class ForgetTrail(WireAnswer):
    """Where what is forgotten went."""

    quoting: int = Field(description="memories that carry its words, which go with it")
    first_quoting: tuple[FollowedMemory, ...]
    after: int = Field(description="memories only written after it was told, which go with all_after")
    first_after: tuple[FollowedMemory, ...]
    events: int = Field(description="events of the log that quote it, such as traces of searches")
    captured: int = Field(description="captured events of other sessions that quote it")
    spooled: int = Field(description="events that wait to be delivered and quote it")
    backups: tuple[HoldingBackup, ...] = Field(description="which stay as they are")
    more: bool = Field(description="so much that not all was looked at")

    @classmethod
    def of(cls, trail: ErasureTrail) -> Self:
        """This one."""
        return cls(
            quoting=len(trail.quoting),
            first_quoting=tuple(map(FollowedMemory.found, trail.quoting[:SHOWN])),
            after=len(trail.after),
            first_after=tuple(map(FollowedMemory.found, trail.after[:SHOWN])),
            events=len(trail.events),
            captured=len(trail.captured),
            spooled=len(trail.files),
            backups=tuple(
                HoldingBackup(name=each.name, created_ms=each.created_ms, memories=each.memories)
                for each in trail.backups
            ),
            more=trail.more,
        )


class ToldRow(Forgotten):
    """A memory that a session was told."""

    told_ms: int


class LineageAnswer(WireAnswer):
    """What a session was told, the latest first, and what it wrote after the first of it, the oldest first."""

    session: str
    told: tuple[ToldRow, ...]
    written: tuple[Forgotten, ...]

    @classmethod
    def of(cls, session: str, told: Sequence[ToldMemory], written: Sequence[Memory]) -> Self:
        """Of this session."""
        return cls(
            session=session,
            told=tuple(ToldRow.of(each.memory, project=each.memory.state.project, told_ms=each.at_ms) for each in told),
            written=tuple(Forgotten.of(each, project=each.state.project) for each in written),
        )


class SessionCountsAnswer(WireAnswer):
    """What memory was to a session so far, in numbers; each is counted up to 1,000."""

    session: str
    told: int = Field(description="memories that it was told")
    opened: int = Field(description="of these, how many it asked for as a whole")
    learned: int = Field(description="memories that it left and that still stand, but for what was asked")

    @classmethod
    def of(cls, session: str, counts: SessionCounts) -> Self:
        """Of this session."""
        return cls(session=session, told=counts.told, opened=counts.opened, learned=counts.learned)


class ForgetAnswer(WireAnswer):
    """What was erased, or with `preview` what would be."""

    success: bool
    erased: int
    found: int | None = Field(default=None, description="only with preview: how many memories would go")
    more: bool | None = Field(default=None, description="only with preview: so many that only these were counted")
    first: tuple[Forgotten, ...] | None = Field(default=None, description="only with preview: the first 100")
    kept: tuple[Forgotten, ...] | None = Field(
        default=None, description="only with preview: what persons wrote in the session, which include_mine erases too"
    )
    trail: ForgetTrail | None = Field(default=None, description="only with follow: what goes, or would go, besides")

    @classmethod
    def of_preview(cls, outline: ForgetPreview, trail: ErasureTrail | None = None) -> Self:
        """What would go."""
        first, kept = (
            tuple(Forgotten.of(each, project=each.state.project) for each in memories)
            for memories in (outline.first, outline.kept)
        )
        more = {"trail": ForgetTrail.of(trail)} if trail is not None else {}
        return cls(success=True, erased=0, found=outline.found, more=outline.more, first=first, kept=kept, **more)


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
    origin: Origin
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
    marks: tuple[Mark, ...]
    life: Life | None = Field(None, description="where it is in its life; only of a memory that was named")

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A memory, with the further fields of a larger document."""
        return cls(
            label=handle.label(memory),
            seq=memory.seq,
            id=memory.id,
            kind=memory.kind,
            version=memory.version,
            origin=memory.author,
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
