"""The audit log on disk: rows in `audit.jsonl`, the newest one's hash in `head.json`, the key in `key`.

Rows are only ever added. One write holds one row, which is on the disk before the head knows it and before anybody is
answered; the head is replaced as a whole and may lag behind by what a crash left. Any number of wrappers write the
same log, one at a time. Writing costs the same however long the log is. A file that has grown too large is put aside
under the number of its first row; the oldest of many are removed, and the head says where the chain begins since then.
What was amiss when the log was opened is told by a row of its own, never fixed in silence.

Reading the files of an audit log line by line, forwards and backwards, without holding more than a block of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codexmem.audit import chain as audit
from codexmem.audit.chain import GENESIS, Bad, ChainCheck, Checker, RowKind
from codexmem.codecli import surroundings
from codexmem.kernel.model.errors import Unavailable

BLOCK = 1 << 16  # bytes


def first_of(path: Path) -> int:
    """The number of a file's first row; a file that was put aside is named after it."""
    digits = path.stem.removeprefix("audit-")
    if digits.isdigit():
        return int(digits)
    return int(next(rows(path), {"seq": 0})["seq"])


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """What the lines of a file say, as far as they are rows."""
    return (row for line in lines(path) if (row := numbered(line)) is not None)


def numbered(line: bytes) -> dict[str, Any] | None:
    """What a line says, if it has a number."""
    row = audit.row_of(line)
    return row if row is not None and isinstance(row.get("seq"), int) else None


def lines(path: Path, *, whole: bool = True) -> Iterator[bytes]:
    """The lines of a file; with `whole` only those that have an end, without it. None if it was just put aside."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            if not whole:
                yield line
            elif line.endswith(b"\n"):
                yield line[:-1]


def lines_backwards(path: Path) -> Iterator[bytes]:
    """Whole lines, the last first, in blocks."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        place = file.seek(0, os.SEEK_END)
        rest, whole = b"", False  # what follows the last line's end is no line
        while place > 0:
            size = min(BLOCK, place)
            place -= size
            file.seek(place)
            pieces = (file.read(size) + rest).split(b"\n")
            rest = pieces.pop(0)
            for piece in reversed(pieces):
                if whole:
                    yield piece
                whole = True
        if whole and rest:
            yield rest


def ends_well(path: Path, size: int) -> bool:
    """Whether the last line has an end."""
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1) == b"\n"


LARGEST = 16 << 20  # bytes of one file
KEPT = 32  # files, the one in use among them
WAIT_S = 3.0  # for other wrappers
_NAME = "audit.jsonl"


@dataclass(frozen=True, slots=True)
class Head:
    """What the second file knows: the newest row, how long the log is, and where the chain begins."""

    seq: int = 0
    hash: str = GENESIS
    size: int = 0
    first_seq: int = 1
    first_prev: str = GENESIS

    def text(self, key: bytes) -> bytes:
        """As it is stored."""
        said = [self.seq, self.hash, self.size, self.first_seq, self.first_prev]
        body = json.dumps(said)
        return json.dumps({"head": said, "mac": audit.seal(b"head" + body.encode(), key)}).encode()

    @classmethod
    def of(cls, text: bytes, key: bytes) -> Head | None:
        """The head, if it is as it was written."""
        try:
            found = json.loads(text)
            said, mac = found["head"], found["mac"]
            if audit.seal(b"head" + json.dumps(said).encode(), key) != mac:
                return None
            return cls(*said)
        except (ValueError, TypeError, KeyError):
            return None


