"""Transcript files on the disk: finding them, and reading JSON lines, whatever stands in them.

A link is not followed below the folder in which a search begins, so that nothing leads out of it or round in circles.
Only plain files are opened, and a line is taken in up to a limit: memory is bounded by that, not by the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from codexmem.agents.transcripts.model import TranscriptFlaws
from codexmem.kernel.model.errors import Unavailable

MAX_LINE = 16 << 20  # bytes; pictures inside a transcript make long ones
HEAD = 4 << 20  # bytes of a file that are looked at, at most, to know what it is
HEAD_RECORDS = 60
_CHUNK = 1 << 20
_LATEST_MS = 253_402_300_799_000  # the end of the year 9999
_ODD = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")  # halves of characters, and the one that databases refuse
_UNSOUND = re.compile("[\x00\ud800-\udfff]")


def folder_of(home: Path, environ: Mapping[str, str], variable: str, default: str) -> Path:
    """A folder that a variable may move, as the program itself finds it."""
    given = environ.get(variable, "").strip()
    if given.startswith("~/"):
        return home / given[2:]
    return Path(given) if given else home / default


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, one after another; nothing of a folder that is missing or closed to us."""
    try:
        scan = os.scandir(folder)
    except (OSError, ValueError):
        return
    with scan:
        while True:
            try:
                entry = next(scan)
            except (StopIteration, OSError):
                return
            yield entry


def files(folder: Path, ending: str, *, depth: int = 0) -> Iterator[Path]:
    """Plain files with this ending, in the folder and so many levels of folders below it."""
    for entry in entries(folder):
        with contextlib.suppress(OSError):
            if entry.name.endswith(ending) and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
            elif depth and entry.is_dir(follow_symlinks=False):
                yield from files(Path(entry.path), ending, depth=depth - 1)


def folders(folder: Path) -> Iterator[Path]:
    """The folders in a folder."""
    for entry in entries(folder):
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def opened(path: Path, *, fixed: int = 0) -> BinaryIO:
    """A plain file to be read; so many folders above it may be no links. `OSError` for anything else."""
    parts = path.absolute().parts
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not fixed or os.open not in os.supports_dir_fd:
        if any(parent.is_symlink() for parent in path.absolute().parents[:fixed]):
            raise OSError(f"{path} lies behind a link")
        number = os.open(path, flags)
    else:
        at = os.open(Path(*parts[: -1 - fixed]), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts[-1 - fixed : -1]:
                inner = os.open(part, flags | os.O_DIRECTORY, dir_fd=at)
                os.close(at)
                at = inner
            number = os.open(parts[-1], flags, dir_fd=at)
        finally:
            os.close(at)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"{path} is no plain file")
    return os.fdopen(number, "rb")


@contextlib.contextmanager
def reading(path: Path, *, fixed: int = 0) -> Iterator[BinaryIO]:
    """The file, for a person who asked for it: what the disk refuses is told."""
    try:
        try:
            file = opened(path, fixed=fixed)
        except ValueError as error:  # no path at all
            raise OSError(str(error)) from error
        with file:
            yield file
    except OSError as error:
        raise Unavailable(
            f"the transcript {path} cannot be read: {error}",
            hint="See whether the file is still there and yours to read; the others can be imported without it.",
        ) from error


def records(file: BinaryIO, flaws: TranscriptFlaws, most: int = MAX_LINE) -> Iterator[dict[str, object]]:
    """The objects of a file of JSON lines; what is none is counted."""
    while line := file.readline(most + 1):
        if len(line) > most:
            flaws.too_long += 1
            while line and not line.endswith(b"\n"):
                line = file.readline(_CHUNK)
        elif line.strip():
            record = loaded(line)
            if isinstance(record, dict):
                yield record
            else:
                flaws.broken += 1


def loaded(text: bytes | str) -> Any:
    """A JSON document whose texts can be stored; None if it is none."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    try:
        value = json.loads(raw.decode("utf-8", "replace"))
        return _sound(value) if _ODD.search(raw) else value
    except (ValueError, RecursionError):
        return None


def head(path: Path) -> Iterator[dict[str, object]]:
    """The first records of a file, read one by one as they are asked for; none if it cannot be read."""
    with contextlib.suppress(OSError, ValueError), opened(path) as file:
        left = HEAD
        for _ in range(HEAD_RECORDS):
            line = file.readline(left + 1)
            left -= len(line)
            if not line or left < 0:
                return
            if line.strip() and isinstance(record := loaded(line), dict):
                yield record


def stamped(path: Path) -> tuple[int, int]:
    """When a file was changed, in milliseconds, and its bytes; zeros if it is gone."""
    try:
        about = path.lstat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns // 1_000_000, about.st_size


def time_ms(value: Any) -> int:
    """A point in time as programs write it: ISO text, seconds or milliseconds since the epoch; 0 for anything else."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(0, int(moment.timestamp() * 1000))
        except (ValueError, OverflowError):
            return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LATEST_MS:
        return 0
    return int(value if value > 10_000_000_000 else value * 1000)


def text(value: Any) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def table(value: Any, *names: str) -> dict[str, object]:
    """An object inside objects; empty where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A list; empty for anything else."""
    return value if isinstance(value, list) else []


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        # Two halves that belong together are one character already.
        return _UNSOUND.sub("\ufffd", value)
    if isinstance(value, list):
        return [_sound(each) for each in value]
    if isinstance(value, dict):
        return {_sound(name): _sound(each) for name, each in value.items()}
    return value
