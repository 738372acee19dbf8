"""Notes out of the store and into it, as one document; what is taken in is one delta, which can be taken back.

A document is taken in whole or not at all. A note that is new here brings its history along; a note that is here
already keeps its own, and what the document says about it becomes one more version. What somebody deleted here comes
back only if the document is to overwrite.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.note import CORE, LISTED, NOTES, disclosure_of, fit
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor, Seq
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.notes.document import (
    FORMAT,
    FORMAT_VERSION,
    MAX_ENTRIES,
    NoteDocument,
    NoteDocumentEntry,
    NoteEntry,
    NoteEntryVersion,
    entries_in,
    iso,
)
from codexmem.notes.model import MAX_VERSIONS, Direction, Strategy, checked_domain
from codexmem.notes.service.resolver import NoteResolver

MAX_CHARACTERS = 3_000_000  # of a document: what is exported must fit a request to be imported again
MAX_WRITES = 5_000  # versions that one document may bring
_PAGE = 200
CAUSE = "import"
_Write = Callable[[WriteContext], int]


@dataclass
class NotesImported:
    """What became of a document."""

    source: str
    delta: str | None = None  # None where nothing was written
    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)  # skipped because somebody deleted them here
    lowered: list[str] = field(default_factory=list)  # core priority not taken over
    guarded: list[str] = field(default_factory=list)  # core here, and nobody vouched for what was to be added
    lost_uris: list[str] = field(default_factory=list)  # addresses that other notes have here


class NoteTransfer:
    """The verbs of a document."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories, history: History, desk: NoteResolver,
                 clock: Clock) -> None:  # fmt: skip
        self._db = db
        self._table = table
        self._memories = memories
        self._history = history
        self._desk = desk
        self._clock = clock

    def export(self, *, domain: str | None, versions: bool, relations: bool) -> NoteDocument:
        """Everything that stands, oldest first, as one document."""
        named = checked_domain(domain)
        facets = (("domain", frozenset({named})),) if named else ()
        wanted = Filter(NOTES, statuses=LISTED, facets=facets)
        entries: list[NoteDocumentEntry] = []
        size = 0
        after: RowCursor | None = None
        with self._db.reading():
            while True:
                page = self._memories.page(wanted, PageRequest(limit=_PAGE, after=after))
                for memory in page.items:
                    entry = self._entry(memory, versions, relations)
                    size += len(json.dumps(entry.document(), ensure_ascii=False).encode())
                    entries.append(entry)
                    if len(entries) > MAX_ENTRIES or size > MAX_CHARACTERS:
                        raise _too_large(named)
                if page.after is None:
                    break
                after = page.after
        return NoteDocument(
            format=FORMAT,
            format_version=FORMAT_VERSION,
            exported_at=iso(self._clock.now_ms()),
            domain=named,
            include_versions=versions,
            include_relations=relations,
            count=len(entries),
            memories=tuple(reversed(entries)),
        )

    def take_in(
        self, document: object, strategy: Strategy, by: WriteContext, *, keep_priority: bool = False
    ) -> NotesImported:
        """Write what the document says, as the strategy says, in one delta; core priorities only for a person."""
        if keep_priority and by.origin is not Origin.HUMAN:
            raise InvalidArgument(
                "only a person may take over core priorities",
                hint="import without it, or run codexmem memory import --keep-priority in a terminal",
            )
        entries = entries_in(document, vouched=keep_priority)
        if sum(max(1, len(entry.past)) for entry in entries) > MAX_WRITES:
            raise InvalidArgument(f"data has more than {MAX_WRITES:,} versions", hint="import it in parts, or without")
        taken = NotesImported(_source(document))
        with self._db.transaction():
            self._table.hold("notes:import")
            known = self._desk.resolved([uri for entry in entries for uri in entry.state.uris])
            steps = [(entry, step) for entry in entries if (step := self._step(entry, known, strategy, taken))]
            if steps:
                taken.delta = self._history.open_delta(taken.source, CAUSE, by).id
                by = replace(by, source=taken.source, delta=taken.delta)
                self._connect([(entry, step(by)) for entry, step in steps], by)
        return taken

    def _entry(self, memory: Memory, versions: bool, relations: bool) -> NoteDocumentEntry:
        past = self._history.versions(Seq(memory.seq), NOTES, limit=MAX_VERSIONS) if versions else None
        company = None
        if relations:
            pointing = (each for each in self._desk.relations(memory) if each.direction is Direction.TO)
            company = [(each.relation, each.uri) for each in pointing if each.memory is not None]
        return NoteDocumentEntry.of(memory, versions=past, relations=company)

    def _step(
        self, entry: NoteEntry, known: dict[str, Memory], strategy: Strategy, taken: NotesImported
    ) -> _Write | None:
        """How one note is to be written, if it is; the write answers its number."""
        here = known.get(entry.uri)
        own = here.seq if here is not None else None
        lost = {uri for uri in entry.state.uris if uri in known and known[uri].seq != own}
        kept = tuple(uri for uri in entry.state.uris if uri not in lost)
        taken.lost_uris += sorted(lost)
        if here is None:
            taken.created.append(entry.uri)
            taken.lowered += [entry.uri] if entry.lowered else []
            return lambda by: self._create(entry, kept, by)
        if here.state.status is Status.DELETED and strategy is not Strategy.OVERWRITE:
            taken.deleted.append(entry.uri)
            return None
        if strategy is Strategy.MERGE and here.state.priority <= CORE and not entry.vouched:
            taken.guarded.append(entry.uri)
            return None
        state = _WAYS[strategy](here.state, replace(entry.state, uris=kept))
        if state == here.state:
            taken.skipped.append(entry.uri)
            return None
        taken.changed.append(entry.uri)
        taken.lowered += [entry.uri] if entry.lowered and strategy is Strategy.OVERWRITE else []
        op = Op.RESTORE if here.state.status is Status.DELETED else Op.UPDATE
        note = f"import ({strategy.value})"
        return lambda by: self._memories.write(here, state, op, replace(by, note=note)).seq

    def _create(self, entry: NoteEntry, uris: tuple[str, ...], by: WriteContext) -> int:
        def named(state: State) -> State:
            return replace(state, uris=tuple(uri for uri in state.uris if uri in uris))

        present = NoteEntryVersion(entry.state, Op.ADD, "", None)
        first, *further = entry.past or (present,)
        created = first.at_ms if entry.created_ms is None else entry.created_ms
        draft = MemoryDraft(Kind.NOTE, named(first.state), Origin.IMPORT, created_ms=self._past_only(created))
        memory = self._memories.remember(draft, replace(by, note=first.note or "imported", at_ms=first.at_ms))
        for past in further:
            moved = replace(by, note=past.note, at_ms=past.at_ms)
            memory = self._memories.write(memory, named(past.state), past.op, moved)
        if entry.reads:
            self._memories.count([memory.seq], used=entry.reads)
        return memory.seq

    def _connect(self, written: list[tuple[NoteEntry, int]], by: WriteContext) -> None:
        """Links that are no mentions; those make themselves."""
        wanted = {(seq, relation, uri) for entry, seq in written for relation, uri in entry.relations
                  if relation != "mentions"}  # fmt: skip
        targets = self._desk.resolved(sorted({uri for _, _, uri in wanted}))
        for seq, relation, uri in sorted(wanted):
            if uri in targets:
                moved = replace(by, note=f"linked to {uri}")
                self._memories.link(Seq(seq), NOTES, relation, targets[uri].seq, moved)

    def _past_only(self, at_ms: int | None) -> int | None:
        return None if at_ms is None else min(at_ms, self._clock.now_ms())


