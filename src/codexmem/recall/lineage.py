"""From what a session was told to what it wrote afterwards: how far a memory may have spread.

That a session wrote something after it was told a memory proves nothing; that it carries the memory's words does. Both
are told apart. Every step is bounded: so many sessions, and so many memories of each.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from codexmem.kernel.model.attrs import Attrs
from codexmem.kernel.model.errors import StorageFull, Unavailable
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import REMEMBERED, Kind, Memory, State, Status
from codexmem.kernel.model.query import Filter, PageRequest, RowOrder
from codexmem.kernel.model.quotation import Quotations, stretches, texts_in
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.sessions import Sessions
from codexmem.kernel.store.tellings import Tellings
from codexmem.recall.brief_model import LEARNED

KEPT_MS = 180 * 86_400_000  # how long it is known who was told what
MAX_SESSIONS = 200
MAX_WRITTEN = 500  # memories of one session
MAX_SHOWN = 100
MAX_COUNTED = 1_000
_SOUGHT = 50  # texts that quotations are searched for
_FOUND = 20  # results of each such search
_QUERY = 400  # characters of a text that are searched for
_STEP = 500
_ANY = frozenset(Status)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToldMemory:
    """A memory that a session was told."""

    memory: Memory
    at_ms: int


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """What memory was to a session, in numbers."""

    told: int
    opened: int  # of these, asked for as a whole
    learned: int  # memories that it left and that stand, but for what was asked


@dataclass(frozen=True, slots=True)
class Downstream:
    """A memory that may come of another one."""

    memory: Memory
    session: str | None  # that was told the other one, and wrote this afterwards; None if only its words say so
    quotes: bool  # whether it carries the other one's words


class Lineage:
    """Records and follows what sessions were told."""

    def __init__(self, tellings: Tellings, table: MemoryTable, memories: Memories, sessions: Sessions, clock: Clock,
                 search: Callable[[SearchQuery], SearchAnswer]) -> None:  # fmt: skip
        self._tellings = tellings
        self._table = table
        self._memories = memories
        self._sessions = sessions
        self._clock = clock
        self._search = search  # leaves no trace: a trace would quote what is to be forgotten

    def tell(self, session: str, seqs: Sequence[int], *, opened: bool = False) -> None:
        """The session was told these, and with `opened` asked for the whole of them; a store that cannot be written
        keeps nobody from reading.
        """
        if not seqs:
            return
        try:
            self._tellings.tell(session, list(dict.fromkeys(seqs)), at_ms=self._clock.now_ms(), opened=opened)
        except (StorageFull, Unavailable) as problem:
            _log.warning("what a session was told is not on record: %s", problem.message)

    def prune(self) -> int:
        """Forget who was told what long ago, some at a time."""
        return self._tellings.prune(before_ms=self._clock.now_ms() - KEPT_MS, limit=_STEP * 10)

    def told(self, session: str, *, limit: int = MAX_SHOWN) -> list[ToldMemory]:
        """What the session was told, the latest first."""
        found = self._tellings.told(session, limit=limit)
        memories = self._memories.many([seq for seq, _ in found], REMEMBERED)
        return [ToldMemory(memories[seq], at_ms) for seq, at_ms in found if seq in memories]

    def counts(self, session: str) -> SessionCounts:
        """What memory was to the session so far; each is counted up to `MAX_COUNTED`."""
        return SessionCounts(*self._tellings.counts(session, LEARNED, most=MAX_COUNTED))

    def told_to(self, seqs: Sequence[int], limit: int = MAX_SESSIONS) -> dict[str, int]:
        """The sessions that were told any of these, and when first."""
        return self._tellings.sessions(seqs, limit=limit)

    def written_after(self, session: str, since_ms: int, *, limit: int = MAX_WRITTEN) -> list[Memory]:
        """What the session wrote from then on, through whatever interface, the oldest first."""
        wanted = Filter(REMEMBERED, session=session, statuses=_ANY, created_from_ms=since_ms)
        own = self._memories.page(wanted, PageRequest(limit=min(limit, _STEP), order=RowOrder.OLDEST)).items
        known = self._sessions.named(session)
        numbers = self._table.numbers_of(limit=limit, source=known.subject) if known is not None else []
        by_source = self._memories.many(numbers, REMEMBERED).values()
        found = {each.seq: each for each in (*own, *by_source) if each.created_ms >= since_ms}
        return sorted(found.values(), key=lambda each: (each.created_ms, each.seq))[:limit]

    def downstream(self, roots: Sequence[Memory], quotations: Quotations | None = None) -> list[Downstream]:
        """What may come of these: what carries their words, then what was only written after they were told.

        Costs two queries for each session that was told, and a search for each of the first texts.
        """
        quotations = quotations if quotations is not None else Quotations(said_by(roots))
        numbers = frozenset(each.seq for each in roots)
        own = {each.session for each in roots}
        found: dict[int, Downstream] = {}
        for session, since_ms in self.told_to(sorted(numbers)).items():
            if session in own:
                continue
            for memory in self.written_after(session, since_ms):
                if memory.seq not in numbers:
                    found[memory.seq] = Downstream(memory, session, quotations.in_any(said_by([memory])))
        for memory in self._alike(roots):
            if memory.seq not in numbers | found.keys() and quotations.in_any(said_by([memory])):
                found[memory.seq] = Downstream(memory, None, quotes=True)
        return sorted(found.values(), key=lambda each: (not each.quotes, each.memory.seq))

    def _alike(self, roots: Sequence[Memory]) -> Iterable[Memory]:
        """What a search finds for their words, wherever it came from."""
        said = [each.state.content[:_QUERY] for each in roots if each.state.content.strip()]
        # A quotation may be of one half of what is told in two languages.
        texts = sorted({*said, *(stretch for text in said for stretch in stretches(text))}, key=len)
        for text in texts[-_SOUGHT:]:
            wanted = SearchQuery(text, Filter(REMEMBERED - {Kind.LESSON}, statuses=_ANY), limit=_FOUND)
            yield from (each.memory for each in self._search(wanted).results)


def said_by(memories: Iterable[Memory]) -> Iterable[str]:
    """The words of these memories, field by field."""
    for memory in memories:
        yield from _said(memory.state)


def _said(state: State) -> Iterable[str]:
    yield state.content
    yield state.title
    attrs: Attrs = state.attrs
    # Names of files and concepts are no quotation, whatever their length.
    fields = {name: each for name, each in attrs.to_json().items() if name not in _LABELS}
    yield from (text for value in fields.values() for text in texts_in(value))


_LABELS = frozenset({"files_read", "files_modified", "concepts", "tags", "mentions", "imported", "events"})
