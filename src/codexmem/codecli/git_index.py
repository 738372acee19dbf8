"""git's index file, read without git: git runs programs that a checkout's own configuration names, we run none.

Versions 2 to 4, with SHA-1 or SHA-256. What cannot be read ends the reading; nothing here raises.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER = struct.Struct(">4sII")
_STAT = struct.Struct(">8xII8xI8xI")  # mtime, its nanoseconds, mode, size
_ASSUME_VALID, _EXTENDED, _STAGE = 0x8000, 0x4000, 0x3000
_SKIP_WORKTREE, _INTENT_TO_ADD = 0x4000, 0x2000
_SUBMODULE = 0o160000


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One tracked file as git last saw it."""

    path: str
    mtime_s: int
    mtime_ns: int  # 0 if git did not keep it
    size: int  # modulo 2**32
    digest: bytes
    unsettled: bool  # in conflict, or added without content: changed whatever the file is like


def entries(index: bytes) -> Iterator[IndexEntry]:
    """The files that git compares with the working tree: no submodules, and none that it was told to leave alone."""
    # The file does not say how long its digests are.
    for digest_size in (20, 32):
        first = next(_entries(index, digest_size), None)
        if first is not None:
            yield from _entries(index, digest_size)
            return


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
        if mode != _SUBMODULE and not flags & _ASSUME_VALID and not more & _SKIP_WORKTREE and path:
            unsettled = bool(flags & _STAGE or more & _INTENT_TO_ADD)
            yield IndexEntry(path.decode("utf-8", "replace"), mtime_s, mtime_ns, size, digest, unsettled)


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
