"""A backup on disk: a folder with one copy of the store and a manifest that vouches for every byte of it.

The folder appears under its name only when it is whole and on the disk; before that it is a hidden, unfinished one.
What a manifest says is never used as a path. How a store is copied and replaced is each engine's business.
"""

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument, NotFound, NotReady, StorageFull
from codexmem.kernel.store import upgrade

MANIFEST = "manifest.json"
FORMAT = 1
FILES: Mapping[str, str] = {"sqlite": "store.db", "postgresql": "store.pgdump"}
_MANIFEST_MAX = 1 << 20
_UNFINISHED = ".unfinished"

Progress = Callable[[int, int], None]  # done and total, in the engine's own unit
Step = Callable[[str], None]  # called after each step of a restore; tests stop the process there


class Damaged(CodexmemError):
    """A store or backup is not what it says it is; nothing was changed."""

    code = "damaged"


@dataclass(frozen=True, slots=True)
class Copied:
    """What an engine found in the copy it made."""

    engine_version: str
    schema: str | None
    counts: dict[str, int]  # rows per table


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What the copy holds and what its bytes hash to."""

    engine: str
    engine_version: str
    schema: str
    version: str  # of the program that made it
    created_ms: int
    size: int
    sha256: str
    counts: dict[str, int]

    def dumped(self) -> bytes:
        """As written beside the copy, with a digest over itself."""
        body = {"format": FORMAT, **asdict(self)}
        return json.dumps(body | {"manifest_sha256": _digest(body)}, indent=2, sort_keys=True).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup."""

    folder: Path
    manifest: BackupManifest

    @property
    def copy(self) -> Path:
        """The file that holds the store."""
        return self.folder / FILES[self.manifest.engine]


def _digest(body: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write(folder: Path, engine: str, copy: Callable[[Path], Copied], *, version: str, now_ms: int) -> Backup:
    """Make a backup folder: the engine writes the copy, we vouch for it and give it its name."""
    with unfinished(folder) as draft:
        file = draft / FILES[engine]
        copied = copy(file)
        if copied.schema is None:
            raise Damaged("the store has no schema", hint="start the server once, or run: codexmem db upgrade")
        file.chmod(0o600)
        fsync(file)
        manifest = BackupManifest(
            engine=engine, engine_version=copied.engine_version, schema=copied.schema, version=version,
            created_ms=now_ms, size=file.stat().st_size, sha256=sha256(file), counts=copied.counts,
        )  # fmt: skip
        write_private(draft / MANIFEST, manifest.dumped())
    return Backup(folder, manifest)


def read(folder: Path) -> Backup:
    """The backup in this folder, if every byte of it is as it was written."""
    manifest = _manifest(folder)
    backup = Backup(folder, manifest)
    file = _regular(backup.copy)
    if file.stat().st_size != manifest.size or sha256(file) != manifest.sha256:
        raise _damaged(folder, f"{file.name} does not match its checksum")
    if manifest.schema > upgrade.newest():
        raise NotReady(
            f"the backup was written by a newer codexmem (schema {manifest.schema}, ours is {upgrade.newest()})",
            hint="upgrade codexmem",
            details={"reason": "backup_newer", "schema": manifest.schema, "ours": upgrade.newest()},
        )
    return backup


def peek(folder: Path) -> Backup:
    """The backup as its manifest tells of it; whether the copy is as it was written is for `read` to say."""
    return Backup(folder, _manifest(folder))


def _manifest(folder: Path) -> BackupManifest:
    if folder.is_symlink() or not folder.is_dir():
        raise NotFound(
            f"{folder} is not a backup folder",
            hint="give the folder that holds manifest.json",
            details={"reason": "no_backup", "path": str(folder)},
        )
    path = _regular(folder / MANIFEST)
    try:
        if path.stat().st_size > _MANIFEST_MAX:
            raise ValueError("too large")
        body: dict[str, Any] = json.loads(path.read_bytes())
        if body.pop("manifest_sha256", None) != _digest(body):
            raise ValueError("does not match its own checksum")
        if body.pop("format") != FORMAT:
            raise ValueError("has a format we do not know")
        manifest = BackupManifest(**body)
        if manifest.engine not in FILES:
            raise ValueError("names no engine of ours")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _damaged(folder, f"{MANIFEST}: {str(error)[:120]}") from error
    return manifest


def _regular(path: Path) -> Path:
    """The path, if it is a plain file: no link, pipe or device."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        raise _damaged(path.parent, f"{path.name} is missing") from None
    if not stat.S_ISREG(mode):
        raise _damaged(path.parent, f"{path.name} is not a regular file")
    return path


def _damaged(folder: Path, problem: str) -> Damaged:
    return Damaged(
        f"the backup {folder} is damaged: {problem}",
        hint="use another backup; nothing was changed",
        details={"reason": "backup_damaged", "path": str(folder), "problem": problem},
    )


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """A private folder that gets its name when the block succeeds, and vanishes when it does not."""
    if folder.exists() or folder.is_symlink():
        raise Conflict(
            f"{folder} exists already",
            hint="choose another folder",
            details={"reason": "target_exists", "path": str(folder)},
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for orphan in folder.parent.glob(f".*{_UNFINISHED}"):
            _remove_orphan(orphan)
        draft = folder.parent / f".{folder.name}{_UNFINISHED}"
        draft.mkdir(mode=0o700)
        handle = os.open(draft, os.O_RDONLY)
    except OSError as error:
        raise InvalidArgument(
            f"cannot write to {folder.parent}: {error.strerror}",
            hint="choose another folder with --to, or make this one writable",
            details={"reason": "bad_target", "path": str(folder.parent), "problem": error.strerror},
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield draft
        fsync(draft)
        draft.rename(folder)
        fsync(folder.parent)
    except BaseException:
        remove_flat(draft)
        raise
    finally:
        os.close(handle)


def _remove_orphan(draft: Path) -> None:
    """Remove an unfinished folder whose writer is gone: the lock on it went with the process."""
    with suppress(OSError):
        handle = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_flat(draft)
        finally:
            os.close(handle)


def remove_flat(folder: Path) -> None:
    """Remove a folder of plain files, and nothing that is anything else."""
    with suppress(OSError):
        for entry in folder.iterdir():
            entry.unlink()
        folder.rmdir()


def require_space(folder: Path, needed: int) -> None:
    """Refuse before the disk is full rather than after."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    usage = os.statvfs(there)
    free = usage.f_bavail * usage.f_frsize
    if free < needed:
        raise StorageFull(
            f"{there} has {free >> 20} MiB left, {(needed >> 20) + 1} are needed",
            hint="free some space, or choose another folder",
            details={"reason": "no_space", "path": str(there), "free": free, "needed": needed},
        )


def sha256(file: Path) -> str:
    """The digest of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fsync(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_private(path: Path, content: bytes) -> None:
    """A file that only we can read, whole or not at all, on the disk when this returns."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as stream:
        os.fchmod(handle, 0o600)
        stream.write(content)
        stream.flush()
        os.fsync(handle)
    draft.replace(path)
    fsync(path.parent)
