"""Staleness: whether the files that a memory rests on still say what they said, in the checkout of whoever asks.

The working tree itself is read, so the branch and the worktree that somebody works in count, and git is not run. A
stamp (`file_blobs`) that does not fit is looked at twice: the lines that a memory is about may still stand in a file
that was changed elsewhere, and a file that is not at its place may have been moved, which git's index tells.

Nothing is said where nothing can be known: without stamps, without a checkout of the memory's project on this machine,
or beyond what may be read for one answer. A check costs a system call for each file that was seen before, and the
reading of those that are new or were changed; it does not grow with the repository or the store.
"""

import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Generic, TypeVar

from codexmem.kernel.model import file_blobs, project, quoting
from codexmem.kernel.model.attrs import ObservationAttrs, SummaryAttrs
from codexmem.kernel.model.file_blobs import Stamp
from codexmem.kernel.model.git_index import IndexFile
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.search import SearchResult

_SMALL = 1 << 16  # bytes of a file of git's
_INDEX = 64 << 20  # bytes of an index that is looked into
_READ = 400  # files that are read for one answer
_READ_BYTES = 48 << 20
_ANY = 1 << 62
_REMEMBERED = 8_192  # files whose content is known while they do not change
_LOOKED_UP = 2_048  # contents that were looked for in an index
_SETTLED_MS = 2_000  # a file that was written just now may be written again within one tick of its clock
_LINES = 1 << 18  # bytes of a file in which lines are looked for again
_RANKED = 16  # results that are put in order; of others nothing is told
_NEAR = 0.02  # scores that differ by less are of one rank
_FILTERS = (b"filter=", b"ident", b"working-tree-encoding")  # attributes by which git keeps other bytes than a file has
K = TypeVar("K")
V = TypeVar("V")


class FileFreshness(StrEnum):
    """What became of the files of a memory; in the order in which they count for one with several."""

    UNKNOWN = "unknown"
    UNCHANGED = "unchanged"
    MOVED = "moved"  # under another name
    NEARBY = "nearby"  # the file was changed; the lines that the memory is about stand
    CHANGED = "changed"
    GONE = "gone"


STALE = frozenset({FileFreshness.NEARBY, FileFreshness.CHANGED, FileFreshness.GONE})
_WEIGHT = list(FileFreshness)
_MARKS = {
    FileFreshness.NEARBY: "(file changed since, these lines stand)",
    FileFreshness.CHANGED: "(file changed since)",
    FileFreshness.GONE: "(file gone)",
}


@dataclass(frozen=True, slots=True)
class FileState:
    """One file of a memory in a checkout."""

    path: str
    freshness: FileFreshness
    moved_to: str = ""


@dataclass(frozen=True, slots=True)
class StaleVerdict:
    """What became of the files that a memory rests on."""

    freshness: FileFreshness
    files: tuple[FileState, ...] = ()

    @property
    def mark(self) -> str:
        """What a reader is told beside the memory; empty if it can be taken as it stands."""
        if self.freshness is FileFreshness.MOVED:
            moved = next(each for each in self.files if each.moved_to)
            return f"(file moved to {quoting.quoted(moved.moved_to)})"
        return _MARKS.get(self.freshness, "")


UNKNOWN = StaleVerdict(FileFreshness.UNKNOWN)


class _Recent(Generic[K, V]):
    """The last so many answers."""

    def __init__(self, most: int) -> None:
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()
        self._most = most

    def get(self, key: K) -> V | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, key: K, value: V) -> None:
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Content:
    """What a file says: its ids, as it is and with the line ends that git keeps."""

    seen: tuple[int, int, int]  # by which a later look knows it again: time, size, inode
    blobs: tuple[str, ...]


_clock = SystemClock()
_contents: _Recent[str, _Content] = _Recent(_REMEMBERED)
_passages: _Recent[tuple[str, tuple[int, int, int], str], bool] = _Recent(_REMEMBERED)
_places: _Recent[tuple[str, tuple[int, int, int], str], str] = _Recent(_LOOKED_UP)


