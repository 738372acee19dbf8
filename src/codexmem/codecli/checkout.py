"""What the working directory says of itself, for a query: its files that changed and the first line of its README.

Only files are read, git is not run: a checkout's configuration and attributes can name a program for almost every
command of git. So staged changes are known by their time alone, and files that git does not track are not known.
Bounded in time and size whatever the repository is like; a folder that is no repository just says less.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass

from codexmem.codecli import git_index, surroundings
from codexmem.codecli.git_index import IndexEntry
from codexmem.hook import surroundings as machine
from codexmem.kernel.model import project as projects

LOOK_S = 0.3
_MOST_INDEX = 32 << 20
_MOST_FILES = 20
_MOST_COMPARED = 1 << 20  # bytes of a file whose content is compared
_AT_ONCE = 64  # files between two looks at the clock
_HEAD_BYTES = 4_096
_READMES = ("README.md", "README.rst", "README.txt", "README", "README.zh.md", "readme.md")


@dataclass(frozen=True, slots=True)
class Checkout:
    """What is known of it."""

    changed: tuple[str, ...] = ()  # the last ones first
    heading: str = ""


def look(cwd: str, wait_s: float = LOOK_S) -> Checkout:
    """See what the folder has to say."""
    return Checkout(_changed(cwd, surroundings.monotonic() + wait_s), _heading(cwd))


def _changed(cwd: str, until: float) -> tuple[str, ...]:
    found = projects.working_tree(cwd, machine.text_of)
    if found is None:
        return ()
    root, folder = found
    index = _content(f"{folder}/index", _MOST_INDEX + 1)
    if len(index) > _MOST_INDEX:
        return ()
    moved_ns = _last_moved_ns(folder)
    changed: dict[str, int] = {}
    for number, entry in enumerate(git_index.entries(index)):
        if number % _AT_ONCE == 0 and surroundings.monotonic() > until:
            break
        if (when := _changed_at(root, entry, moved_ns)) is not None:
            changed[entry.path] = when
    return tuple(sorted(changed, key=changed.__getitem__, reverse=True)[:_MOST_FILES])


def _changed_at(root: str, entry: IndexEntry, moved_ns: int) -> int | None:
    """When a file was changed, 0 if it is gone; None if it is as it was committed, as far as can be seen."""
    if entry.path.startswith("/") or ".." in entry.path.split("/"):
        return None  # no file of this checkout
    path = f"{root}/{entry.path}"
    try:
        seen = os.lstat(path)
    except (OSError, ValueError):
        return 0
    if entry.unsettled or seen.st_mtime_ns > moved_ns:
        return seen.st_mtime_ns
    seconds, nanoseconds = divmod(seen.st_mtime_ns, 1_000_000_000)
    same_size = seen.st_size & 0xFFFFFFFF == entry.size
    if same_size and seconds == entry.mtime_s and nanoseconds == (entry.mtime_ns or nanoseconds):
        return None
    # A copied checkout has other times and the same files.
    if same_size and stat.S_ISREG(seen.st_mode) and seen.st_size <= _MOST_COMPARED and _is_same(path, entry):
        return None
    return seen.st_mtime_ns


def _is_same(path: str, entry: IndexEntry) -> bool:
    content = _content(path, _MOST_COMPARED)
    blob = b"blob %d\0%b" % (len(content), content)
    made = hashlib.sha1(blob, usedforsecurity=False) if len(entry.digest) == 20 else hashlib.sha256(blob)
    return made.digest() == entry.digest


def _last_moved_ns(folder: str) -> int:
    """The end of the second in which HEAD was last moved, by a commit or a checkout; a file written later is changed.

    Without a log of that, no time is later.
    """
    last = _content(f"{folder}/logs/HEAD", _HEAD_BYTES, from_end=True).rstrip(b"\n").rpartition(b"\n")[2]
    words = last.partition(b"\t")[0].split()
    seconds = words[-2] if len(words) > 3 else b""
    return (int(seconds) + 1) * 1_000_000_000 if seconds.isdigit() and len(seconds) < 15 else 1 << 80


def _heading(cwd: str) -> str:
    for name in _READMES:
        text = _content(f"{cwd}/{name}", _HEAD_BYTES).decode("utf-8", "ignore")
        for line in text.splitlines():
            plain = line.strip().lstrip("#=*- ").strip()
            if plain and plain[0] not in "<[!`|":
                return plain[:120]
    return ""


def _content(path: str, most: int, *, from_end: bool = False) -> bytes:
    """A file's first or last bytes; of nothing but files, since a checkout may hold a pipe that nobody writes to."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        seen = os.fstat(file)
        if not stat.S_ISREG(seen.st_mode):
            return b""
        return os.pread(file, most, max(0, seen.st_size - most) if from_end else 0)
    except OSError:
        return b""
    finally:
        os.close(file)
