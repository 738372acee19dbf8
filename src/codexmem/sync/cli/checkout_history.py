"""What git knows of a checkout: where it stands, how it got there, and which commits touched a file.

git's own files are read and git is not run: a checkout's configuration can name a program for almost every command of
git. Loose objects, packs, SHA-1 and SHA-256. What cannot be read (another store of references, objects that were never
fetched) makes the answer shorter, never wrong: such a file simply has no commit. Bounded in commits and bytes.
"""

import functools
import heapq
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from codexmem.kernel.model import project

_MOST_COMMITS = 3_000
_MOST_OBJECT = 16 << 20
_MOST_DELTAS = 4_096
_MOST_BLOBS = 20  # earlier texts of one file
_COMMIT, _TREE, _BLOB, _OFS, _REF = 1, 2, 3, 6, 7
_TYPES = {b"commit": _COMMIT, b"tree": _TREE, b"blob": _BLOB}
# What reading a damaged or hostile object may end in.
_BROKEN = (OSError, ValueError, zlib.error, struct.error, IndexError, OverflowError, RecursionError)
_IDX = b"\xfftOc\x00\x00\x00\x02"


@dataclass(frozen=True, slots=True)
class GitCommit:
    """One commit."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: str
    when: int


@dataclass
class PathHistory:
    """The commit that touched a file last, and what the file said before, the newest first."""

    commit: GitCommit | None = None
    blobs: list[str] = field(default_factory=list)


class CheckoutHistory:
    """The repository around a folder, read only."""

    def __init__(self, root: str, folder: str) -> None:
        self.root = root
        self._own = folder
        shared = (text_of(f"{folder}/commondir") or "").strip()
        self.common = os.path.normpath(os.path.join(folder, shared)) if shared else folder  # noqa: PTH118
        self.branch, self.head = self._here()
        self._packs: list[_Pack] | None = None
        self._commits: dict[str, GitCommit | None] = {}
        self._trees: dict[str, dict[bytes, tuple[bytes, str]]] = {}

    @classmethod
    def around(cls, place: Path) -> "CheckoutHistory | None":
        """The repository that this folder lies in."""
        found = project.working_tree(str(place), text_of)
        return cls(*found) if found is not None else None

    @property
    def rebasing(self) -> bool:
        """Whether a rebase is under way: what lies in the checkout is none of anybody's."""
        return any(Path(self._own, name).exists() for name in ("rebase-merge", "rebase-apply"))

    def commit(self, sha: str) -> GitCommit | None:
        """One commit, if it is there."""
        if sha not in self._commits:
            found = self._object(sha)
            self._commits[sha] = _commit(sha, found[1]) if found is not None and found[0] == _COMMIT else None
        return self._commits[sha]

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether the one commit is the other or came before it."""
        return any(each.sha == old for each in self._walk(new))

    def common_ancestor(self, one: str, other: str) -> str:
        """The newest commit that both have in common; empty if none is found."""
        before = {each.sha for each in self._walk(one)}
        return next((each.sha for each in self._walk(other) if each.sha in before), "")

    def blob_at(self, sha: str, path: str) -> str:
        """The id of a file's content in a commit; empty if it is not there."""
        commit = self.commit(sha)
        return self._entry(commit.tree, path) if commit is not None else ""

    def content(self, blob: str) -> bytes | None:
        """What a file said."""
        found = self._object(blob)
        return found[1] if found is not None and found[0] == _BLOB else None

    @functools.cached_property
    def moves(self) -> list[str]:
        """git's log of what was checked out here, the oldest first; empty where none is kept."""
        return (text_of(f"{self._own}/logs/HEAD") or "").splitlines()

    def was_made_here(self, sha: str) -> bool:
        """Whether somebody committed it in this checkout, as far as git's log of it goes back."""
        return any(new == sha and what.startswith("commit") for _, new, what in map(_move, self.moves))

    def left_since(self, line: str) -> list[str] | None:
        """The commits that were checked out after this line of the log, but for those that others took the place of.

        None if the log does not go back so far.
        """
        if line not in self.moves:
            return None
        at = len(self.moves) - 1 - self.moves[::-1].index(line)
        left = [(old, what) for old, _, what in map(_move, self.moves[at + 1 :])]
        return [old for old, what in left if not what.startswith(("rebase", "commit (amend)", "pull"))]

    def histories(self, folder: str, paths: list[str], since: str = "") -> dict[str, PathHistory]:
        """For each of these files of a folder the commit that touched it last, and what it said; from a commit back."""
        found = {path: PathHistory() for path in paths}
        queue, seen = [], {since or self.head}
        if (start := self.commit(since or self.head)) is not None:
            queue.append((-start.when, start.sha))
        looked = 0
        while queue and looked < _MOST_COMMITS and paths:
            looked += 1
            commit = self.commit(heapq.heappop(queue)[1])
            if commit is None:
                continue
            parents = [each for each in map(self.commit, commit.parents) if each is not None]
            here = self._entry(commit.tree, folder)
            alike = [each for each in parents if self._entry(each.tree, folder) == here]
            if not alike:
                self._touched(commit, parents, folder, found)
            for parent in alike[:1] or parents:  # what a parent has in the same way came through it
                if parent.sha not in seen:
                    seen.add(parent.sha)
                    heapq.heappush(queue, (-parent.when, parent.sha))
        return found

    def _touched(self, commit: GitCommit, parents: list[GitCommit], folder: str, found: dict[str, PathHistory]) -> None:
        for path, history in found.items():
            blob = self._entry(commit.tree, f"{folder}/{path}")
            before = [self._entry(each.tree, f"{folder}/{path}") for each in parents]
            if blob in before or (not blob and not before):
                continue
            history.commit = history.commit or commit
            for each in (blob, *before):
                if each and each not in history.blobs and len(history.blobs) < _MOST_BLOBS:
                    history.blobs.append(each)

    def _walk(self, sha: str) -> Iterator[GitCommit]:
        queue, seen = [], {sha}
        if (start := self.commit(sha)) is not None:
            queue.append((-start.when, sha))
        for _ in range(_MOST_COMMITS):
            if not queue:
                return
            commit = self.commit(heapq.heappop(queue)[1])
            if commit is None:
                continue
            yield commit
            for parent in commit.parents:
                if parent not in seen and (known := self.commit(parent)) is not None:
                    seen.add(parent)
                    heapq.heappush(queue, (-known.when, parent))

    def _here(self) -> tuple[str, str]:
        """The branch and the commit that are checked out, each empty if unknown."""
        head = (text_of(f"{self._own}/HEAD") or "").strip()
        if not head.startswith("ref: "):
            return "", head if _is_sha(head) else ""
        name = head[5:].strip()
        if ".." in name or not name.startswith("refs/"):
            return "", ""
        for folder in (self._own, self.common):
            sha = (text_of(f"{folder}/{name}") or "").strip()
            if _is_sha(sha):
                return name, sha
        for line in (text_of(f"{self.common}/packed-refs") or "").splitlines():
            sha, _, ref = line.partition(" ")
            if ref == name and _is_sha(sha):
                return name, sha
        return name, ""

    def _entry(self, tree: str, path: str) -> str:
        at = tree
        for part in (each for each in path.split("/") if each):
            found = self._tree(at).get(part.encode())
            if found is None:
                return ""
            at = found[1]
        return at

    def _tree(self, sha: str) -> dict[bytes, tuple[bytes, str]]:
        if sha not in self._trees:
            found = self._object(sha)
            width = len(self.head) // 2 or 20
            self._trees[sha] = {}
            with suppress(ValueError):
                self._trees[sha] = _entries(found[1], width) if found is not None and found[0] == _TREE else {}
        return self._trees[sha]

    def _object(self, sha: str) -> tuple[int, bytes] | None:
        if not _is_sha(sha):
            return None
        with suppress(*_BROKEN):
            loose = _bytes(f"{self.common}/objects/{sha[:2]}/{sha[2:]}", _MOST_OBJECT)
            if loose is not None:
                head, _, body = _inflated(loose, _MOST_OBJECT).partition(b"\0")
                kind = _TYPES.get(head.split(b" ")[0])
                return (kind, body) if kind is not None else None
            if self._packs is None:
                self._packs = list(_packs(f"{self.common}/objects/pack", len(sha) // 2))
            for pack in self._packs:
                if (offset := pack.offset(bytes.fromhex(sha))) is not None:
                    return self._packed(pack, offset)
        return None

    def _packed(self, pack: "_Pack", offset: int) -> tuple[int, bytes] | None:
        deltas: list[bytes] = []
        while len(deltas) < _MOST_DELTAS:
            kind, below, body = pack.entry(offset)
            if kind == _OFS:
                deltas.append(body)
                offset = offset - int.from_bytes(below, "big")
                continue
            if kind == _REF:
                deltas.append(body)
                found = self._object(below.hex())
                if found is None:
                    return None
                kind, body = found
            for delta in reversed(deltas):
                body = _patched(body, delta)
            return kind, body
        return None


class _Pack:
    """One pack and its index."""

    def __init__(self, path: str, width: int) -> None:
        self._path = path
        self._width = width
        self._index = _bytes(f"{path}.idx", 128 << 20) or b""
        if self._index[:8] != _IDX:
            raise ValueError(path)
        self._fan = struct.unpack_from(">256I", self._index, 8)

    def offset(self, sha: bytes) -> int | None:
        """Where an object begins in the pack."""
        low, high = self._fan[sha[0] - 1] if sha[0] else 0, self._fan[sha[0]]
        count, names = self._fan[255], 8 + 1024
        while low < high:
            middle = (low + high) // 2
            at = names + middle * self._width
            name = self._index[at : at + self._width]
            if name == sha:
                offsets = names + count * (self._width + 4)
                (offset,) = struct.unpack_from(">I", self._index, offsets + middle * 4)
                if offset & 0x80000000:
                    place = offsets + count * 4 + (offset & 0x7FFFFFFF) * 8
                    (offset,) = struct.unpack_from(">Q", self._index, place)
                return int(offset)
            if name < sha:
                low = middle + 1
            else:
                high = middle
        return None

    def entry(self, offset: int) -> tuple[int, bytes, bytes]:
        """The kind of an object, what it is a delta of (the distance, or a name), and its bytes."""
        file = os.open(f"{self._path}.pack", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            head = os.pread(file, 64, offset)
            kind, at = head[0] >> 4 & 7, 1
            size, shift = head[0] & 15, 4
            while head[at - 1] & 0x80:
                size |= (head[at] & 0x7F) << shift
                shift, at = shift + 7, at + 1
            below = b""
            if kind == _OFS:
                distance = head[at] & 0x7F
                while head[at] & 0x80:
                    at += 1
                    distance = (distance + 1) << 7 | head[at] & 0x7F
                at += 1
                below = distance.to_bytes(8, "big")
            elif kind == _REF:
                below, at = head[at : at + self._width], at + self._width
            if size > _MOST_OBJECT:
                raise ValueError("too large")
            return kind, below, _inflated_from(file, offset + at, size)
        finally:
            os.close(file)


def text_of(path: str) -> str | None:
    """A small regular file as text, None if there is none."""
    found = _bytes(path, 8 << 20)
    return found.decode("utf-8", "replace") if found is not None else None


def _bytes(path: str, most: int) -> bytes | None:
    """A regular file whole; None if there is none, or a larger one."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            return None
        with open(file, "rb", closefd=False) as opened:
            return opened.read()
    finally:
        os.close(file)


def _packs(folder: str, width: int) -> Iterator[_Pack]:
    with suppress(OSError):
        for name in sorted(each.name for each in Path(folder).iterdir()):
            if name.endswith(".idx"):
                with suppress(OSError, ValueError, struct.error):
                    yield _Pack(f"{folder}/{name.removesuffix('.idx')}", width)


def _inflated(data: bytes, most: int) -> bytes:
    made = zlib.decompressobj().decompress(data, most + 1)
    if len(made) > most:
        raise ValueError("too large")
    return made


def _inflated_from(file: int, offset: int, size: int) -> bytes:
    inflate, made = zlib.decompressobj(), b""
    while len(made) < size and not inflate.eof:
        chunk = os.pread(file, 65_536, offset)
        if not chunk:
            raise ValueError("cut off")
        offset += len(chunk)
        made += inflate.decompress(chunk, size + 1)
        while inflate.unconsumed_tail and len(made) <= size:
            made += inflate.decompress(inflate.unconsumed_tail, size + 1)
        if len(made) > size:
            raise ValueError("longer than it says")
    return made


def _patched(base: bytes, delta: bytes) -> bytes:
    _, at = _length(delta, 0)
    size, at = _length(delta, at)
    if size > _MOST_OBJECT:
        raise ValueError("too large")
    made = bytearray()
    while at < len(delta):
        op = delta[at]
        at += 1
        if op & 0x80:
            begin = count = 0
            for bit in range(7):
                if op >> bit & 1:
                    if bit < 4:
                        begin |= delta[at] << 8 * bit
                    else:
                        count |= delta[at] << 8 * (bit - 4)
                    at += 1
            made += base[begin : begin + (count or 0x10000)]
        else:
            made += delta[at : at + op]
            at += op
        if len(made) > size or not op:
            raise ValueError("longer than it says")
    return bytes(made)


def _length(delta: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = delta[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return size, at


def _entries(tree: bytes, width: int) -> dict[bytes, tuple[bytes, str]]:
    found: dict[bytes, tuple[bytes, str]] = {}
    at = 0
    while at < len(tree):
        space, end = tree.index(b" ", at), tree.index(b"\0", at)
        found[tree[space + 1 : end]] = (tree[at:space], tree[end + 1 : end + 1 + width].hex())
        at = end + 1 + width
    return found


def _commit(sha: str, body: bytes) -> GitCommit:
    tree, author, when = "", "", 0
    parents: list[str] = []
    for line in body.split(b"\n\n", 1)[0].decode("utf-8", "replace").split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parents.append(value)
        elif key == "author":
            author = value.partition(" <")[0]
        elif key == "committer" and len(words := value.rsplit(" ", 2)) == 3 and words[1].isdigit():
            when = int(words[1])
    return GitCommit(sha, tree, tuple(parents), author, when)


def _move(line: str) -> tuple[str, str, str]:
    """From which commit to which, and how."""
    about, _, what = line.partition("\t")
    old, new, *_ = [*about.split(" "), "", ""]
    return old, new, what


def _is_sha(text: str) -> bool:
    return len(text) in (40, 64) and all(each in "0123456789abcdef" for each in text)
