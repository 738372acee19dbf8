"""Bringing the library in line with a folder: what is new is added, what changed is changed, what is gone is archived.

Everything one reading writes is one delta, which can be taken back. It is written document by document: a reading that
breaks off leaves whole documents and, at most, one that the next reading takes up again. Nothing goes because it could
not be read, nor because the folder has vanished or is empty.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import WriteContext
from codexmem.lab.library_model import MAX_TOGETHER, DocumentPiece, Part
from codexmem.lab.service.documents import Document, Folder, Same, Unread
from codexmem.lab.service.documents.document import Check
from codexmem.lab.service.documents.reading import Progress, Stamps
from codexmem.lab.service.library import Library

FRESH_S = 60.0  # so long a folder counts as read
MAX_TOLD = 100  # documents that a report names
_LOOK_S = 0.1
_CHARACTERS = 400_000  # of the pieces that are written at a time
_FOLDERS = 64  # whose files a process remembers


class SyncTarget(Protocol):
    """A namespace that documents are written into."""

    def known(self, folder: str) -> Mapping[str, str]:
        """The documents of a folder, and the digest of each."""
        ...

    def put(self, part: Part, delta: str | None) -> str:
        """Write some pieces of a document; returns the delta."""
        ...

    def remove(self, folder: str, documents: Sequence[str], delta: str | None) -> str | None:
        """Archive documents; returns the delta, if there is one."""
        ...


@dataclass
class SyncReport:
    """What reading a folder has done."""

    folder: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    pieces: int = 0  # of what was added and changed
    left: int = 0  # documents and other files that were not taken in
    told: list[Unread] = field(default_factory=list)  # the first of them, with the reason
    cut: str = ""  # why not everything was looked at
    delta: str | None = None  # what it wrote; None if nothing

    def to_json(self) -> dict[str, object]:
        """As a program reads it."""
        return {
            "folder": self.folder, "added": self.added, "changed": self.changed, "removed": self.removed,
            "unchanged": self.unchanged, "pieces": self.pieces, "left": self.left,
            "left_documents": [{"document": each.name, "reason": each.reason} for each in self.told],
            "cut": self.cut, "delta": self.delta,
        }  # fmt: skip


def sync(
    target: SyncTarget, folder: Folder, label: str, check: Check, progress: Progress = lambda *_: None
) -> SyncReport:
    """Read the folder into the namespace; `label` is what its documents know it by."""
    report = SyncReport(label)
    known = dict(target.known(label))
    met: set[str] = set()
    for each in folder.documents(known, check, progress):
        met.add(each.name)
        match each:
            case Same():
                report.unchanged += 1
            case Unread():
                report.left += 1
                report.told += [each] if len(report.told) < MAX_TOLD else []
            case Document():
                report.delta = _write(target, label, each, report.delta, check)
                report.pieces += len(each.pieces)
                report.added += each.name not in known
                report.changed += each.name in known
    report.cut = folder.cut
    gone = [name for name in known if name not in met]
    if gone and report.added + report.changed + report.unchanged == 0:
        raise NotFound(
            f"the folder {label} holds no document any more, so nothing was changed",
            hint="to remove its documents use codexmem lab kb rm",
        )
    if gone and not report.cut:
        for start in range(0, len(gone), MAX_TOGETHER):
            check()
            report.delta = target.remove(label, gone[start : start + MAX_TOGETHER], report.delta) or report.delta
        report.removed = len(gone)
    return report


def _write(target: SyncTarget, folder: str, document: Document, delta: str | None, check: Check) -> str:
    """Write a document; one that is too large for one transaction is marked as not whole until its end."""
    opening, *others = document.pieces
    batches = list(_batched([opening, *others]))
    if len(batches) > 1:
        batches = [[opening], *_batched(others), [opening]]
    for number, pieces in enumerate(batches):
        check()
        part = Part(
            folder, document.name, document.source, document.digest, tuple(pieces), opening.place,
            len(document.pieces), last=number == len(batches) - 1,
        )  # fmt: skip
        delta = target.put(part, delta)
    assert delta is not None
    return delta


def _batched(pieces: Sequence[DocumentPiece]) -> Iterator[list[DocumentPiece]]:
    batch: list[DocumentPiece] = []
    size = 0
    for piece in pieces:
        if batch and (len(batch) == MAX_TOGETHER or size + len(piece.content) > _CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += len(piece.content)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class LibraryTarget:
    """A namespace of the library in this process as a target."""

    library: Library
    namespace: str
    by: WriteContext
    apart: str = ""

    def known(self, folder: str) -> Mapping[str, str]:
        """The documents of a folder, and the digest of each."""
        return self.library.known(self.namespace, folder, apart=self.apart)

    def put(self, part: Part, delta: str | None) -> str:
        """Write some pieces of a document."""
        return self.library.put(self.namespace, part, self.by, delta=delta, apart=self.apart)

    def remove(self, folder: str, documents: Sequence[str], delta: str | None) -> str | None:
        """Archive documents."""
        return self.library.remove(self.namespace, folder, documents, self.by, delta=delta, apart=self.apart)[0]


class Freshness:
    """Reads folders before they are asked, each by one thread at a time, and not again for a minute.

    Two processes that read one folder at the same time do each document's work twice and come to the same end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[object] = set()
        self._read: dict[object, float] = {}
        self._stamps: dict[str, Stamps] = {}

    def ensure(self, target: LibraryTarget, path: Path, key: object, check: Check) -> SyncReport | None:
        """Have the folder read; None if it was, a moment ago. `key` tells whose and into what."""
        with self._turn(key, check) as due:
            if not due:
                return None
            with self._lock:
                if len(self._stamps) >= _FOLDERS:
                    self._stamps.clear()
                stamps = self._stamps.setdefault(str(path), {})
            folder = Folder(path, stamps)
            report = sync(target, folder, folder.label, check)
            with self._lock:
                if len(self._read) >= 10 * _FOLDERS:
                    self._read.clear()
                self._read[key] = ids.monotonic()
            return report

    @contextmanager
    def _turn(self, key: object, check: Check) -> Iterator[bool]:
        while (due := self._due(key)) is None:
            check()
            threading.Event().wait(_LOOK_S)
        try:
            yield due
        finally:
            if due:
                with self._lock:
                    self._busy.discard(key)

    def _due(self, key: object) -> bool | None:
        """Whether the caller is to read it; None while another does."""
        with self._lock:
            read = self._read.get(key)
            if read is not None and ids.monotonic() - read < FRESH_S:
                return False
            if key in self._busy:
                return None
            self._busy.add(key)
            return True
