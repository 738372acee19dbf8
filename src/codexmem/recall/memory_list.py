"""Lists of memories of every kind by where they are in their life, their marks, their origin and what they are about.

A page starts from the index that is narrowest for what is asked: a mark, what is hidden or out of use, a label, a
project. What no index has (the origin, the agent, what needs care, a label of a hidden memory, whether a deprecated one
has a successor) is decided on the rows that were read, of which one call reads `MOST_READ` at most: a page may then be
short, or even empty, and still say where to go on.
"""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from codexmem.kernel.model.attrs import STAMPED
from codexmem.kernel.model.life import HIDDEN, UNPROVEN, Life
from codexmem.kernel.model.memory import REMEMBERED, VISIBLE, Kind, Mark, Memory, Origin, Status
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor
from codexmem.kernel.services.lifecycle import Lifecycle
from codexmem.kernel.services.memories import Memories
from codexmem.recall.brief_model import MemoryConcern
from codexmem.recall.lookup import Lookup

MOST_READ = 2_000  # rows that one call looks at
_BATCH = 200  # rows read at a time where not every one is sure to fit
IN_USE = frozenset({Life.ACTIVE, Life.PROPOSED})
_OF_FILES = frozenset({MemoryConcern.CHANGED, MemoryConcern.GONE})
_STATUSES: dict[Life, frozenset[Status]] = {
    Life.PROPOSED: VISIBLE,
    Life.ACTIVE: VISIBLE,
    Life.SUPERSEDED: frozenset({Status.DEPRECATED, Status.ARCHIVED}),  # of lessons, the latter
    Life.DEPRECATED: frozenset({Status.DEPRECATED}),
    Life.HIDDEN: HIDDEN,
    Life.EXPIRED: frozenset({Status.EXPIRED}),
}


@dataclass(frozen=True, slots=True)
class ListRequirements:
    """Which memories; every given field must hold, several values of one mean any of them."""

    kinds: frozenset[Kind] = REMEMBERED
    project: str | None = None
    lives: frozenset[Life] = IN_USE
    marks: frozenset[Mark] = frozenset()
    origins: frozenset[Origin] = frozenset()
    files: tuple[str, ...] = ()  # parts of paths
    concepts: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()  # in whose sessions they were made
    from_ms: int | None = None
    to_ms: int | None = None
    concern: MemoryConcern | None = None

    @property
    def is_sure(self) -> bool:
        """Whether indexes alone decide."""
        return self.lives == IN_USE and not self.origins and not self.agents and self.concern is None


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """A memory, and where it is in its life."""

    memory: Memory
    life: Life


@dataclass(frozen=True, slots=True)
class MemoryListPage:
    """Some memories, newest first."""

    items: tuple[ListedMemory, ...]
    after: RowCursor | None  # where the next page begins; None at the end


class MemoryLists:
    """Reads pages of the acting tenant's memories."""

    def __init__(
        self, memories: Memories, lookup: Lookup, lifecycle: Lifecycle,
        agents: Callable[[list[str]], Mapping[str, str]] = lambda _: {},
        judge: Callable[[MemoryConcern, str | None], Callable[[Memory], bool]] = lambda *_: lambda _: False,
    ) -> None:  # fmt: skip
        self._memories = memories
        self._lookup = lookup
        self._lifecycle = lifecycle
        self._agents = agents  # which agent had which of these sessions
        self._judge = judge  # of a project: whether a memory gives such concern

    def page(self, wanted: ListRequirements, *, limit: int, after: RowCursor | None = None) -> MemoryListPage:
        """The next memories behind a place; costs its own length, and at most `MOST_READ` rows."""
        labels = self._labels(wanted)
        if any(not values for _, values in labels):
            return MemoryListPage((), None)
        sources = _sources(wanted, labels)
        sure = wanted.is_sure and len(sources) == 1
        concerns = self._judge(wanted.concern, wanted.project) if wanted.concern is not None else None
        items: list[ListedMemory] = []
        read = 0
        while True:
            some, after = self._next(sources, after, limit if sure else _BATCH)
            lives = self._lifecycle.lives(some)
            agents = self._agents([each.session for each in some if each.session]) if wanted.agents else {}
            for number, each in enumerate(some):
                fits = (
                    _fits(each, lives[each.seq], wanted, labels)
                    and (not wanted.agents or agents.get(each.session or "") in wanted.agents)
                    and (concerns is None or concerns(each))
                )
                if fits:
                    items.append(ListedMemory(each, lives[each.seq]))
                if len(items) == limit and (number + 1 < len(some) or after is not None):
                    return MemoryListPage(tuple(items), RowCursor(each.created_ms, each.seq))
            read += len(some)
            if after is None or read >= MOST_READ:
                return MemoryListPage(tuple(items), after)

    def _next(
        self, sources: list[Filter], after: RowCursor | None, limit: int
    ) -> tuple[list[Memory], RowCursor | None]:
        """The next rows of all sources together, each once."""
        pages = [self._memories.page(each, PageRequest(limit, after)) for each in sources]
        merged = heapq.merge(*(page.items for page in pages), key=lambda each: (-each.created_ms, -each.seq))
        distinct = list({each.seq: each for each in merged}.values())
        more = len(distinct) > limit or any(page.after is not None for page in pages)
        some = distinct[:limit]
        return some, RowCursor(some[-1].created_ms, some[-1].seq) if more else None

    def _labels(self, wanted: ListRequirements) -> list[tuple[str, frozenset[str]]]:
        labels = [(name, values) for name, values in (("concept", wanted.concepts), ("type", wanted.types)) if values]
        if wanted.files:
            labels.append(("file", self._lookup.file_labels(wanted.files, wanted.project)[0]))
        if wanted.marks:
            labels.append(("mark", frozenset(mark.value for mark in wanted.marks)))
        if wanted.concern in _OF_FILES:
            labels.append((STAMPED[0], frozenset({STAMPED[1]})))
        return labels


def _sources(wanted: ListRequirements, labels: list[tuple[str, frozenset[str]]]) -> list[Filter]:
    """Filters that together hold everything wanted, each led by a narrow index."""
    statuses = frozenset(status for life in wanted.lives for status in _STATUSES[life])
    base = Filter(
        wanted.kinds, project=wanted.project, statuses=statuses, created_from_ms=wanted.from_ms,
        created_to_ms=wanted.to_ms,
    )  # fmt: skip
    if wanted.marks:
        return [replace(base, facets=tuple(reversed(labels)))]  # marked ones are few
    if wanted.lives == {Life.PROPOSED}:
        marked = replace(base, facets=(("mark", frozenset({Mark.PROPOSED.value})), *labels))
        candidates = replace(
            base, kinds=wanted.kinds & UNPROVEN or wanted.kinds, statuses=frozenset({Status.CANDIDATE}),
            facets=tuple(labels),
        )  # fmt: skip
        return [marked, candidates] if wanted.kinds & UNPROVEN else [marked]
    return [replace(base, facets=tuple(labels))] if statuses & VISIBLE else [base]


def _fits(memory: Memory, life: Life, wanted: ListRequirements, labels: list[tuple[str, frozenset[str]]]) -> bool:
    if life not in wanted.lives or (wanted.origins and memory.author not in wanted.origins):
        return False
    facets = memory.state.facets() if labels else frozenset()
    return all(any((name, value) in facets for value in values) for name, values in labels)
