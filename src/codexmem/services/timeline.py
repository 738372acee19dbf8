"""What happened around a moment: the memories before and after an anchor, in the order they were made.

An anchor is a memory or a time. Both sides are read from an index that is already in that order, so a window costs its
own length however large the store is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from codexmem.domain import handle
from codexmem.domain.errors import InvalidArgument, NotFound
from codexmem.domain.memory import Kind, Memory, Status
from codexmem.domain.query import Cursor, Filter, Order, Page, Seq
from codexmem.domain.search import Answer, Search
from codexmem.services.memories import Memories

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
class Depth:
    """How far to look to each side."""

    before: int = 10
    after: int = 10

    def __post_init__(self) -> None:
        """Every list is bounded."""
        for name, value in (("depth_before", self.before), ("depth_after", self.after)):
            if not 0 <= value <= MAX_DEPTH:
                raise InvalidArgument(f"{name} must be between 0 and {MAX_DEPTH}, not {value}")


@dataclass(frozen=True, slots=True)
class Window:
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

    cursor: Cursor  # rows up to this one, and not it, are newer; those below it older
    toward: Toward


@dataclass(frozen=True, slots=True)
class Flow:
    """A page of the long list, newest first."""

    items: tuple[Memory, ...]
    older: Cursor | None  # where older ones go on; None at the end
    newer: Cursor | None  # where newer ones go on, also those that are still to come; None if the list is empty


class Timeline:
    """Reads windows of observations, summaries and prompts."""

    def __init__(self, memories: Memories, search: Callable[[Search], Answer]) -> None:
        self._memories = memories
        self._search = search

    def around(self, anchor: At | When, depth: Depth, project: str | None) -> Window:
        """The window around the anchor; without a project, the anchor's own, and around a time all of them."""
        wanted = Filter(KINDS, project=project)
        if isinstance(anchor, When):
            # Numbers begin at 1: this place is before everything of that millisecond.
            edge = Cursor(anchor.ms, 0)
            after = self._page(wanted, Page(depth.after + 1, edge, Order.OLDEST))
            before = self._page(wanted, Page(depth.before, edge)) if depth.before else []
            return Window((*reversed(before), *after), after[0] if after else None)
        memory = self._find(anchor, project)
        return self.beside(memory, depth)

    def beside(self, memory: Memory, depth: Depth) -> Window:
        """The window around a memory, inside its project."""
        wanted, edge = Filter(KINDS, project=memory.state.project), Cursor(memory.created_ms, memory.seq)
        before = self._page(wanted, Page(depth.before, edge)) if depth.before else []
        after = self._page(wanted, Page(depth.after, edge, Order.OLDEST)) if depth.after else []
        return Window((*reversed(before), memory, *after), memory)

    def flow(self, wanted: Filter, edge: Edge | None, *, limit: int) -> Flow:
        """A page of everything that fits, from an edge or, without one, from the newest; it costs its own length."""
        if edge is None or edge.toward is Toward.OLDER:
            begin = edge.cursor if edge is not None else None
            page = self._memories.page(wanted, Page(limit, begin))
            return Flow(page.items, page.after, _at(page.items[0]) if page.items else begin)
        half = limit if edge.toward is Toward.NEWER else max(1, limit // 2)
        newer = tuple(reversed(self._page(wanted, Page(half, edge.cursor, Order.OLDEST))))
        upper = _at(newer[0]) if newer else edge.cursor
        if edge.toward is Toward.NEWER:
            return Flow(newer, _at(newer[-1]) if newer else edge.cursor, upper)
        below = self._memories.page(wanted, Page(limit - half or 1, _behind(edge.cursor)))
        return Flow((*newer, *below.items), below.after, upper)

    def edge(self, name: str, toward: Toward) -> tuple[Edge, Memory]:
        """The edge at a memory: it is the first of the older ones, and of a window around it."""
        meant, kinds = handle.parsed(name)
        try:
            memory = self._memories.get(meant, kinds)
        except NotFound:
            raise NotFound(f"{name.strip()[:80]} is not remembered", hint=f"write {handle.EXAMPLES}") from None
        place = _at(memory)
        return Edge(place if toward is not Toward.OLDER else _behind(place), toward), memory

    def best(self, query: str, project: str | None) -> Memory | None:
        """The observation that fits the query best."""
        found = self._search(Search(query, Filter(frozenset({Kind.OBSERVATION}), project=project), limit=1)).results
        return found[0].memory if found else None

    @staticmethod
    def moment(first_ms: int, last_ms: int, toward: Toward) -> Edge:
        """The edge at a time, which may be a whole day: all of it is among the older ones, and among the newer."""
        # Numbers begin at 1: place 0 of a millisecond is before everything of it.
        return Edge(Cursor(last_ms + 1 if toward is Toward.OLDER else first_ms, 0), toward)

    def _find(self, anchor: At, project: str | None) -> Memory:
        missing = NotFound(f"{_NAMES[anchor.kind]} #{anchor.seq} not found")
        try:
            memory = self._memories.get(Seq(anchor.seq), frozenset({anchor.kind}))
        except NotFound:
            raise missing from None
        if memory.state.status is Status.DELETED or project not in (None, memory.state.project):
            raise missing
        return memory

    def _page(self, wanted: Filter, page: Page) -> list[Memory]:
        return list(self._memories.page(wanted, page).items)


def _at(memory: Memory) -> Cursor:
    return Cursor(memory.created_ms, memory.seq)


def _behind(cursor: Cursor) -> Cursor:
    """The place just after a row, so that going to older ones begins with it."""
    return Cursor(cursor.created_ms, cursor.seq + 1)
