"""The file of a snapshot: one JSON document, a record on each line, vouched for by its last line.

The first line names the format, the last but one the manifest, the last the SHA-256 of every byte before it. So the
file can be written and read as a stream however large it is, any JSON reader can open it, and no flipped or missing
byte goes unnoticed. What a record says is not trusted for all that: whoever uses one checks it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from codexmem.kernel.model.errors import CodexmemError

SCHEMA = 1
FORMAT = "codexmem-memory-backup"
MAX_LINE = 64 << 20  # bytes; a record is one entry with its versions, or a piece of a file
_HEAD = f'{{"format":"{FORMAT}","schema":{SCHEMA},\n'.encode()
_KNOWLEDGE, _WORKSPACES, _END = b'"knowledge":[\n', b'],"workspaces":[\n', b'],"manifest":'
_LAST = b'"sha256":"%b"}\n'

SnapshotRecord = dict[str, Any]  # one line: an entry with its versions, a task, a folder, a file or a piece of one


class Unsound(CodexmemError):
    """A backup is not what it says it is; nothing was changed."""

    code = "damaged"


@dataclass(frozen=True, slots=True)
class SnapshotManifest:
    """What the file holds."""

    created_ms: int
    version: str  # of the program that made it
    entries: int = 0
    tasks: int = 0
    files: int = 0
    size: int = 0  # bytes of all files
    left_out: int = 0  # links, pipes, sockets and devices in workspaces

    def checked(self) -> "SnapshotManifest":
        """The manifest, if its fields are what they should be."""
        counts = (self.created_ms, self.entries, self.tasks, self.files, self.size, self.left_out)
        if not all(type(count) is int and count >= 0 for count in counts) or not isinstance(self.version, str):
            raise ValueError("the manifest is not ours")
        return self


class SnapshotWriter:
    """Writes one snapshot; knowledge first, then workspaces, then the end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self._first = True
        self._put(_HEAD + _KNOWLEDGE)

    def add(self, record: Mapping[str, Any]) -> None:
        """One more record of the section."""
        self._put((b"" if self._first else b",") + _spelled(record) + b"\n")
        self._first = False

    def workspaces(self) -> None:
        """From here on records are of workspaces."""
        self._put(_WORKSPACES)
        self._first = True

    def finish(self, manifest: SnapshotManifest) -> None:
        """Vouch for everything that was written."""
        self._put(_END + _spelled(asdict(manifest)) + b",\n")
        self._stream.write(_LAST % self._hash.hexdigest().encode())

    def _put(self, line: bytes) -> None:
        self._hash.update(line)
        self._stream.write(line)


class SnapshotReader:
    """Reads one snapshot from a file that is open once, so that nobody can exchange it between two looks."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.manifest = self._verified()

    def _verified(self) -> SnapshotManifest:
        """The manifest of a whole, unaltered file of a schema we know."""
        self._stream.seek(0)
        first = self._line()
        if first != _HEAD:
            raise _unknown(first)
        digest = hashlib.sha256(first)
        end = b""
        while line := self._line():
            if line.startswith(_LAST[:10]):
                if line != _LAST % digest.hexdigest().encode() or self._stream.read(1):
                    raise _unsound("it does not match its checksum")
                break
            digest.update(line)
            end = line
        else:
            raise _unsound("its end is missing")
        try:
            return SnapshotManifest(**json.loads(end.removeprefix(_END).removesuffix(b",\n"))).checked()
        except (ValueError, TypeError, RecursionError):
            raise _unsound("its manifest cannot be read") from None

    def entries(self) -> Iterator[SnapshotRecord]:
        """The records of entries; whoever takes all of them knows that they are those that were vouched for."""
        return self._records(_KNOWLEDGE, _WORKSPACES)

    def files(self) -> Iterator[SnapshotRecord]:
        """The records of tasks and pieces of files."""
        return self._records(_WORKSPACES, _END)

    def _records(self, begin: bytes, end: bytes) -> Iterator[SnapshotRecord]:
        self._stream.seek(len(_HEAD))
        inside = False
        while line := self._line():
            if line.startswith(end if inside else begin):
                if inside:
                    return
                inside = True
            elif inside:
                yield _record(line)
        raise _unsound("a section of it is missing")

    def _line(self) -> bytes:
        line = self._stream.readline(MAX_LINE)
        if len(line) == MAX_LINE:
            raise _unsound("a line is too long")
        return line


def _record(line: bytes) -> SnapshotRecord:
    text = line.removeprefix(b",")
    if not text.startswith(b'{"'):
        raise _unsound("a record cannot be read")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise _unsound("a record cannot be read") from None
    if not isinstance(record, dict):
        raise _unsound("a record cannot be read")
    return record


def _spelled(value: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a file's name may be bytes that are no text
        return json.dumps(value, separators=(",", ":")).encode()


def _unknown(first: bytes) -> Unsound:
    try:
        said = json.loads(first.rstrip().removesuffix(b",") + b"}")
        schema = said["schema"] if said["format"] == FORMAT else 0
    except (ValueError, RecursionError, KeyError, TypeError):
        schema = 0
    if isinstance(schema, int) and schema > SCHEMA:
        return Unsound(
            f"the backup was written by a newer codexmem (schema {schema}, ours is {SCHEMA})", hint="upgrade codexmem"
        )
    return _unsound("it is no backup made by memory_backup")


def _unsound(problem: str) -> Unsound:
    return Unsound(f"the backup cannot be used: {problem}", hint="use another backup; nothing was changed")


def unsound(problem: str) -> Unsound:
    """The refusal of a record that makes no sense."""
    return _unsound(problem)