def _skip(here: State, _: State) -> State:
    return here


def _overwrite(here: State, there: State) -> State:
    return replace(there, links=here.links, uris=tuple(dict.fromkeys((*here.uris, *there.uris))))


def _merge(here: State, there: State) -> State:
    """What stands here, then the paragraphs that only the document has; addresses of both."""
    known = {_squeezed(part) for part in here.content.split("\n\n")}
    news = [part for part in there.content.split("\n\n") if _squeezed(part) not in known and _squeezed(part)]
    content = "\n\n".join((here.content.rstrip("\n"), *news)) if news else here.content
    uris = tuple(dict.fromkeys((*here.uris, *there.uris)))
    return fit(replace(here, content=content, uris=uris), disclosure_of(here) or disclosure_of(there))


_WAYS: dict[Strategy, Callable[[State, State], State]] = {
    Strategy.SKIP: _skip,
    Strategy.OVERWRITE: _overwrite,
    Strategy.MERGE: _merge,
}


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _source(document: object) -> str:
    spelled = json.dumps(document, ensure_ascii=True, sort_keys=True)
    return f"import:notes:{hashlib.sha256(spelled.encode()).hexdigest()[:16]}"


def _too_large(domain: str | None) -> InvalidArgument:
    return InvalidArgument(
        f"there are more than {MAX_ENTRIES:,} memories or {MAX_CHARACTERS / 1e6:.0f} MB to export",
        hint="`codexmem backup` keeps everything" if domain else "name a domain, or use `codexmem backup`",
    )