class CheckoutFiles:
    """One working tree, for one answer."""

    def __init__(self, root: str, folder: str, project_name: str, *, bounded: bool = True) -> None:
        self.root = root
        self.project = project_name
        self._folder = folder
        self._files_left, self._bytes_left = (_READ, _READ_BYTES) if bounded else (_ANY, _ANY)
        self._plain: dict[str, bool] = {"": True}  # folders that are no links, nor below one
        self._states: dict[str, FileState] = {}

    @classmethod
    def around(cls, cwd: str, project_name: str | None = None, *, bounded: bool = True) -> "CheckoutFiles | None":
        """The checkout around a folder of this machine, if there is one and it is of this project."""
        if not Path(cwd).is_absolute() or (found := project.working_tree(cwd, _text)) is None:
            return None
        name = project.identity(cwd, _text)
        if project_name not in {None, name} or not Path(cwd).is_dir():
            return None
        return cls(*found, name, bounded=bounded)

    def verdict(self, memory: Memory) -> StaleVerdict:
        """What became of the files that a memory rests on."""
        attrs = memory.state.attrs
        if not isinstance(attrs, ObservationAttrs | SummaryAttrs) or memory.state.project != self.project:
            return UNKNOWN
        return self.judged(attrs.blobs)

    def judged(self, stamps: Sequence[str]) -> StaleVerdict:
        """What became of the files of these stamps: gone if all are, else as the one that was changed most."""
        files = tuple(self._state(text) for text in stamps)
        if not files:
            return UNKNOWN
        kinds = {each.freshness for each in files}
        if FileFreshness.GONE in kinds and len(kinds) > 1:
            return StaleVerdict(FileFreshness.CHANGED, files)
        return StaleVerdict(max(kinds, key=_WEIGHT.index), files)

    def is_gone(self, memory: Memory) -> bool:
        """Whether nothing is left of the files that a memory rests on; asks no more than whether they are there."""
        attrs = memory.state.attrs
        if not isinstance(attrs, ObservationAttrs | SummaryAttrs) or memory.state.project != self.project:
            return False
        return bool(attrs.blobs) and all(self._is_gone(text) for text in attrs.blobs)

    def renewed(self, stamps: Sequence[str]) -> tuple[str, ...]:
        """The same files as they are now, under the names that they have now; without those that are gone."""
        made = []
        for text in stamps:
            stamp, state = file_blobs.parsed(text), self._state(text)
            if stamp is None or state.freshness is FileFreshness.GONE:
                continue
            path = state.moved_to or stamp.path
            content = self._content(path)
            if content is None:
                made.append(text)
                continue
            lines = file_blobs.lines_of(file_blobs.as_stored(content))
            places = tuple(each for each in stamp.passages if file_blobs.stands(lines, each[1], each[2]))
            made.append(str(file_blobs.stamp_of(path, content).about(places)))
        return tuple(made)

    def _is_gone(self, text: str) -> bool:
        stamp = file_blobs.parsed(text)
        if stamp is None or self._stat(stamp.path) is not None:
            return False
        return self._state(text).freshness is FileFreshness.GONE

    def _state(self, text: str) -> FileState:
        found = self._states.get(text)
        if found is None:
            stamp = file_blobs.parsed(text)
            found = self._states[text] = self._compared(stamp) if stamp else FileState(text, FileFreshness.UNKNOWN)
        return found

    def _compared(self, stamp: Stamp) -> FileState:
        seen = self._stat(stamp.path)
        if seen is None:
            return self._missing(stamp)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > file_blobs.MAX_BYTES:
            return FileState(stamp.path, FileFreshness.UNKNOWN)
        whole = f"{self.root}/{stamp.path}"
        content = self._known(whole, seen, sha256_too=len(stamp.blob) == 64)
        if content is None:
            return FileState(stamp.path, FileFreshness.UNKNOWN)
        if any(each in content.blobs for each in stamp.ids) or self._is_filtered(stamp, seen):
            return FileState(stamp.path, FileFreshness.UNCHANGED)
        stands = (
            bool(stamp.passages)
            and seen.st_size <= _LINES
            and all(self._stands(whole, content.seen, count, digest) for _, count, digest in stamp.passages)
        )
        return FileState(stamp.path, FileFreshness.NEARBY if stands else FileFreshness.CHANGED)

    def _stat(self, path: str) -> os.stat_result | None:
        """What is at a place of the checkout; None if nothing is, or if the way there leads through a link."""
        try:
            if not self._is_plain(path.rpartition("/")[0]):
                return None
            return os.lstat(f"{self.root}/{path}")
        except (OSError, ValueError):
            return None

    def _is_plain(self, folder: str) -> bool:
        known = self._plain.get(folder)
        if known is None:
            known = self._is_plain(folder.rpartition("/")[0]) and stat.S_ISDIR(
                os.lstat(f"{self.root}/{folder}").st_mode
            )
            self._plain[folder] = known
        return known

    def _known(self, whole: str, seen: os.stat_result, *, sha256_too: bool) -> _Content | None:
        """A file's ids; read only if it is not as it was when it was last read."""
        key = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        name = f"{whole}\0" if sha256_too else whole
        known = _contents.get(name)
        if known is not None and known.seen == key:
            return known
        content = self._read(whole, seen.st_size)
        if content is None:
            return None
        forms = list(dict.fromkeys((content, file_blobs.as_stored(content))))
        blobs = [_sha256_id(each) if sha256_too else file_blobs.blob_id(each) for each in forms]
        known = _Content(key, tuple(blobs))
        if _clock.now_ms() - seen.st_mtime_ns // 1_000_000 > _SETTLED_MS:
            _contents.keep(name, known)
        return known

    def _stands(self, whole: str, seen: tuple[int, int, int], count: int, digest: str) -> bool:
        key = (whole, seen, f"{count}:{digest}")
        known = _passages.get(key)
        if known is None:
            content = self._read(whole, seen[1])
            known = content is not None and file_blobs.stands(
                file_blobs.lines_of(file_blobs.as_stored(content)), count, digest
            )
            _passages.keep(key, known)
        return known

    def _content(self, path: str) -> bytes | None:
        seen = self._stat(path)
        return self._read(f"{self.root}/{path}", seen.st_size) if seen is not None else None

    def _read(self, whole: str, size: int) -> bytes | None:
        if size > file_blobs.MAX_BYTES or not self._files_left or size > self._bytes_left:
            return None
        self._files_left -= 1
        self._bytes_left -= size
        return _bytes(whole, file_blobs.MAX_BYTES)

    def _missing(self, stamp: Stamp) -> FileState:
        """A file that is not at its place: git may know it under another name, or have been told to leave it out."""
        key = (self._folder, self._index_seen, f"{stamp.blob} {stamp.path}")
        place = _places.get(key)
        if place is None:
            place = self._looked_up(stamp)
            _places.keep(key, place)
        if place == stamp.path:
            return FileState(stamp.path, FileFreshness.UNCHANGED)
        if place and self._stat(place) is not None:
            return FileState(stamp.path, FileFreshness.MOVED, place)
        return FileState(stamp.path, FileFreshness.UNKNOWN if place else FileFreshness.GONE)

    def _looked_up(self, stamp: Stamp) -> str:
        """Where the content is now: its own path if it is left out of a sparse checkout, empty if it is nowhere."""
        if self._index is None:
            return ""
        digests = [bytes.fromhex(each) for each in stamp.ids]
        here = self._index.at_path(stamp.path, len(digests[0]))
        if here is not None and here.left_alone:
            return stamp.path if here.digest in digests else f"{stamp.path}\0"
        found = (each for digest in digests for each in self._index.with_digest(digest))
        others = [each.path for each in found if each.path != stamp.path]
        name = stamp.path.rpartition("/")[2]
        return next((path for path in others if path.rpartition("/")[2] == name), others[0] if others else "")

    def _is_filtered(self, stamp: Stamp, seen: os.stat_result) -> bool:
        """Whether git says that a file is as it was, where it keeps other bytes than the file has."""
        if not self._has_filters or self._index is None:
            return False
        entry = self._index.at_path(stamp.path, len(stamp.blob) // 2)
        if entry is None or entry.unsettled or entry.digest.hex() not in stamp.ids:
            return False
        seconds, nanoseconds = divmod(seen.st_mtime_ns, 1_000_000_000)
        same_time = seconds == entry.mtime_s and nanoseconds == (entry.mtime_ns or nanoseconds)
        return same_time and seen.st_size & 0xFFFFFFFF == entry.size

    @cached_property
    def _has_filters(self) -> bool:
        for place in (f"{self.root}/.gitattributes", f"{self._folder}/info/attributes"):
            said = _bytes(place, _SMALL) or b""
            if any(word in said for word in _FILTERS):
                return True
        return False

    @cached_property
    def _index(self) -> IndexFile | None:
        content = _bytes(f"{self._folder}/index", _INDEX)
        return IndexFile(content) if content else None

    @cached_property
    def _index_seen(self) -> tuple[int, int, int]:
        try:
            seen = Path(self._folder, "index").stat()
        except OSError:
            return 0, 0, 0
        return seen.st_mtime_ns, seen.st_size, seen.st_ino


class Staleness:
    """Compares memories with the checkout that a caller works in.

    With `local` false nothing is compared: a caller with a key may sit elsewhere, and the folder that it names be
    another here.
    """

    def __init__(self, *, local: bool = True) -> None:
        self._local = local

    def of(self, cwd: str, project_name: str | None) -> "Comparison":
        """A comparison with the checkout around this folder, which may know nothing."""
        return Comparison(CheckoutFiles.around(cwd, project_name) if self._local and cwd else None)


class Comparison:
    """One answer's look at a checkout; without one, every memory is as good as it was."""

    def __init__(self, checkout: CheckoutFiles | None = None) -> None:
        self._checkout = checkout

    @property
    def knows(self) -> bool:
        """Whether there is a checkout to compare with."""
        return self._checkout is not None

    def verdict(self, memory: Memory) -> StaleVerdict:
        """What became of the files that a memory rests on."""
        return self._checkout.verdict(memory) if self._checkout is not None else UNKNOWN

    def withholds(self, memory: Memory) -> bool:
        """Whether a memory is not told unasked, because nothing is left of what it is about."""
        return self._checkout is not None and self._checkout.is_gone(memory)

    def marks(self, memories: Iterable[Memory]) -> dict[int, str]:
        """What is said beside memories whose files have changed, by number."""
        if self._checkout is None:
            return {}
        return {memory.seq: mark for memory in memories if (mark := self.verdict(memory).mark)}

    def ranked(self, found: Sequence[SearchResult]) -> list[SearchResult]:
        """Results of one rank with those last whose files have changed."""
        if self._checkout is None:
            return list(found)
        first = sorted(
            found[:_RANKED], key=lambda each: (-(each.score // _NEAR), self.verdict(each.memory).freshness in STALE)
        )
        return [*first, *found[_RANKED:]]


def _sha256_id(content: bytes) -> str:
    return sha256(b"blob %d\0" % len(content) + content).hexdigest()


def _text(path: str) -> str | None:
    content = _bytes(path, _SMALL, whole=False)
    return content.decode("utf-8", "replace") if content is not None else None


def _bytes(path: str, most: int, *, whole: bool = True) -> bytes | None:
    """What is in a regular file, and never in a pipe that nobody writes to; None if it is longer."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        seen = os.fstat(file)
        if not stat.S_ISREG(seen.st_mode) or (whole and seen.st_size > most):
            return None
        return os.pread(file, most, 0)
    except OSError:
        return None
    finally:
        os.close(file)
