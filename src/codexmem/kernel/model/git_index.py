"""git's index file, read without git: git runs programs that a checkout's own configuration names, we run none.

Versions 2 to 4, with SHA-1 or SHA-256. What cannot be read ends the reading; nothing here raises. `entries` reads all
of it; `IndexFile` looks a few files up without, where the format allows that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_HEADER = struct.Struct(">4sII")
_STAT = struct.Struct(">8xII8xI8xI")  # mtime, its nanoseconds, mode, size
_ASSUME_VALID, _EXTENDED, _STAGE = 0x8000, 0x4000, 0x3000
_SKIP_WORKTREE, _INTENT_TO_ADD = 0x4000, 0x2000
_SUBMODULE = 0o160000
_FILES = frozenset({0o100644, 0o100755, 0o120000})


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One tracked file as git last saw it."""

    path: str
    mtime_s: int
    mtime_ns: int  # 0 if git did not keep it
    size: int  # modulo 2**32
    digest: bytes
    unsettled: bool  # in conflict, or added without content: changed whatever the file is like
    left_alone: bool = False  # not compared by git: told to assume so, or outside of a sparse checkout


def entries(index: bytes) -> Iterator[IndexEntry]:
    """The files that git compares with the working tree: no submodules, and none that it was told to leave alone."""
    return (entry for entry in _all(index) if not entry.left_alone)


class IndexFile:
    """The index of one checkout, for looking files up by their content or their path.

    Versions 2 and 3 hold every path whole, so a lookup is a search for a few bytes; version 4 is read once as a whole.
    """

    def __init__(self, index: bytes) -> None:
        self._index = index
        self._packed = index[4:8] == b"\0\0\0\4"

    def with_digest(self, digest: bytes, most: int = 8) -> list[IndexEntry]:
        """The files that have this content, as git last saw them."""
        if self._packed:
            return self._by_digest.get(digest, [])[:most]
        found: list[IndexEntry] = []
        at = self._index.find(digest)
        while at >= 0 and len(found) < most:
            # An entry begins 40 bytes before its digest, on a multiple of four behind the header.
            entry = _entry(self._index, at - _STAT.size, len(digest)) if at % 4 == 0 else None
            if entry is not None and entry.digest == digest:
                found.append(entry)
            at = self._index.find(digest, at + 1)
        return found

    def at_path(self, path: str, digest_size: int = 20) -> IndexEntry | None:
        """The file of this path, as git last saw it."""
        if self._packed:
            return self._by_path.get(path)
        name = path.encode("utf-8", "surrogateescape")
        at = self._index.find(name + b"\0")
        while at >= 0:
            for flags in (2, 4):
                entry = _entry(self._index, at - flags - digest_size - _STAT.size, digest_size)
                if entry is not None and entry.path == path:
                    return entry
            at = self._index.find(name + b"\0", at + 1)
        return None

    @cached_property
    def _by_digest(self) -> dict[bytes, list[IndexEntry]]:
        found: dict[bytes, list[IndexEntry]] = {}
        for entry in self._by_path.values():
            found.setdefault(entry.digest, []).append(entry)
        return found

    @cached_property
    def _by_path(self) -> dict[str, IndexEntry]:
        return {entry.path: entry for entry in _all(self._index)}


def _all(index: bytes) -> Iterator[IndexEntry]:
    # The file does not say how long its digests are.
    for digest_size in (20, 32):
        first = next(_entries(index, digest_size), None)
        if first is not None:
            yield from _entries(index, digest_size)
            return


def _entry(index: bytes, start: int, digest_size: int) -> IndexEntry | None:
    """The entry of version 2 or 3 that begins here, if one does."""
    if start < _HEADER.size or start + _STAT.size + digest_size + 4 > len(index):
        return None
    mtime_s, mtime_ns, mode, size = _STAT.unpack_from(index, start)
    at = start + _STAT.size + digest_size
    flags, more = int.from_bytes(index[at : at + 2], "big"), 0
    at += 2
    if flags & _EXTENDED:
        more = int.from_bytes(index[at : at + 2], "big")
        at += 2
    end = index.find(b"\0", at)
    if end < 0 or mode not in _FILES or (end - at != flags & 0xFFF and flags & 0xFFF != 0xFFF):
        return None
    digest = index[start + _STAT.size : start + _STAT.size + digest_size]
    return _made(index[at:end], mtime_s, mtime_ns, size, digest, flags, more)


def _made(
    path: bytes, mtime_s: int, mtime_ns: int, size: int, digest: bytes, flags: int, more: int
) -> IndexEntry:  # fmt: skip
    return IndexEntry(
        path.decode("utf-8", "replace"), mtime_s, mtime_ns, size, digest,
        unsettled=bool(flags & _STAGE or more & _INTENT_TO_ADD),
        left_alone=bool(flags & _ASSUME_VALID or more & _SKIP_WORKTREE),
    )  # fmt: skip


def _entries(index: bytes, digest_size: int) -> Iterator[IndexEntry]:
    if len(index) < _HEADER.size:
        return
    mark, version, count = _HEADER.unpack_from(index)
    if mark != b"DIRC" or version not in (2, 3, 4):
        return
    at, path = _HEADER.size, b""
    for _ in range(count):
        start = at
        if start + _STAT.size + digest_size + 4 > len(index):
            return
        mtime_s, mtime_ns, mode, size = _STAT.unpack_from(index, start)
        at += _STAT.size
        digest = index[at : at + digest_size]
        at += digest_size
        flags, more = int.from_bytes(index[at : at + 2], "big"), 0
        at += 2
        if flags & _EXTENDED:
            more = int.from_bytes(index[at : at + 2], "big")
            at += 2
        kept = 0
        if version == 4:
            dropped, at = _number(index, at)
            kept = len(path) - dropped
            if kept < 0:
                return
        end = index.find(b"\0", at)
        if end < 0:
            return
        path = path[:kept] + index[at:end]
        if len(path) != flags & 0xFFF and flags & 0xFFF != 0xFFF:
            return  # not what it seems to be
        at = end + 1 if version == 4 else start + ((end - start + 8) & ~7)
        if mode != _SUBMODULE and path:
            yield _made(path, mtime_s, mtime_ns, size, digest, flags, more)


def _number(index: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as git packs offsets, and what follows it."""
    number = 0
    while at < len(index):
        byte = index[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            break
        number += 1
    return number, at
