"""Many notes: searched, listed and counted.

Figures read every note, so they are kept for each tenant until something is written, and for twenty times as long as
counting took: how often notes were read is told as of then, in a small store as of now.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from codexmem.domain import ids
from codexmem.domain.errors import InvalidArgument
from codexmem.domain.memory import VISIBLE, Memory, Status
from codexmem.domain.note import CORE, LISTED, NOTES, NoteFigures
from codexmem.domain.query import Cursor, Filter, Page
from codexmem.domain.search import Answer, Found, Mode, Search
from codexmem.services.memories import Memories
from codexmem.services.notes.finding import Desk, checked_domain
from codexmem.store.database import Database
from codexmem.store.noted import Noted

_KEPT_S = 10.0  # at most
_KEPT_TIMES = 20  # as long as counting took
_TENANTS = 1_000
PRIORITIES = range(11)


@dataclass(frozen=True, slots=True)
class Wish:
    """Which notes; every field that is given must hold."""

    domain: str | None = None
    priority_min: int | None = None
    priority_max: int | None = None
    status: Status | None = None

    def filter(self, statuses: frozenset[Status]) -> Filter:
        """As the store is asked; the first label is the one that leaves the fewest rows to look at."""
        domain = checked_domain(self.domain)
        low = PRIORITIES[0] if self.priority_min is None else self.priority_min
        high = PRIORITIES[-1] if self.priority_max is None else self.priority_max
        if low > high:
            raise InvalidArgument(f"priority_min {low} is above priority_max {high}", hint="0 is the most important")
        wanted = Filter(NOTES, statuses=statuses if self.status is None else frozenset({self.status}))
        within = (("domain", frozenset({domain})),) if domain is not None else ()
        if (low, high) == (PRIORITIES[0], PRIORITIES[-1]):
            return replace(wanted, facets=within)
        if within and high > CORE:
            return replace(wanted, facets=within, priority_min=low, priority_max=high)
        priorities = frozenset(str(priority) for priority in PRIORITIES if low <= priority <= high)
        return replace(wanted, facets=(("priority", priorities), *within))


@dataclass(frozen=True, slots=True)
class Results:
    """What a search found, best first."""

    found: tuple[Found, ...]
    mode: Mode
    more: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of notes, newest first."""

    memories: tuple[Memory, ...]
    more: bool
    after: Cursor | None = None  # where the next page begins


@dataclass(frozen=True, slots=True)
class _Kept:
    """Figures, until when they are told, and the last writes they know of."""

    until: float
    written: tuple[int, ...]
    figures: NoteFigures


class Shelf:
    """Finds and counts."""

    def __init__(self, db: Database, memories: Memories, noted: Noted, desk: Desk,
                 search: Callable[[Search], Answer]) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._noted = noted
        self._desk = desk
        self._search = search
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def search(self, query: str, wish: Wish, *, limit: int, offset: int = 0) -> Results:
        """Notes whose address, content or disclosure fits; an address that is asked for itself comes first."""
        wanted = wish.filter(VISIBLE)
        answer = self._search(Search(query, wanted, limit=limit, offset=offset))
        found = list(answer.results)
        exact = self._exact(query, wish)
        if exact is not None:
            found = [each for each in found if each.memory.seq != exact.seq]
            if not offset:
                found = [Found(exact, 1.0), *found][:limit]
        return Results(tuple(found), answer.mode, answer.more, answer.notes)

    def page(self, wish: Wish, *, limit: int, after: Cursor | None = None) -> Listed:
        """Notes of every status but deleted, unless one is asked for."""
        page = self._memories.page(wish.filter(LISTED), Page(limit=limit, after=after))
        return Listed(page.items, page.after is not None, page.after)

    def figures(self) -> NoteFigures:
        """How many notes there are of what."""
        tenant, now = self._db.acting_tenant(), ids.monotonic()
        # Read before the figures: what is written in between makes them count anew.
        written = self._noted.last_write()
        with self._lock:
            kept = self._kept.get(tenant)
        if kept is not None and now < kept.until and kept.written == written:
            return kept.figures
        figures = self._noted.figures()
        took = ids.monotonic() - now
        with self._lock:
            self._kept[tenant] = _Kept(now + min(_KEPT_S, _KEPT_TIMES * took), written, figures)
            self._kept.move_to_end(tenant)
            while len(self._kept) > _TENANTS:
                self._kept.popitem(last=False)
        return figures

    def named(self, figures: NoteFigures) -> list[tuple[Memory, int]]:
        """The notes that are read most."""
        found = self._memories.many([seq for seq, _ in figures.most_read], NOTES)
        return [(found[seq], reads) for seq, reads in figures.most_read if seq in found]

    def _exact(self, query: str, wish: Wish) -> Memory | None:
        if "://" not in query or " " in query.strip():
            return None
        try:
            memory = self._desk.find(query)
        except InvalidArgument:
            return None
        if memory is None or memory.state.status not in VISIBLE:
            return None
        within = replace(wish, status=None).filter(VISIBLE)
        state, facets = memory.state, memory.state.facets()
        labelled = all(any((facet, value) in facets for value in values) for facet, values in within.facets)
        low = within.priority_min if within.priority_min is not None else PRIORITIES[0]
        high = within.priority_max if within.priority_max is not None else PRIORITIES[-1]
        return memory if labelled and low <= state.priority <= high else None
