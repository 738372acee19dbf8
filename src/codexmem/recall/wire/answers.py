"""From a request to its answer: the four verbs of recall, in text for models and in rows for programs."""

from dataclasses import dataclass
from typing import Protocol

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.lookup import Lookup
from codexmem.recall.saving import Saving
from codexmem.recall.timeline import TimelineReader
from codexmem.recall.wire import index_text, rows, timeline_text
from codexmem.recall.wire.requests import (
    DEFAULT_PROJECT,
    ObservationBatchRequest,
    SaveRequest,
    SearchRequest,
    TimelineRequest,
)
from codexmem.recall.wire.timeline_text import TimelineQuery

_READ = frozenset({Kind.OBSERVATION, Kind.SUMMARY})


class SearchServices(Protocol):
    """What the recall interface needs."""

    @property
    def lookup(self) -> Lookup: ...
    @property
    def memories(self) -> Memories: ...
    @property
    def saving(self) -> Saving: ...
    @property
    def timeline(self) -> TimelineReader: ...


@dataclass(frozen=True, slots=True)
class Rendered:
    """One answer in both forms."""

    text: str
    rows: WireAnswer


def search(services: SearchServices, request: SearchRequest, passage_tokens: int = 0) -> Rendered:
    """The index of what fits and, in so many tokens, what that says."""
    query = (request.query or "").strip()
    found, passages = index_text.find(services.lookup, request, passage_tokens)
    text = "\n\n".join((index_text.index(found, query), *passages))
    return Rendered(text, rows.SearchRows.of_search(found, query))


def timeline(services: SearchServices, request: TimelineRequest) -> Rendered:
    """What happened around an anchor; given both, the anchor counts and the query does not."""
    query = (request.query or "").strip()
    if request.anchor is not None:
        window = services.timeline.around(request.anchor, request.depth, request.project)
        asked = TimelineQuery(request.depth, anchor=request.spelled_anchor)
        return Rendered(timeline_text.timeline(window, asked), rows.TimelineRows.of(window))
    if not query:
        raise InvalidArgument('Error: Must provide either "anchor" or "query" parameter')
    best = services.timeline.best(query, request.project)
    if best is None:
        return Rendered(timeline_text.nothing_for(query), rows.TimelineRows(anchor=None, items=()))
    window = services.timeline.beside(best, request.depth)
    return Rendered(
        timeline_text.timeline(window, TimelineQuery(request.depth, query=query)), rows.TimelineRows.of(window)
    )


def batch(services: SearchServices, request: ObservationBatchRequest) -> list[rows.Observation]:
    """Observations and turns by number; those that do not exist are left out."""
    found = services.memories.many(request.ids, _READ).values()
    kept = [memory for memory in found if memory.state.status is not Status.DELETED and request.keeps(memory)]
    kept.sort(key=lambda memory: (memory.created_ms, memory.seq), reverse=request.orderBy == "date_desc")
    return [rows.Observation.of(memory) for memory in kept[: request.limit]]


def save(services: SearchServices, request: SaveRequest, actor: str, project: str | None = None) -> rows.Saved:
    """Remember a text; the same text and title in the same project is one memory."""
    return rows.Saved.of(services.saving.save(request.to_draft(project or DEFAULT_PROJECT), WriteContext(actor)))
