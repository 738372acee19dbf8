"""Workspaces as records of a snapshot, and back: tasks, folders, and files in pieces.

Whoever reads records back trusts none of their names: each part of a path is one plain name, and every file is made
anew below the folder it is told to lie in.
"""

import base64
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from codexmem.kernel.model.errors import CodexmemError, Conflict, InvalidArgument
from codexmem.knowledge.model import task_name
from codexmem.knowledge.service import folders
from codexmem.knowledge.service.folders import FolderEntry
from codexmem.knowledge.service.snapshot_file import SnapshotRecord, unsound

MAX_FILES = 100_000  # files and folders of one task
MAX_TASKS = 100_000
MAX_BYTES = 1 << 30  # of all files together
MAX_DEPTH = 64
_PIECE = 1 << 20
_NAME = 255  # bytes


@dataclass(slots=True)
class CopyCounts:
    """How much was copied."""

    tasks: int = 0
    files: int = 0
    size: int = 0
    left_out: int = 0
    entries: int = field(default=0)  # of knowledge, counted by whoever copies those


def records(tasks: int, counted: CopyCounts) -> Iterator[SnapshotRecord]:
    """Everything below the folder of the tasks."""
    for name in folders.names(tasks, MAX_TASKS):
        try:
            task_name(name)
        except InvalidArgument:
            counted.left_out += 1  # not made by us
            continue
        counted.tasks += 1
        yield {"task": name}
        with folders.folder(tasks, name) as home:
            for found in folders.walk(home, depth=MAX_DEPTH, entries=MAX_FILES):
                yield from _records_of(found, counted)


def _records_of(found: FolderEntry, counted: CopyCounts) -> Iterator[SnapshotRecord]:
    if found.kind == "folder":
        yield {"folder": list(found.path)}
        return
    if found.kind != "file":
        counted.left_out += 1
        return
    try:
        handle = folders.opened_file(found.parent, found.name)
    except (CodexmemError, FileNotFoundError):
        counted.left_out += 1  # it went, or is no file any more
        return
    counted.files += 1
    with os.fdopen(handle, "rb") as stream:
        yield {"file": list(found.path), "mode": found.mode & 0o700}
        # No further than it reached when it was met: a file that is being written would never end.
        left = found.size
        while left > 0 and (piece := stream.read(min(_PIECE, left))):
            left -= len(piece)
            counted.size += len(piece)
            if counted.size > MAX_BYTES:
                raise Conflict(
                    f"the workspaces hold more than {MAX_BYTES >> 20:,} MiB, which is too much for a backup",
                    hint="remove finished tasks with memory_cleanup",
                )
            yield _piece(piece)


def _piece(raw: bytes) -> SnapshotRecord:
    with suppress(UnicodeDecodeError):
        return {"text": raw.decode("utf-8")}
    return {"base64": base64.b64encode(raw).decode("ascii")}


def rebuild(home: int, said: Iterable[SnapshotRecord]) -> CopyCounts:
    """Make what the records say below an empty folder, on the disk when this returns."""
    counted = CopyCounts()
    task: str | None = None
    handle: int | None = None
    try:
        for record in said:
            if handle is not None and not ({"text", "base64"} & record.keys()):
                _close(handle)
                handle = None
            match record:
                case {"task": str(name)}:
                    task = _task(name)
                    os.mkdir(task, 0o700, dir_fd=home)
                    counted.tasks += 1
                case {"folder": list(path)} if task is not None:
                    *above, name = _path(path)
                    with folders.folder(home, task, *above) as parent:
                        os.mkdir(name, 0o700, dir_fd=parent)
                case {"file": list(path), "mode": int(mode)} if task is not None:
                    *above, name = _path(path)
                    with folders.folder(home, task, *above) as parent:
                        handle = folders.new_file(parent, name, 0o600 | (mode & 0o100))
                    counted.files += 1
                case {"text": str(text)} if handle is not None:
                    counted.size += _write(handle, text.encode())
                case {"base64": str(text)} if handle is not None:
                    counted.size += _write(handle, base64.b64decode(text, validate=True))
                case _:
                    raise unsound("a record of a workspace makes no sense")
            if counted.size > MAX_BYTES:
                raise unsound("its files are larger than a backup takes")
    except (ValueError, FileExistsError, FileNotFoundError, NotADirectoryError):
        raise unsound("a record of a workspace makes no sense") from None
    finally:
        if handle is not None:
            _close(handle)
    _sync_folders(home)
    return counted


def _task(name: str) -> str:
    try:
        return task_name(name)
    except InvalidArgument:
        raise unsound("the name of a task makes no sense") from None


def _path(parts: list[Any]) -> list[str]:
    if not 0 < len(parts) <= MAX_DEPTH or not all(isinstance(part, str) and _is_name(part) for part in parts):
        raise unsound("a path makes no sense")
    return parts


def _is_name(part: str) -> bool:
    try:
        raw = os.fsencode(part)
    except UnicodeEncodeError:
        return False
    return part not in {"", ".", ".."} and b"/" not in raw and b"\0" not in raw and len(raw) <= _NAME


def _write(handle: int, raw: bytes) -> int:
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(handle, rest) :]
    return len(raw)


def _close(handle: int) -> None:
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folders(home: int) -> None:
    for name in folders.names(home, MAX_TASKS):
        with folders.folder(home, name) as task:
            for found in folders.walk(task, depth=MAX_DEPTH, entries=2 * MAX_FILES):
                if found.kind == "folder":
                    with folders.folder(found.parent, found.name) as inner:
                        os.fsync(inner)
            os.fsync(task)
