"""What happened around a moment: the memories before and after an anchor, in the order they were made.

An anchor is a memory or a time. Both sides are read from an index that is already in that order, so a window costs its
own length however large the store is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model import handle
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.memory import Kind, Memory, Status
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor, RowOrder, Seq
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.services.memories import Memories

MAX_DEPTH = 100
KINDS = frozenset({Kind.OBSERVATION, Kind.SUMMARY, Kind.PROMPT})
_NAMES = {Kind.OBSERVATION: "Observation", Kind.SUMMARY: "Session", Kind.PROMPT: "Prompt"}


@dataclass(frozen=True, slots=True)
class At:
    """An anchor that is a memory of one kind."""

    kind: Kind
    seq: int


@dataclass(frozen=True, slots=True)
class When:
    """An anchor that is a time."""

    ms: int


@dataclass(frozen=True, slots=True)
class TimelineDepth:
    """How far to look to each side."""

    before: int = 10
    after: int = 10

    def __post_init__(self) -> None:
        """Every list is bounded."""
        for name, value in (("depth_before", self.before), ("depth_after", self.after)):
            if not 0 <= value <= MAX_DEPTH:
                raise InvalidArgument(f"{name} must be between 0 and {MAX_DEPTH}, not {value}")


@dataclass(frozen=True, slots=True)
class TimelineWindow:
    """Memories in order, and which of them is the anchor; None if nothing stands at or after a time."""

    items: tuple[Memory, ...]
    anchor: Memory | None


class Toward(StrEnum):
    """Which way a list goes from a place in it."""

    OLDER = "older"
    NEWER = "newer"
    AROUND = "around"


@dataclass(frozen=True, slots=True)
class Edge:
    """A place between two rows of the list, and which way to go from there."""

    cursor: RowCursor  # rows up to this one, and not it, are newer; those below it older
    toward: Toward


@dataclass(frozen=True, slots=True)
class Flow:
    """A page of the long list, newest first."""

    items: tuple[Memory, ...]
    older: RowCursor | None  # where older ones go on; None at the end
    newer: RowCursor | None  # where newer ones go on, also those that are still to come; None if the list is empty


class TimelineReader:
    """Reads windows of observations, summaries and prompts."""

    def __init__(self, memories: Memories, search: Callable[[SearchQuery], SearchAnswer]) -> None:
        self._memories = memories
        self._search = search

    def around(self, anchor: At | When, depth: TimelineDepth, project: str | None) -> TimelineWindow:
        """The window around the anchor; without a project, the anchor's own, and around a time all of them."""
        wanted = Filter(KINDS, project=project)
        if isinstance(anchor, When):
            # Numbers begin at 1: this place is before everything of that millisecond.
            edge = RowCursor(anchor.ms, 0)
            after = self._page(wanted, PageRequest(depth.after + 1, edge, RowOrder.OLDEST))
            before = self._page(wanted, PageRequest(depth.before, edge)) if depth.before else []
            return TimelineWindow((*reversed(before), *after), after[0] if after else None)
        memory = self._find(anchor, project)
        return self.beside(memory, depth)

    def beside(self, memory: Memory, depth: TimelineDepth) -> TimelineWindow:
        """The window around a memory, inside its project."""
        wanted, edge = Filter(KINDS, project=memory.state.project), RowCursor(memory.created_ms, memory.seq)
        before = self._page(wanted, PageRequest(depth.before, edge)) if depth.before else []
        after = self._page(wanted, PageRequest(depth.after, edge, RowOrder.OLDEST)) if depth.after else []
        return TimelineWindow((*reversed(before), memory, *after), memory)

    def flow(self, wanted: Filter, edge: Edge | None, *, limit: int) -> Flow:
        """A page of everything that fits, from an edge or, without one, from the newest; it costs its own length."""
        if edge is None or edge.toward is Toward.OLDER:
            begin = edge.cursor if edge is not None else None
            page = self._memories.page(wanted, PageRequest(limit, begin))
            return Flow(page.items, page.after, _at(page.items[0]) if page.items else begin)
        half = limit if edge.toward is Toward.NEWER else max(1, limit // 2)
        newer = tuple(reversed(self._page(wanted, PageRequest(half, edge.cursor, RowOrder.OLDEST))))
        upper = _at(newer[0]) if newer else edge.cursor
        if edge.toward is Toward.NEWER:
            return Flow(newer, _at(newer[-1]) if newer else edge.cursor, upper)
        below = self._memories.page(wanted, PageRequest(limit - half or 1, _behind(edge.cursor)))
        return Flow((*newer, *below.items), below.after, upper)

    def edge(self, name: str, toward: Toward) -> tuple[Edge, Memory]:
        """The edge at a memory: it is the first of the older ones, and of a window around it."""
        try:
            memory = self._memories.get(handle.parsed(name), frozenset(Kind))
        except NotFound:
            raise NotFound(
                f"{name.strip()[:80]} is not remembered", hint=f"write {handle.EXAMPLES}",
                details={"reason": "not_remembered", "name": name.strip()[:80]},
            ) from None  # fmt: skip
        place = _at(memory)
        return Edge(place if toward is not Toward.OLDER else _behind(place), toward), memory

    def best(self, query: str, project: str | None) -> Memory | None:
        """The observation that fits the query best."""
        found = self._search(
            SearchQuery(query, Filter(frozenset({Kind.OBSERVATION}), project=project), limit=1)
        ).results
        return found[0].memory if found else None

    @staticmethod
    def moment(first_ms: int, last_ms: int, toward: Toward) -> Edge:
        """The edge at a time, which may be a whole day: all of it is among the older ones, and among the newer."""
        # Numbers begin at 1: place 0 of a millisecond is before everything of it.
        return Edge(RowCursor(last_ms + 1 if toward is Toward.OLDER else first_ms, 0), toward)

    def _find(self, anchor: At, project: str | None) -> Memory:
        missing = NotFound(f"{_NAMES[anchor.kind]} #{anchor.seq} not found")
        try:
            memory = self._memories.get(Seq(anchor.seq), frozenset({anchor.kind}))
        except NotFound:
            raise missing from None
        if memory.state.status is Status.DELETED or project not in (None, memory.state.project):
            raise missing
        return memory

    def _page(self, wanted: Filter, page: PageRequest) -> list[Memory]:
        return list(self._memories.page(wanted, page).items)


def _at(memory: Memory) -> RowCursor:
    return RowCursor(memory.created_ms, memory.seq)


def _behind(cursor: RowCursor) -> RowCursor:
    """The place just after a row, so that going to older ones begins with it."""
    return RowCursor(cursor.created_ms, cursor.seq + 1)
