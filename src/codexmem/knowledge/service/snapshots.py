"""Snapshots of all that the knowledge interface can see: entries with their versions, and workspaces.

A backup is taken while nobody else changes workspaces and from one reading of the store, so that both show the same
moment. A restore keeps what is there in a backup of its own first; then entries change in one transaction as one delta,
which can be taken back, and workspaces are exchanged as `grounds` says: wholly or not at all, whenever it is killed.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.event import EventType, NewEvent
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.services.history import History
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable
from codexmem.knowledge.service import folders, trees
from codexmem.knowledge.service.applying import EntryRecords
from codexmem.knowledge.service.folders import explained
from codexmem.knowledge.service.snapshot_file import SnapshotManifest, SnapshotReader, SnapshotWriter, unsound
from codexmem.knowledge.service.trees import CopyCounts
from codexmem.knowledge.service.workspace_root import WorkspaceRoot

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
                    payload = {"delta": delta.id, "changed": changed, "entries": seen, "actor": by.actor}
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
