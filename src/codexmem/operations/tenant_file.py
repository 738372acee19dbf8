"""One tenant in one file: gzip around lines of text, written and read in bounded memory.

The first line is a JSON object about the file. Each table follows as a line with its name and columns, its rows as
PostgreSQL's text format has them (one line each), the line `\\.`, and a line with the count and the SHA-256 of those
rows. The last line has the numbers that were given and the SHA-256 of everything before it.
"""

import gzip
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound

FORMAT, VERSION = "codexmem-tenant", 1
_END = b"\\.\n"
_LEVEL = 3  # of compression: three quarters of what the highest saves, in a fifth of its time


@dataclass(frozen=True, slots=True)
class TableSum:
    """What a file says of one table."""

    rows: int
    sha256: str


@dataclass(slots=True)
class TenantManifest:
    """What a file holds."""

    tenant: str
    schema: str
    made_ms: int
    tables: dict[str, TableSum] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    sha256: str = ""

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(each.rows for each in self.tables.values())


class _Hashed:
    """A stream that knows the hash of all that went through it."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self.sha256 = hashlib.sha256()

    def write(self, line: bytes) -> None:
        self.sha256.update(line)
        self._stream.write(line)

    def line(self, document: dict[str, Any]) -> None:
        self.write(json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n")


def write(path: Path, manifest: TenantManifest, tables: Iterable[tuple[str, tuple[str, ...], Iterator[bytes]]],
          numbers: Callable[[], dict[str, int]]) -> TenantManifest:  # fmt: skip
    """Write a new file, private and whole or not at all; fills in the manifest."""
    if path.exists():
        raise Conflict(f"{path} exists", hint="choose another name, or remove it")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as plain:
            with gzip.GzipFile("", "wb", _LEVEL, plain, mtime=0) as packed:
                _write(_Hashed(packed), manifest, tables, numbers)
            plain.flush()
            os.fsync(plain.fileno())
        os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return manifest


def _write(out: _Hashed, manifest: TenantManifest, tables: Iterable[tuple[str, tuple[str, ...], Iterator[bytes]]],
           numbers: Callable[[], dict[str, int]]) -> None:  # fmt: skip
    out.line({"format": FORMAT, "version": VERSION, "tenant": manifest.tenant, "schema": manifest.schema,
              "made_ms": manifest.made_ms})  # fmt: skip
    for name, columns, rows in tables:
        out.line({"table": name, "columns": columns})
        count, found = 0, hashlib.sha256()
        for row in rows:
            count += 1
            found.update(row)
            out.write(row)
        out.write(_END)
        manifest.tables[name] = TableSum(count, found.hexdigest())
        out.line({"table": name, "rows": count, "sha256": found.hexdigest()})
    manifest.numbers = numbers()
    manifest.sha256 = out.sha256.hexdigest()
    out.line({"end": True, "tables": len(manifest.tables), "rows": manifest.rows, "numbers": manifest.numbers,
              "sha256": manifest.sha256})  # fmt: skip


class TenantReader:
    """A file from its beginning: each table's rows must be read before the next table."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._sha256 = hashlib.sha256()
        head = self._document()
        if head.get("format") != FORMAT:
            raise InvalidArgument("this is not a tenant's export", hint="codexmem tenant export makes one")
        if head.get("version") != VERSION:
            raise InvalidArgument(
                f"this export has the format {head.get('version')}, this program reads {VERSION}",
                hint="import it with the codexmem that made it, or a newer one",
            )
        self.manifest = TenantManifest(str(head["tenant"]), str(head["schema"]), int(head["made_ms"]))

    def tables(self) -> Iterator[tuple[str, tuple[str, ...], Iterator[bytes]]]:
        """Each table with its rows; raises where counts or hashes do not fit."""
        while True:
            before = self._sha256.hexdigest()
            document = self._document()
            if document.get("end"):
                self.manifest.numbers = dict(document["numbers"])
                self.manifest.sha256 = before
                if document["sha256"] != before or document["tables"] != len(self.manifest.tables):
                    raise damaged("its end does not fit the rest")
                if self._stream.read(1):
                    raise damaged("something follows its end")
                return
            name = str(document["table"])
            yield name, tuple(document["columns"]), self._rows(name)
            if name not in self.manifest.tables:
                raise RuntimeError("the rows of the table before were not read to their end")

    def _rows(self, name: str) -> Iterator[bytes]:
        count, found = 0, hashlib.sha256()
        while (line := self._line()) != _END:
            count += 1
            found.update(line)
            yield line
        told = self._document()
        if (told.get("table"), told.get("rows"), told.get("sha256")) != (name, count, found.hexdigest()):
            raise damaged(f"the rows of {name} are not those that were exported")
        self.manifest.tables[name] = TableSum(count, found.hexdigest())

    def _document(self) -> dict[str, Any]:
        try:
            found = json.loads(self._line())
        except ValueError as error:
            raise damaged("a line of it cannot be read") from error
        if not isinstance(found, dict):
            raise damaged("a line of it is not what it should be")
        return found

    def _line(self) -> bytes:
        try:
            line = self._stream.readline()
        except (OSError, EOFError) as error:
            raise damaged(str(error)) from error
        if not line.endswith(b"\n"):
            raise damaged("it ends too early")
        self._sha256.update(line)
        return line


@contextmanager
def reading(path: Path) -> Iterator[TenantReader]:
    """The file, open."""
    if not path.is_file():
        raise NotFound(f"there is no file {path}", hint="codexmem tenant export makes one")
    with gzip.open(path) as stream:
        yield TenantReader(stream)


def verify(path: Path) -> TenantManifest:
    """Read it all; what it holds, if it is whole."""
    with reading(path) as reader:
        for _, _, rows in reader.tables():
            for _ in rows:
                pass
        return reader.manifest


def damaged(why: str) -> InvalidArgument:
    """The file is not what was written."""
    return InvalidArgument(f"the export is damaged: {why}", hint="copy or export it again; nothing was made visible")
