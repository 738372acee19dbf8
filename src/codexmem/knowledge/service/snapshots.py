"""Snapshots of all that the knowledge interface can see: entries with their versions, and workspaces.

A backup is taken while nobody else changes workspaces and from one reading of the store, so that both show the same
moment. A restore keeps what is there in a backup of its own first; then entries change in one transaction as one delta,
which can be taken back, and workspaces are exchanged as `grounds` says: wholly or not at all, whenever it is killed.

Entries as records of a snapshot, and back: what a restore writes.

Only what differs is written. An entry that is not in the snapshot is hidden; one that was erased since comes back with
the versions the snapshot has of it, and is marked as imported, because all we know of it is a file.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from codexmem.kernel.model import ids
from codexmem.kernel.model.attrs import KnowledgeAttrs
from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import MemoryVersion, Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import MAX_KEY, Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest, RowOrder
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.whole_memories import WholeMemories
from codexmem.knowledge.service import folders, trees
from codexmem.knowledge.service.folders import explained
from codexmem.knowledge.service.snapshot_file import (
    SnapshotManifest,
    SnapshotReader,
    SnapshotRecord,
    SnapshotWriter,
    unsound,
)
from codexmem.knowledge.service.trees import CopyCounts
from codexmem.knowledge.service.workspace_root import WorkspaceRoot

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
            kept = self._memories.kept([memory for memory in page if memory.id not in seen], by)
            for memory in page:
                if memory.id not in seen and memory.seq not in kept:
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


CAUSE = "restore"
_NAME = re.compile(r"memory_backup_[0-9]{8}_[0-9]{6}[A-Za-z0-9_-]{0,64}\.json")
_LANE = "knowledge:restore"
_DOCUMENTED = PurePosixPath(".memory/backups")  # the backup folder as contract 003 spells it
_LONGEST_PATH = 4096
_TRIES = 3
_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class KnowledgeBackup:
    """A finished backup, as a caller is told of it."""

    path: str
    manifest: SnapshotManifest


@dataclass(frozen=True, slots=True)
class KnowledgeRestored:
    """What a restore did."""

    kept: KnowledgeBackup  # what was there before
    delta: str  # take it back to have the entries as they were
    changed: int  # entries


def _nothing(_: str) -> None:
    """The failpoint of those who want none."""


def subject_of(token: str) -> str:
    """What the delta of a restore is made for."""
    return f"restore:{token}"


def committed_by(db: Database, table: MemoryTable, history: History) -> Callable[[str], bool]:
    """What tells whether the restore of a token took effect in this store."""

    def committed(token: str) -> bool:
        with db.transaction():
            table.hold(_LANE)  # one that is still being decided is waited for
            return bool(history.deltas_of(subject_of(token), limit=1))

    return committed


class Snapshots:
    """The verbs on knowledge and workspaces as a whole."""

    def __init__(
        self,
        db: Database,
        history: History,
        table: MemoryTable,
        applying: EntryRecords,
        workspace_root: WorkspaceRoot,
        log: Callable[[NewEvent], object],
        clock: Clock,
        *,
        version: str,
    ) -> None:
        self._db = db
        self._table = table
        self._history = history
        self._applying = applying
        self._grounds = workspace_root
        self._log = log
        self._clock = clock
        self._version = version

    def backup(self) -> KnowledgeBackup:
        """Write everything into a new file of the backup folder."""
        with explained("the backup cannot be written"), self._grounds.turn():
            return self._written("")

    def restore(
        self, backup_path: str, by: WriteContext, *, step: Callable[[str], None] = _nothing
    ) -> KnowledgeRestored:
        """Replace everything by what a backup holds, after a backup of what is there."""
        name = self._name(backup_path)
        with explained("the backup cannot be restored"), self._grounds.turn() as turn, self._opened(name) as reader:
            step("verified")
            kept = self._written("_before_restore")
            step("kept")
            token = ids.prefixed("restore")
            try:
                with turn.incoming(token) as home:
                    step("building")
                    _require_whole(trees.rebuild(home, reader.files()), reader.manifest)
                step("built")
                turn.plan(token)
                step("planned")
                delta, changed = self._applied(reader, token, by, step)
            except BaseException:
                # A commit whose answer was lost may have been made: the store says whether it was.
                with suppress(Exception):
                    turn.recover()
                raise
            step("committed")
            turn.switch(token)
            step("switched")
        return KnowledgeRestored(kept, delta, changed)

    def _applied(
        self, reader: SnapshotReader, token: str, by: WriteContext, step: Callable[[str], None]
    ) -> tuple[str, int]:
        subject = subject_of(token)
        for turn in range(_TRIES):
            try:
                with self._db.transaction():
                    self._table.hold(_LANE)
                    delta = self._history.open_delta(subject, CAUSE, by)
                    own = replace(by, delta=delta.id, source=subject)
                    changed, seen = self._applying.apply(reader.entries(), own)
                    if seen != reader.manifest.entries:
                        raise unsound("it does not hold what its manifest says")
                    payload = {"delta": delta.id, "changed": changed, "entries": seen, **by.signature()}
                    self._log(NewEvent(EventType.KNOWLEDGE_RESTORED, subject=subject, payload=payload))
                    step("applied")
                return delta.id, changed
            except Conflict:
                # Somebody wrote an entry at the same moment; what they wrote is now part of what is replaced.
                if turn == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _written(self, suffix: str) -> KnowledgeBackup:
        now = self._clock.now_ms()
        counted = CopyCounts()
        with folders.folder(self._grounds.data_dir, *self._grounds.backup_parts, make=True) as root:
            name = _fresh_name(root, now, suffix)
            draft = f".{name}.unfinished"
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=root)
            handle = folders.new_file(root, draft)
            try:
                with os.fdopen(handle, "wb", buffering=1 << 16) as stream:
                    manifest = self._fill(SnapshotWriter(stream), counted, now)
                    stream.flush()
                    os.fsync(handle)
                os.rename(draft, name, src_dir_fd=root, dst_dir_fd=root)
                os.fsync(root)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=root)
                raise
        return KnowledgeBackup(self._grounds.told_backup(name), manifest)

    def _fill(self, writer: SnapshotWriter, counted: CopyCounts, now_ms: int) -> SnapshotManifest:
        with self._db.reading():
            for record in self._applying.records():
                counted.entries += 1
                writer.add(record)
        writer.workspaces()
        with self._grounds.tasks() as tasks:
            for record in trees.records(tasks, counted) if tasks is not None else ():
                writer.add(record)
        manifest = SnapshotManifest(
            now_ms, self._version, entries=counted.entries, tasks=counted.tasks, files=counted.files,
            size=counted.size, left_out=counted.left_out,
        )  # fmt: skip
        writer.finish(manifest)
        return manifest

    def _name(self, backup_path: str) -> str:
        """The file's name, if the path leads into our backup folder and nowhere else."""
        refused = InvalidArgument(
            "backup_path is not a backup of this memory", hint="give the backup_path that memory_backup answered"
        )
        if not backup_path or len(backup_path) > _LONGEST_PATH or "\0" in backup_path:
            raise refused
        path = PurePosixPath(backup_path)
        roots = {PurePosixPath("."), _DOCUMENTED, PurePosixPath(self._grounds.told_backup("x")).parent}
        if not self._grounds.shared:
            roots |= {PurePosixPath(*self._grounds.backup_parts), PurePosixPath(self._real_root())}
        if path.parent not in roots or not _NAME.fullmatch(path.name):
            raise refused
        return path.name

    def _real_root(self) -> str:
        return os.path.join(os.path.realpath(self._grounds.data_dir), *self._grounds.backup_parts)  # noqa: PTH118

    @contextmanager
    def _opened(self, name: str) -> Iterator[SnapshotReader]:
        try:
            with folders.folder(self._grounds.data_dir, *self._grounds.backup_parts) as root:
                handle = folders.opened_file(root, name)
        except (NotFound, FileNotFoundError):
            raise NotFound(f"there is no backup {name}", hint="give the path that memory_backup answered") from None
        except Conflict as error:
            raise Conflict(f"the backup {name} cannot be used: {error.message}") from None
        with os.fdopen(handle, "rb") as stream:
            if os.fstat(handle).st_nlink != 1:
                raise Conflict(f"the backup {name} has another hard link elsewhere, so it is not used")
            yield SnapshotReader(stream)


def _require_whole(counted: CopyCounts, manifest: SnapshotManifest) -> None:
    if (counted.tasks, counted.files, counted.size) != (manifest.tasks, manifest.files, manifest.size):
        raise unsound("it does not hold what its manifest says")


def _fresh_name(root: int, now_ms: int, suffix: str) -> str:
    moment = datetime.fromtimestamp(now_ms / 1000, UTC)
    stem = f"memory_backup_{moment:%Y%m%d_%H%M%S}{suffix}"
    for number in range(_NAMES):
        name = f"{stem}{f'_{number:03}' if number else ''}.json"
        if not folders.exists(root, name):
            return name
    raise Conflict("too many backups were made in this second", hint="try again in a moment")
