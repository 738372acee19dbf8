"""What happened around a moment: the memories before and after an anchor, in the order they were made.

An anchor is a memory or a time. Both sides are read from an index that is already in that order, so a window costs its
own length however large the store is.
"""

from collections.abc import Callable
from dataclasses import dataclass

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

    def best(self, query: str, project: str | None) -> Memory | None:
        """The observation that fits the query best."""
        found = self._search(Search(query, Filter(frozenset({Kind.OBSERVATION}), project=project), limit=1)).results
        return found[0].memory if found else None

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
