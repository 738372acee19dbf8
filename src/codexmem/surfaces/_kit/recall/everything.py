"""One search over every kind of memory at once; each result says by its label what it is and how to ask for it.

The order is that of relevance across kinds: grouping by kind or day would hide which of two kinds knows better.
"""

from collections import Counter
from typing import Any, ClassVar, Literal, Protocol

from pydantic import Field

from codexmem.domain import handle
from codexmem.domain.memory import Kind, Memory
from codexmem.services.lookup import Lookup, Results
from codexmem.surfaces._kit.moments import iso
from codexmem.surfaces._kit.recall import layout
from codexmem.surfaces._kit.recall.answers import Told
from codexmem.surfaces._kit.recall.index_text import notes_of
from codexmem.surfaces._kit.recall.requests import CATEGORIES, SearchRequest, Several

_HEAD = ("| Memory | Date | Title | Project |", "|--------|------|-------|---------|")
_EXCERPT = 300  # characters
_LINE = 240  # characters of a line of the table
_READ = (
    "Read more: an observation (#…) by get_observations, a note by read_memory with its address. "
    "Where something came from: codexmem why, or GET /api/provenance/, with what stands under Memory."
)


class Services(Protocol):
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
    """`search` of a door that can widen it."""

    scope: Literal["all"] | None = Field(
        None, description="all: also search notes, questions and answers, knowledge and lessons."
    )


def search(services: Services, request: EverythingRequest) -> Told:
    """What fits, of every kind."""
    found, query = services.lookup.find(request.to_wish()), (request.query or "").strip()
    return Told(_text(found, query), _rows(found, query))


def _rows(found: Results, query: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "results": [_row(memory, found.scores.get(memory.seq)) for memory in found.memories],
        "kinds": dict(Counter(memory.kind.value for memory in found.memories)),
        "totalResults": len(found.memories),
        "query": query,
        "hasMore": found.more,
    }
    if found.mode is not None:
        told["mode"] = found.mode.value
    if found.notes:
        told["notes"] = list(found.notes)
    return told


def _row(memory: Memory, score: float | None) -> dict[str, Any]:
    state = memory.state
    return {
        "label": handle.label(memory),
        "kind": memory.kind.value,
        "seq": memory.seq,
        "id": memory.id,
        "uri": state.uris[0] if state.uris else None,
        "title": layout.line(state.title),
        "excerpt": layout.cut(layout.line(state.content[: 10 * _EXCERPT]), _EXCERPT),
        "project": state.project,
        "type": state.type,
        "status": state.status.value,
        "origin": memory.origin.value,
        "source": memory.source,
        "session": memory.session,
        "version": memory.version,
        "created_at": iso(memory.created_ms),
        "created_at_epoch": memory.created_ms,
        **({"score": round(score, 4)} if score is not None else {}),
    }


def _text(found: Results, query: str) -> str:
    matching = f' matching "{layout.line(query)}"' if query else ""
    if not found.memories:
        return "\n\n".join((f"No results found{matching}", *notes_of(found)))
    counts = Counter(memory.kind.value for memory in found.memories)
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    lines = (
        f"Found {len(found.memories)} result(s){matching} in every kind of memory ({parts})",
        "",
        *_HEAD,
        *(_line(memory) for memory in found.memories),
    )
    return "\n\n".join(("\n".join(lines), *notes_of(found), _READ))


def _line(memory: Memory) -> str:
    state = memory.state
    title = layout.title_of(memory) if memory.kind in CATEGORIES.values() else layout.line(state.title)
    if memory.kind not in CATEGORIES.values():
        # Nothing in the recall tools reads these in full, so that the line says what they say.
        said = layout.line(state.content[: 10 * _LINE])
        title = f"{title}: {said}" if title and title != said else said
    day = iso(memory.created_ms)[:10]
    return (
        f"| {layout.cell(handle.label(memory))} | {day} | {layout.cell(layout.cut(title, _LINE))} | "
        f"{layout.cell(state.project) or '-'} |"
    )
