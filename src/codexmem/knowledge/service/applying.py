"""Entries as records of a snapshot, and back: what a restore writes.

Only what differs is written. An entry that is not in the snapshot is hidden; one that was erased since comes back with
the versions the snapshot has of it, and is marked as imported, because all we know of it is a file.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from codexmem.kernel.model.attrs import KnowledgeAttrs
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.history import MemoryVersion, Op, WriteContext
from codexmem.kernel.model.memory import MAX_KEY, Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest, RowOrder
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.whole_memories import WholeMemories
from codexmem.knowledge.service.snapshot_file import SnapshotRecord, unsound

KEPT_VERSIONS = 20  # of one entry, the newest
_KEPT_CHARACTERS = 4 << 20  # of all versions of one entry
_PAGE = 50
_KINDS = frozenset({Kind.KNOWLEDGE})
_LATEST = 253_402_300_799_000  # the end of the year 9999


class EntryRecords:
    """Between entries and their records."""

    def __init__(self, memories: Memories, whole: WholeMemories) -> None:
        self._memories = memories
        self._whole = whole

    def records(self) -> Iterator[SnapshotRecord]:
        """Every entry, hidden ones too, with its newest versions; inside one reading of the store."""
        for page in self._pages(frozenset(Status)):
            past = self._whole.versions(Kind.KNOWLEDGE, [memory.seq for memory in page], newest=KEPT_VERSIONS)
            for memory in page:
                yield _record(memory, past.get(memory.seq, []))

    def apply(self, records: Iterable[SnapshotRecord], by: WriteContext) -> tuple[int, int]:
        """Make entries say what the records say, inside the caller's transaction; how many changed, how many there are.

        `by` names the delta.
        """
        changed, seen = 0, set[str]()
        for batch in _batches(records):
            there = self._whole.by_ids(list(batch))
            for name, record in batch.items():
                if name in seen:
                    raise unsound("it holds an entry twice")
                seen.add(name)
                changed += self._put(name, record, there.get(name), by)
        for page in self._pages(frozenset(Status) - {Status.DELETED}):
            for memory in page:
                if memory.id not in seen:
                    hidden = replace(memory.state, status=Status.DELETED)
                    self._memories.write(memory, hidden, Op.DELETE, by)
                    changed += 1
        return changed, len(seen)

    def _put(self, name: str, record: SnapshotRecord, memory: Memory | None, by: WriteContext) -> bool:
        states, created_ms = _parsed(record)
        if memory is None:
            # Links lead to numbers of the store they were made in.
            first, *later = (replace(state, links=(), uris=()) for state in states)
            draft = MemoryDraft(Kind.KNOWLEDGE, first, Origin.IMPORT, id=name, created_ms=created_ms)
            made = self._memories.remember(draft, by)
            for state in later:
                made = self._memories.write(made, state, Op.RESTORE, by)
            return True
        if memory.kind is not Kind.KNOWLEDGE:
            raise unsound("an id in it belongs to something else here")
        target = replace(states[-1], uris=memory.state.uris, links=memory.state.links)
        if target == memory.state:
            return False
        self._memories.write(memory, target, Op.RESTORE, by)
        return True

    def _pages(self, statuses: frozenset[Status]) -> Iterator[tuple[Memory, ...]]:
        page = PageRequest(_PAGE, order=RowOrder.OLDEST)
        while True:
            found = self._memories.page(Filter(_KINDS, statuses=statuses), page)
            yield found.items
            if found.after is None:
                return
            page = replace(page, after=found.after)


def _record(memory: Memory, versions: list[MemoryVersion]) -> SnapshotRecord:
    kept: list[dict[str, object]] = []
    left = _KEPT_CHARACTERS
    for version in reversed(versions):
        left -= len(version.state.content)
        if kept and left < 0:
            break
        kept.append({
            "version": version.version, "op": version.op.value, "actor": version.actor,
            "created_ms": version.created_ms, "state": version.state.to_json(),
        })  # fmt: skip
    kept = kept or [{"version": memory.version, "state": memory.state.to_json()}]
    return {"id": memory.id, "created_ms": memory.created_ms, "versions": kept[::-1]}


def _batches(records: Iterable[SnapshotRecord]) -> Iterator[dict[str, SnapshotRecord]]:
    batch: dict[str, SnapshotRecord] = {}
    for record in records:
        name = record.get("id")
        if not isinstance(name, str) or not 0 < len(name) <= MAX_KEY or name in batch:
            raise unsound("the id of an entry makes no sense")
        batch[name] = record
        if len(batch) == _PAGE:
            yield batch
            batch = {}
    if batch:
        yield batch


def _parsed(record: SnapshotRecord) -> tuple[list[State], int]:
    try:
        states = [State.from_json(Kind.KNOWLEDGE, version["state"]) for version in record["versions"]]
        created_ms = record["created_ms"]
        if not states or type(created_ms) is not int or not 0 <= created_ms <= _LATEST:
            raise ValueError("no state or no time")
        for state in states:
            _require_typed(state)
            state.check(Kind.KNOWLEDGE)
    except (CodexmemError, ValueError, TypeError, KeyError, AttributeError):
        raise unsound("an entry makes no sense") from None
    return states, created_ms


def _require_typed(state: State) -> None:
    assert isinstance(state.attrs, KnowledgeAttrs)
    texts = (state.content, state.project, state.type, state.title, state.attrs.summary, *state.attrs.tags, *state.uris)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a text is none")
    if type(state.priority) is not int or not isinstance(state.confidence, float | int):
        raise TypeError("a number is none")
