"""Backups of a store that one person owns, made and checked while the server runs.

A backup is made by a thread of its own, one at a time; whoever asked waits a little and then looks again. Names are
single names of folders in the usual place and nothing else. Restoring replaces the store under everybody who has it
open, so it is done with the server stopped: here one only learns the command for it. Where tenants share a store, its
backups hold everybody's memories and are the business of whoever runs it.
"""

import json
import re
import shlex
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument, NotFound
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.store import archive
from codexmem.kernel.store.backup import Backup, Progress

MOST = 200  # listed
WAIT_S = 5.0  # for which somebody who asks for a backup waits
_LOOKED = 1_000  # names that are looked at
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_VERIFIED = ".verified.json"


class Copies(Protocol):
    """What makes and checks them."""

    @property
    def root(self) -> Path: ...
    def fresh(self) -> Path: ...
    def backup(self, to: Path | None = None, *, progress: Progress = ...) -> Backup: ...
    def verify(self, folder: Path) -> Backup: ...


@dataclass(frozen=True, slots=True)
class BackupCheck:
    """What a check found."""

    ok: bool
    at_ms: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BackupEntry:
    """One backup; without a backup of its own, a folder whose manifest cannot be read."""

    name: str
    backup: Backup | None
    problem: str | None = None
    verified: BackupCheck | None = None

    @property
    def cause(self) -> Literal["manual", "upgrade", "restore"]:
        """Why it was made, as its name tells."""
        return "restore" if "-before-restore" in self.name else "upgrade" if "-schema-" in self.name else "manual"


@dataclass(frozen=True, slots=True)
class Making:
    """A backup on its way, or the last one that failed."""

    name: str
    started_ms: int
    done: int = 0
    total: int = 0  # in the engine's own unit; 0 while it is not known
    status: Literal["running", "failed"] = "running"
    error: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class BackupList:
    """All that is to be known."""

    kept: tuple[BackupEntry, ...]
    truncated: bool
    making: Making | None


@dataclass(frozen=True, slots=True)
class StoreCommands:
    """How the command line is called for this store; `flags` say which store, where that may be told."""

    flags: tuple[str, ...] = ()
    directory: Path | None = None  # of backups; None where it may not be told

    def restore(self, name: str) -> str:
        """Replaces the store by this backup."""
        if self.directory is None:
            return f'codexmem restore "$CODEXMEM_DATA_DIR/backups/{name}"'
        return _spelled("restore", str(self.directory / name), *self.flags)

    def backup(self) -> str:
        """Makes one."""
        return _spelled("backup", *self.flags)

    def serve(self) -> str:
        """Starts the server again."""
        return _spelled("serve", *self.flags)


class Backups:
    """The backups in the usual place."""

    def __init__(self, copies: Copies | None, commands: StoreCommands, clock: Clock) -> None:
        self._copies = copies
        self.commands = commands
        self._clock = clock
        self._lock = threading.Lock()
        self._checking = threading.Lock()
        self._making: Making | None = None
        self._failed: CodexmemError | None = None

    @property
    def available(self) -> bool:
        """Whether backups are made and listed here."""
        return self._copies is not None

    def shelf(self) -> BackupList:
        """Those there are, newest first, and the one on its way."""
        if self._copies is None:
            return BackupList((), False, None)
        verified = self._known()
        names = sorted(_names(self._copies.root), reverse=True)
        kept = [self._one(name, verified) for name in names[:_LOOKED]]
        kept.sort(key=lambda each: each.backup.manifest.created_ms if each.backup else 0, reverse=True)
        with self._lock:
            making = self._making
        return BackupList(tuple(kept[:MOST]), len(names) > MOST, making)

    def make(self, *, wait_s: float = WAIT_S) -> BackupEntry | Making:
        """Begin a backup and wait a little: the backup if that was enough, else how far it is."""
        copies = self._required()
        with self._lock:
            if self._making is not None and self._making.status == "running":
                raise Conflict(f"the backup {self._making.name} is in progress", hint="wait until it is done")
            folder = copies.fresh()
            self._making, self._failed = Making(folder.name, self._clock.now_ms()), None
        thread = threading.Thread(target=self._run, args=(copies, folder), name="codexmem-backup", daemon=True)
        thread.start()
        thread.join(wait_s)
        return self._outcome(folder.name)

    def verify(self, name: str) -> BackupCheck:
        """Read every byte of a backup; damage is what it found, not an error."""
        copies = self._required()
        folder = copies.root / _checked(name)
        if folder.is_symlink() or not folder.is_dir():
            raise NotFound(f"there is no backup {name}", hint="GET /api/ops/backups lists them")
        if not self._checking.acquire(blocking=False):
            raise Conflict("another backup is being checked", hint="wait until it is done")
        try:
            found, digest = BackupCheck(True, self._clock.now_ms()), ""
            try:
                digest = copies.verify(folder).manifest.sha256
            except CodexmemError as error:
                found = replace(found, ok=False, problem=error.message)
            self._remember(copies.root, name, found, digest)
            return found
        finally:
            self._checking.release()

    def _run(self, copies: Copies, folder: Path) -> None:
        def progress(done: int, total: int) -> None:
            with self._lock:
                if self._making is not None:
                    self._making = replace(self._making, done=done, total=total)

        try:
            copies.backup(folder, progress=progress)
        except Exception as error:
            known = error if isinstance(error, CodexmemError) else CodexmemError("the backup failed")
            with self._lock:
                if self._making is not None:
                    self._making = replace(self._making, status="failed", error=known.message, hint=known.hint)
                self._failed = known
        else:
            with self._lock:
                self._making = None

    def _outcome(self, name: str) -> BackupEntry | Making:
        with self._lock:
            failed, making = self._failed, self._making
        if failed is not None:
            raise failed
        return making if making is not None else self._one(name, {})

    def _one(self, name: str, verified: Mapping[str, object]) -> BackupEntry:
        assert self._copies is not None
        try:
            backup = archive.peek(self._copies.root / name)
        except CodexmemError as error:
            return BackupEntry(name, None, error.message)
        told = verified.get(name)
        if not isinstance(told, dict) or (told.get("ok") and told.get("sha256") != backup.manifest.sha256):
            return BackupEntry(name, backup)
        found = BackupCheck(told.get("ok") is True, int(told.get("at_ms") or 0), told.get("problem"))
        return BackupEntry(name, backup, verified=found)

    def _known(self) -> dict[str, object]:
        assert self._copies is not None
        try:
            known = json.loads((self._copies.root / _VERIFIED).read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _remember(self, root: Path, name: str, found: BackupCheck, digest: str) -> None:
        there = set(_names(root))
        known = {each: told for each, told in self._known().items() if each in there}
        known[name] = {"ok": found.ok, "at_ms": found.at_ms, "problem": found.problem, "sha256": digest}
        archive.write_private(root / _VERIFIED, json.dumps(known).encode())

    def _required(self) -> Copies:
        if self._copies is None:
            raise Conflict(
                "tenants share this store, and a backup contains all of them",
                hint=f"the server's operator makes it on the command line: {self.commands.backup()}",
            )
        return self._copies


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidArgument(f"{name[:80]!r} is not the name of a backup", hint="GET /api/ops/backups lists them")
    return name


def _names(root: Path) -> list[str]:
    """Folders in the usual place that could be backups; links and unfinished ones are none."""
    try:
        found = list(root.iterdir())
    except OSError:
        return []
    return [each.name for each in found if _NAME.fullmatch(each.name) and not each.is_symlink() and each.is_dir()]


def _spelled(*words: str) -> str:
    return shlex.join(("codexmem", *words))
