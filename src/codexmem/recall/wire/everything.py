"""One search over every kind of memory at once; each result says by its label what it is and how to ask for it.

The order is that of relevance across kinds: grouping by kind or day would hide which of two kinds knows better.
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, Literal, Protocol, Self

from pydantic import Field

from codexmem.http.moments import iso
from codexmem.kernel.model import handle
from codexmem.kernel.model.life import Life, life_of
from codexmem.kernel.model.memory import Kind, Mark, Memory, Origin, Status
from codexmem.kernel.wire import Figure, WireAnswer
from codexmem.recall.lookup import Lookup, LookupResults
from codexmem.recall.staleness import Comparison
from codexmem.recall.wire import index_text, layout
from codexmem.recall.wire.answers import Rendered
from codexmem.recall.wire.index_text import notes_of
from codexmem.recall.wire.requests import CATEGORIES, SearchRequest, Several
from codexmem.recall.wire.rows import SearchOutcome, scored

_HEAD = ("| Memory | Date | Title | Project |", "|--------|------|-------|---------|")
_MOST_PASSAGE_TOKENS = 10_000
_EXCERPT = 300  # characters
_LINE = 240  # characters of a line of the table
_READ = (
    "Read more: an observation (#…) by get_observations, a note by read_memory with its address. "
    "Where something came from: codexmem why, or GET /api/provenance/, with what stands under Memory."
)


class EverythingServices(Protocol):
    """What the search needs."""

    @property
    def lookup(self) -> Lookup: ...


class EverythingRequest(SearchRequest):
    """The same questions as of `search`, put to every kind."""

    categories: ClassVar[dict[str, Kind]] = {
        **CATEGORIES,
        "notes": Kind.NOTE, "note": Kind.NOTE,
        "qa": Kind.QA,
        "knowledge": Kind.KNOWLEDGE, "kb": Kind.KNOWLEDGE,
        "lessons": Kind.LESSON, "lesson": Kind.LESSON,
        "chunks": Kind.CHUNK, "chunk": Kind.CHUNK,
    }  # fmt: skip

    type: Several | None = Field(
        None,
        description="observations, sessions, prompts, notes, qa, knowledge or lessons; chunks, which only this finds, "
        "are pieces of the lab's documents; any other value is a type of observation, e.g. bugfix.",
    )


class ScopedRequest(SearchRequest):
    """`search` of an interface that can widen it."""

    scope: Literal["all"] | None = Field(
        None, description="all: also search notes, questions and answers, knowledge and lessons."
    )
    passage_tokens: int = Field(
        1_500, ge=0, le=_MOST_PASSAGE_TOKENS, description="Tokens of what the results say, below the index; 0 for none."
    )


class FoundMemory(WireAnswer):
    """A memory of any kind among results."""

    label: str = Field(description="a name that every interface takes")
    kind: Kind
    seq: int
    id: str
    uri: str | None
    title: str
    excerpt: str
    project: str
    type: str
    status: Status
    life: Life
    marks: tuple[Mark, ...]
    origin: Origin
    source: str | None
    session: str | None
    version: int
    created_at: str
    created_at_epoch: int
    score: Figure | None = Field(None, description="only with a query: probability of relevance")

    @classmethod
    def of(cls, memory: Memory, found: LookupResults) -> Self:
        """One of the results."""
        state = memory.state
        return cls(
            label=handle.label(memory),
            kind=memory.kind,
            seq=memory.seq,
            id=memory.id,
            uri=state.uris[0] if state.uris else None,
            title=layout.line(state.title),
            excerpt=layout.cut(layout.line(state.content[: 10 * _EXCERPT]), _EXCERPT),
            project=state.project,
            type=state.type,
            status=state.status,
            life=life_of(memory, superseded=False),
            marks=tuple(sorted(state.marks)),
            origin=memory.author,
            source=memory.source,
            session=memory.session,
            version=memory.version,
            created_at=iso(memory.created_ms),
            created_at_epoch=memory.created_ms,
            **scored(memory, found),
        )


class _Kinds(WireAnswer):
    results: tuple[FoundMemory, ...]
    kinds: dict[str, int]


class EverythingRows(SearchOutcome, _Kinds):  # a later base's fields are answered first
    """What a search over every kind found, best first."""

    @classmethod
    def of_search(cls, found: LookupResults, query: str) -> Self:
        """Whatever kind it is."""
        return cls.of(
            found,
            query,
            results=tuple(FoundMemory.of(memory, found) for memory in found.memories),
            kinds=Counter(memory.kind.value for memory in found.memories),
        )


def search(services: EverythingServices, request: EverythingRequest, passage_tokens: int = 0,
           compared: Comparison | None = None) -> Rendered:  # fmt: skip
    """What fits, of every kind."""
    query = (request.query or "").strip()
    found, passages = index_text.find(services.lookup, request, passage_tokens)
    marks = compared.marks(found.memories) if compared is not None else {}
    text = "\n\n".join((_text(found, query, marks), *passages))
    return Rendered(text, EverythingRows.of_search(found, query), tuple(each.seq for each in found.memories))


def _text(found: LookupResults, query: str, marks: Mapping[int, str]) -> str:
    matching = f' matching "{layout.line(query)}"' if query else ""
    if not found.memories:
        return "\n\n".join((f"No results found{matching}", *notes_of(found)))
    counts = Counter(memory.kind.value for memory in found.memories)
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    lines = (
        f"Found {len(found.memories)} result(s){matching} in every kind of memory ({parts})",
        "",
        *_HEAD,
        *(_line(memory, marks.get(memory.seq, "")) for memory in found.memories),
    )
    return "\n\n".join(("\n".join(lines), *notes_of(found), _READ))


def _line(memory: Memory, mark: str) -> str:
    state = memory.state
    title = layout.title_of(memory) if memory.kind in CATEGORIES.values() else layout.line(state.title)
    if memory.kind not in CATEGORIES.values():
        # Nothing in the recall tools reads these in full, so that the line says what they say.
        said = layout.line(state.content[: 10 * _LINE])
        title = layout.marked(memory, f"{title}: {said}" if title and title != said else said)
    day, title = iso(memory.created_ms)[:10], layout.beside(layout.cell(layout.cut(title, _LINE)), mark)
    return f"| {layout.cell(handle.label(memory))} | {day} | {title} | {layout.cell(state.project) or '-'} |"