class AuditLog:
    """One audit log. Its verbs raise Unavailable, which says what is wrong with the disk."""

    def __init__(self, folder: Path, *, largest: int = LARGEST, kept: int = KEPT, wait_s: float = WAIT_S,
                 sync: Callable[[int], None] = os.fsync) -> None:  # fmt: skip
        self.folder = folder
        self._largest = largest
        self._kept = kept
        self._wait_s = wait_s
        self._sync = sync

    @property
    def path(self) -> Path:
        """The file that is written to."""
        return self.folder / _NAME

    def key(self) -> bytes:
        """The key, made when it is first asked for; readable by its owner alone."""
        path = self.folder / "key"
        try:
            found = path.read_text(encoding="ascii").strip()
            return bytes.fromhex(found)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            raise _unavailable(path, error) from error
        with _told(path):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = self.folder / f"key.{surroundings.fresh_id()}"
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(descriptor, os.urandom(32).hex().encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            try:
                os.link(fresh, path)  # whoever is first wins; the key is never seen half-written
            except FileExistsError:
                pass
            finally:
                fresh.unlink()
            return bytes.fromhex(path.read_text(encoding="ascii").strip())

    def append(self, fields: Mapping[str, object]) -> int:
        """Add a row; it is on the disk when this returns. Returns its number."""
        with _told(self.path):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._alone():
                key = self.key()
                head = self._current(key)
                if head.size >= self._largest:
                    head = self._put_aside(head)
                return self._write(fields, head, key).seq

    def verify(self) -> ChainCheck:
        """Look at every row; says which is the first that is not as it was written."""
        with _told(self.path):
            if not self.folder.is_dir():
                return ChainCheck(0)
            with self._alone():
                return self._verified()

    def files(self) -> list[Path]:
        """The files of the log, the oldest first."""
        aside = sorted(self.folder.glob("audit-*.jsonl"))
        return [*aside, self.path] if self.path.exists() else aside

    def rows(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """Rows after this number, the oldest first, as they stand there."""
        files = self.files()
        # A file's name is the number of its first row.
        firsts = [first_of(path) for path in files]
        for place, path in enumerate(files):
            ends = firsts[place + 1] if place + 1 < len(files) else None
            if ends is not None and ends <= after + 1 and ends > 0:
                continue
            yield from (row for row in rows(path) if row["seq"] > after)

    def newest(self) -> Iterator[dict[str, Any]]:
        """Rows from the newest to the oldest, read as they are taken."""
        for path in reversed(self.files()):
            for line in lines_backwards(path):
                if (row := numbered(line)) is not None:
                    yield row

    def _current(self, key: bytes) -> Head:
        """Where the chain goes on. What a crash left unfinished, and a head that is gone, are told by a row."""
        size = self.path.stat().st_size if self.path.exists() else 0
        head = self._head(key)
        if head is None:
            if not self.files():
                return Head()
            return self._begin_again(size, key)
        if size > head.size:
            return self._catch_up(head, key)
        if size < head.size and size and not ends_well(self.path, size):
            self._add(b"\n")
        return Head(head.seq, head.hash, min(size, head.size), head.first_seq, head.first_prev)

    def _catch_up(self, head: Head, key: bytes) -> Head:
        """Take in rows that the head does not know yet, and account for a line that has no end."""
        with self.path.open("rb") as file:
            file.seek(head.size)
            rest = file.read(4 * LARGEST)
        seq, mac, place = head.seq, head.hash, 0
        while (end := rest.find(b"\n", place)) >= 0:
            seen = audit.opened(rest[place:end], key)
            if seen is None or seen[:2] != (seq + 1, mac):
                break
            seq, mac, place = seen[0], seen[2], end + 1
        torn = rest[place:]
        caught = Head(seq, mac, head.size + place, head.first_seq, head.first_prev)
        if not torn:
            return caught
        line = torn.removesuffix(b"\n")
        if line == torn:
            self._add(b"\n")
        told = {"bytes": len(line), "sha256": hashlib.sha256(line).hexdigest()}
        after = Head(seq, mac, head.size + place + len(line) + 1, head.first_seq, head.first_prev)
        return self._write({"kind": RowKind.RECOVERED.value, "problem": "unfinished", "torn": told,
                            "at_ms": surroundings.now_ms()}, after, key)  # fmt: skip

    def _begin_again(self, size: int, key: bytes) -> Head:
        """Go on after the newest good row that is left; whether there were more, nobody can tell any longer."""
        seen = None
        for path in reversed(self.files()):
            seen = next((found for line in lines_backwards(path) if (found := audit.opened(line, key))), None)
            if seen is not None:
                break
        if size and not ends_well(self.path, size):
            self._add(b"\n")
            size += 1
        first = next((audit.opened(line, key) for line in lines(self.files()[0])), None)
        begins = (first[0], first[1]) if first is not None else (1, GENESIS)
        head = Head(seen[0] if seen else 0, seen[2] if seen else GENESIS, size, *begins)
        fields = {"kind": RowKind.RECOVERED.value, "problem": "headless", "at_ms": surroundings.now_ms()}
        return self._write(fields, head, key)

    def _write(self, fields: Mapping[str, object], head: Head, key: bytes) -> Head:
        line, mac = audit.sealed(fields, head.seq + 1, head.hash, key)
        size = self._add(line)
        after = Head(head.seq + 1, mac, size, head.first_seq, head.first_prev)
        self._keep(after, key)
        return after

    def _add(self, text: bytes) -> int:
        """Write at the end of the file and to the disk; returns how long it is now."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            written = os.write(descriptor, text)
            if written < len(text):
                raise OSError("the disk is full")
            self._sync(descriptor)
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def _put_aside(self, head: Head) -> Head:
        """Begin a new file; remove the oldest if there are too many."""
        name = first_of(self.path) or head.seq
        while (target := self.folder / f"audit-{name:015d}.jsonl").exists():
            name += 1  # never over what is there
        self.path.rename(target)
        aside = self.files()
        gone = aside[: max(0, len(aside) - self._kept + 1)] if self._kept > 1 else []
        begins = (head.first_seq, head.first_prev)
        if gone:
            row = next(rows(aside[len(gone)]), {})
            begins = (row.get("seq", head.seq + 1), row.get("prev", head.hash))
        moved = Head(head.seq, head.hash, 0, *begins)
        self._keep(moved, self.key())  # first, so that a file that stays is passed over and none is missed
        for path in gone:
            path.unlink()
        return moved

    def _head(self, key: bytes) -> Head | None:
        try:
            return Head.of((self.folder / "head.json").read_bytes(), key)
        except FileNotFoundError:
            return None

    def _keep(self, head: Head, key: bytes) -> None:
        fresh = self.folder / "head.new"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, head.text(key))
        finally:
            os.close(descriptor)
        fresh.replace(self.folder / "head.json")

    def _verified(self) -> ChainCheck:
        files = self.files()
        if not (self.folder / "key").exists():
            return ChainCheck(0, Bad(_NAME, 0, None, "no key") if files else None)
        key = self.key()
        head = self._head(key)
        if head is None:
            return ChainCheck(0, Bad("head.json", 0, None, "no head") if files else None)
        files = [path for path in files if path == self.path or first_of(path) >= head.first_seq]
        checker = Checker(key, head.first_seq - 1, head.first_prev)
        name, number, unfinished = _NAME, 0, False
        for path in files:
            name, number = path.name, 0
            for line in lines(path, whole=False):
                number += 1
                if not line.endswith(b"\n"):
                    unfinished = path == self.path
                    if not unfinished:
                        checker.feed(line, name, number)
                elif not checker.feed(line[:-1], name, number):
                    return ChainCheck(checker.rows, checker.bad)
        return checker.end(head.seq, head.hash, name, number, unfinished=unfinished)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While nobody else reads or writes; Unavailable if the others take too long."""
        import fcntl

        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            until = surroundings.monotonic() + self._wait_s
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    if surroundings.monotonic() > until:
                        raise Unavailable(
                            f"the audit log {self.path} is locked by another process",
                            hint="wait for it to finish, or see which process holds the lock file next to it",
                        ) from None
                    surroundings.pause(0.005)
            yield
        finally:
            os.close(descriptor)


def _unavailable(path: Path, error: Exception) -> Unavailable:
    said = getattr(error, "strerror", None) or str(error)
    return Unavailable(f"the audit log at {path} cannot be used: {said}", hint="fix its folder, or turn audit off")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unavailable(path, error) from error
