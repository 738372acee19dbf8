"""A store that is written to and searched as endpoints do it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from codexmem.kernel.model.attrs import Attrs
from codexmem.kernel.model.event import Event, EventType
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import ATTRS, Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, Seq
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.store.database import Database
from tests._support import services

ALL = frozenset(Kind)
ME = WriteContext("test")
_STATE = frozenset({"project", "status", "type", "title", "priority", "confidence", "uris", "links"})
_FILTER = frozenset(
    {"project", "statuses", "facets", "session", "created_from_ms", "created_to_ms", "priority_min", "priority_max"}
)


class Searched:
    """Short words for long calls."""

    def __init__(self, db: Database, **parts: Any) -> None:
        self.real = services.build(db, **parts)

    def write(self, content: str, *, kind: Kind = Kind.NOTE, origin: Origin = Origin.AGENT, session: str | None = None,
              created_ms: int | None = None, by: WriteContext = ME, **fields: Any) -> Memory:  # fmt: skip
        """Remember; fields are those of the state or, if they are not, of the kind."""
        state = {name: value for name, value in fields.items() if name in _STATE}
        attrs: Attrs = ATTRS[kind](**{name: value for name, value in fields.items() if name not in _STATE})
        draft = MemoryDraft(kind, State(content, attrs, **state), origin, session=session, created_ms=created_ms)
        return self.real.memories.remember(draft, by)

    def change(self, memory: Memory, *, by: WriteContext = ME, **fields: Any) -> Memory:
        """Write its next version."""
        return self.real.memories.change(Seq(memory.seq), ALL, lambda state: replace(state, **fields), by)

    def now(self) -> int:
        """A moment after everything that was written, and before everything that will be."""
        self.real.clock.advance(10)
        return self.real.clock.now_ms()

    def search(self, text: str, *, kinds: frozenset[Kind] = ALL, **fields: Any) -> SearchAnswer:
        """Ask; fields are those of the filter or of the search."""
        wanted = {name: value for name, value in fields.items() if name in _FILTER}
        rest = {name: value for name, value in fields.items() if name not in _FILTER}
        return self.real.recall.search(SearchQuery(text, Filter(kinds, **wanted), **rest))

    def found(self, text: str, **fields: Any) -> list[int]:
        """Numbers of what is found, best first."""
        return seqs(self.search(text, **fields))

    def traces(self) -> list[Event]:
        """What the log says of the searches so far, the newest first."""
        self.real.traces.flush()
        return self.real.events.of_type(EventType.SEARCH_ANSWERED.value, from_ms=0, to_ms=2**62, limit=100)


def seqs(answer: SearchAnswer) -> list[int]:
    """The numbers of its results."""
    return [found.memory.seq for found in answer.results]


@contextmanager
def searched(db: Database, **parts: Any) -> Iterator[Searched]:
    """The services on this store, closed again."""
    made = Searched(db, **parts)
    try:
        yield made
    finally:
        made.real.traces.close()
