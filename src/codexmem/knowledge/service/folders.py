"""Folders that nobody can lead us out of.

Every step is taken from a folder that is already open and follows no link, so that a name which is swapped for a link
between two looks leads nowhere. What is not a folder or plain file of ours is refused or passed over, never opened.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import CodexmemError, Conflict, NotFound, StorageFull, Unavailable

TRASH = "trash"  # what names of folders begin with that only wait to be removed

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: a pipe in the place of a file would otherwise hold us until somebody writes to it.
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_TRIES = 100  # emptying a folder that somebody goes on filling


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """Something met on a walk: where it is, and the open folder it was met in, which closes when the walk goes on."""

    path: tuple[str, ...]
    kind: str  # folder, file, or other: a link, pipe, socket or device
    size: int
    mode: int
    parent: int

    @property
    def name(self) -> str:
        """Its own name."""
        return self.path[-1]


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Failures of the file system inside the block as errors that a caller can read; no path is named."""
    try:
        yield
    except CodexmemError:
        raise
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFull(f"the disk is full: {what}", hint="free some space and try again") from error
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise Conflict(f"there is a link or file where a folder is expected: {what}") from error
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise Unavailable(f"{what}: {reason}", hint="see the server's log and codexmem doctor") from error


@contextmanager
def folder(base: Path | int, *parts: str, make: bool = False) -> Iterator[int]:
    """A folder below another, opened step by step; `make` creates what is missing, for us alone.

    The base itself is trusted, because an operator named it; everything below must be ours and no link.
    """
    handle = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) if isinstance(base, Path) else os.dup(base)
    try:
        for part in parts:
            inner = _step(handle, part, make)
            os.close(handle)
            handle = inner
            if os.fstat(handle).st_uid != os.geteuid():
                raise Conflict("a folder there belongs to another user, so it is left alone")
        yield handle
    finally:
        os.close(handle)


def _step(handle: int, part: str, make: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=handle)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(part, 0o700, dir_fd=handle)
        os.fsync(handle)
    return os.open(part, _FOLDER, dir_fd=handle)


def exists(parent: int, name: str) -> bool:
    """Whether anything at all bears the name."""
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def is_empty(handle: int) -> bool:
    """Whether the folder holds nothing."""
    with os.scandir(handle) as entries:
        return next(entries, None) is None


def names(handle: int, limit: int) -> list[str]:
    """The names of folders in the folder, sorted; so many at most."""
    found: list[str] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            if len(found) == limit:
                break
            if entry.is_dir(follow_symlinks=False):
                found.append(entry.name)
    return sorted(found)


def opened_file(parent: int, name: str) -> int:
    """A plain file of ours, open for reading; anything else is refused without being read."""
    try:
        handle = os.open(name, _PLAIN, dir_fd=parent)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENODEV, errno.ENOTDIR}:
            raise Conflict("it is not a plain file") from error
        if error.errno == errno.ENOENT:
            raise NotFound("there is no such file") from error
        raise
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise Conflict("it is not a plain file")
        if facts.st_uid != os.geteuid():
            raise Conflict("the file belongs to another user, so it is left alone")
    except BaseException:
        os.close(handle)
        raise
    return handle


def new_file(parent: int, name: str, mode: int = 0o600) -> int:
    """A file that was not there before, open for writing, whatever the process's umask."""
    handle = os.open(name, _FRESH, mode, dir_fd=parent)
    os.fchmod(handle, mode)
    return handle


def walk(home: int, *, depth: int, entries: int) -> Iterator[FolderEntry]:
    """Everything below a folder in the order of names, folders before what they hold, links not followed.

    Raises Conflict beyond so many levels or entries; whoever wants only some of them stops by himself.
    """
    waiting: list[tuple[str, ...]] = [()]
    count = 0
    while waiting:
        path = waiting.pop()
        try:
            opened = folder(home, *path)
            handle = opened.__enter__()
        except OSError as error:
            if path and error.errno in {errno.ENOENT, errno.ELOOP, errno.ENOTDIR}:
                continue  # it went, or turned into something else, since it was met
            raise
        try:
            inner: list[tuple[str, ...]] = []
            for found in _inside(handle, path, entries - count):
                count += 1
                if count > entries or len(found.path) > depth:
                    raise Conflict(
                        f"workspaces hold more than {entries:,} files or folders more than {depth} levels deep",
                        hint="remove finished tasks with memory_cleanup",
                    )
                yield found
                if found.kind == "folder":
                    inner.append(found.path)
            waiting.extend(reversed(inner))
        finally:
            opened.__exit__(None, None, None)


def _inside(handle: int, path: tuple[str, ...], limit: int) -> Iterator[FolderEntry]:
    met: list[tuple[str, os.stat_result]] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                met.append((entry.name, entry.stat(follow_symlinks=False)))
            if len(met) > limit:
                break  # one too many: the walk says so
    for name, facts in sorted(met, key=lambda each: each[0]):
        kind = "folder" if stat.S_ISDIR(facts.st_mode) else "file" if stat.S_ISREG(facts.st_mode) else "other"
        yield FolderEntry((*path, name), kind, facts.st_size, stat.S_IMODE(facts.st_mode), handle)


def remove_tree(home: int, name: str) -> None:
    """Remove a folder and all below it, however deep; links are removed, never followed. Gone already is as good.

    Inner folders are moved up beside it before they are emptied, so that at most two folders are open at a time.
    """
    waiting = [name]
    while waiting:
        current = waiting[-1]
        try:
            handle = os.open(current, _FOLDER, dir_fd=home)
        except FileNotFoundError:
            waiting.pop()
            continue
        except OSError as error:
            if error.errno not in {errno.ELOOP, errno.ENOTDIR}:
                raise
            with suppress(FileNotFoundError):
                os.unlink(current, dir_fd=home)
            waiting.pop()
            continue
        try:
            os.fchmod(handle, 0o700)
            for _ in range(_TRIES):
                for inner in _emptied(handle):
                    beside = ids.prefixed(TRASH)
                    if _moved_up(handle, inner, home, beside):
                        waiting.append(beside)
                if is_empty(handle):
                    break
        finally:
            os.close(handle)
        try:
            os.rmdir(current, dir_fd=home)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            raise Conflict("a folder is being filled while it is removed", hint="end the task first") from error
        waiting.remove(current)


def _emptied(handle: int) -> Iterator[str]:
    """Remove every entry that is no folder; the names of those that are."""
    with os.scandir(handle) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield entry.name
                continue
            try:
                os.unlink(entry.name, dir_fd=handle)
            except FileNotFoundError:
                pass
            except IsADirectoryError:
                yield entry.name


def _moved_up(handle: int, inner: str, home: int, beside: str) -> bool:
    for writable in (False, True):
        try:
            if writable:
                # A folder that its owner may not write to cannot be moved until he may.
                own = os.open(inner, _FOLDER, dir_fd=handle)
                try:
                    os.fchmod(own, 0o700)
                finally:
                    os.close(own)
            os.rename(inner, beside, src_dir_fd=handle, dst_dir_fd=home)
        except FileNotFoundError:
            return False
        except PermissionError:
            if writable:
                raise
        else:
            return True
    return False
