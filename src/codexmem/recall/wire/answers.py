"""From a request to its answer: the four verbs of recall, in text for models and in rows for programs."""

from dataclasses import dataclass
from typing import Protocol

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.lookup import Lookup
from codexmem.recall.saving import Saving
from codexmem.recall.staleness import Comparison, Staleness
from codexmem.recall.timeline import TimelineReader, TimelineWindow
from codexmem.recall.wire import index_text, rows
from codexmem.recall.wire.index_text import TimelineQuery
from codexmem.recall.wire.requests import (
    DEFAULT_PROJECT,
    ObservationBatchRequest,
    SaveRequest,
    SearchRequest,
    TimelineRequest,
)

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
    def staleness(self) -> Staleness: ...
    @property
    def timeline(self) -> TimelineReader: ...


@dataclass(frozen=True, slots=True)
class Rendered:
    """One answer in both forms."""

    text: str
    rows: WireAnswer
    seqs: tuple[int, ...] = ()  # the memories that it tells of


_NOTHING_COMPARED = Comparison()


def search(services: SearchServices, request: SearchRequest, passage_tokens: int = 0,
           compared: Comparison = _NOTHING_COMPARED) -> Rendered:  # fmt: skip
    """The index of what fits and, in so many tokens, what that says."""
    query = (request.query or "").strip()
    found, passages = index_text.find(services.lookup, request, passage_tokens)
    text = "\n\n".join((index_text.index(found, query, compared.marks(found.memories)), *passages))
    return Rendered(text, rows.SearchRows.of_search(found, query), tuple(each.seq for each in found.memories))


def timeline(services: SearchServices, request: TimelineRequest, compared: Comparison = _NOTHING_COMPARED) -> Rendered:
    """What happened around an anchor; given both, the anchor counts and the query does not."""
    query = (request.query or "").strip()
    if request.anchor is not None:
        window = services.timeline.around(request.anchor, request.depth, request.project)
        asked = TimelineQuery(request.depth, anchor=request.spelled_anchor)
        return _window(window, asked, compared)
    if not query:
        raise InvalidArgument('Error: Must provide either "anchor" or "query" parameter')
    best = services.timeline.best(query, request.project)
    if best is None:
        return Rendered(index_text.nothing_for(query), rows.TimelineRows(anchor=None, items=()))
    window = services.timeline.beside(best, request.depth)
    return _window(window, TimelineQuery(request.depth, query=query), compared)


def _window(window: TimelineWindow, asked: TimelineQuery, compared: Comparison) -> Rendered:
    text = index_text.timeline(window, asked, compared.marks(window.items))
    return Rendered(text, rows.TimelineRows.of(window), tuple(each.seq for each in window.items))


def batch(services: SearchServices, request: ObservationBatchRequest,
          compared: Comparison = _NOTHING_COMPARED) -> list[rows.Observation]:  # fmt: skip
    """Observations and turns by number; those that do not exist are left out. Whoever opens one uses it."""
    found = services.memories.many(request.ids, _READ).values()
    kept = [memory for memory in found if memory.state.status is not Status.DELETED and request.keeps(memory)]
    kept.sort(key=lambda memory: (memory.created_ms, memory.seq), reverse=request.orderBy == "date_desc")
    services.memories.count_reading([memory.seq for memory in kept[: request.limit]], used=1)
    return [_read(memory, compared) for memory in kept[: request.limit]]


def _read(memory: Memory, compared: Comparison) -> rows.Observation:
    mark = compared.verdict(memory).mark
    return rows.MarkedObservation.of(memory, staleness=mark.strip("()")) if mark else rows.Observation.of(memory)


def save(services: SearchServices, request: SaveRequest, by: WriteContext, project: str | None = None) -> rows.Saved:
    """Remember a text; the same text and title in the same project is one memory."""
    return rows.Saved.of(services.saving.save(request.to_draft(project or DEFAULT_PROJECT, by.origin), by))
