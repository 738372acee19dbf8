"""A folder of documents, read one after the other; what is known by its digest is not taken apart again.

Costs one look at each file that has not changed since this process read it last, one reading of each other file, and
memory for one document at a time.

What a folder of documents holds. Links are passed over, so that a folder cannot lead us out of itself or in circles;
what is no plain file is never opened.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from codexmem.kernel.model.errors import NotFound
from codexmem.lab.library_model import MAX_SOURCE, MAX_TITLE, label_of
from codexmem.lab.service.documents import lightrag, pdf, texts
from codexmem.lab.service.documents.document import (
    FORM,
    MAX_DEPTH,
    MAX_DOCUMENTS,
    MAX_ENTRIES,
    MAX_PDF_BYTES,
    MAX_TEXT_BYTES,
    Check,
    Document,
    Met,
    Same,
    Unread,
    UnreadError,
)
from codexmem.lab.service.documents.lightrag import CHUNKS
from codexmem.lab.service.documents.texts import Section, paragraphs, pieces_of

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: a pipe in the place of a file would hold us until somebody writes to it.
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FORMS = {
    ".md": "markdown", ".markdown": "markdown", ".mdown": "markdown", ".txt": "text", ".text": "text", ".pdf": "pdf",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WalkedDocument:
    """A document, or a directory of LightRAG, that was met."""

    path: tuple[str, ...]
    form: str  # markdown, text, pdf or lightrag
    size: int = 0
    stamp: tuple[int, ...] = ()  # changes with the file

    @property
    def name(self) -> str:
        """Its path as text."""
        return "/".join(self.path)


@dataclass(frozen=True, slots=True)
class WalkIncomplete:
    """The walk was not finished: what it did not meet may be there all the same."""

    reason: str


def walk(home: int, check: Check) -> Iterator[WalkedDocument | Unread | WalkIncomplete]:
    """Everything below an open folder, in the order of names; hidden files are passed over in silence."""
    waiting: list[tuple[str, ...]] = [()]
    entries = documents = 0
    while waiting:
        path = waiting.pop()
        check()
        try:
            handle = opened(home, path, _FOLDER)
        except OSError as error:
            yield Unread("/".join(path), f"it cannot be opened: {error.strerror}")
            continue
        try:
            met, more = _inside(handle, MAX_ENTRIES - entries)
        finally:
            os.close(handle)
        entries += len(met)
        names = {name for name, facts in met if stat.S_ISREG(facts.st_mode)}
        if CHUNKS in names:
            met = []
            yield WalkedDocument(path, "lightrag")
        inner: list[tuple[str, ...]] = []
        for name, facts in met:
            found = _entry((*path, name), facts)
            if isinstance(found, tuple):
                inner.append(found)
            elif found is not None:
                documents += isinstance(found, WalkedDocument)
                if documents > MAX_DOCUMENTS:
                    yield WalkIncomplete(f"it holds more than {MAX_DOCUMENTS:,} documents; the others were left")
                    return
                yield found
        if more:
            yield WalkIncomplete(f"it holds more than {MAX_ENTRIES:,} files; the others were left")
            return
        waiting.extend(reversed(inner))


def _inside(handle: int, limit: int) -> tuple[list[tuple[str, os.stat_result]], bool]:
    met: list[tuple[str, os.stat_result]] = []
    with os.scandir(handle) as entries:
        for entry in entries:
            if len(met) >= limit:
                return sorted(met, key=lambda each: each[0]), True
            try:
                met.append((entry.name, entry.stat(follow_symlinks=False)))
            except OSError:
                continue  # it went since
    return sorted(met, key=lambda each: each[0]), False


def _entry(path: tuple[str, ...], facts: os.stat_result) -> WalkedDocument | Unread | tuple[str, ...] | None:
    name = path[-1]
    if name.startswith("."):
        return None
    if stat.S_ISLNK(facts.st_mode):
        return Unread("/".join(path), "it is a link, and links are not followed")
    if stat.S_ISDIR(facts.st_mode):
        return path if len(path) < MAX_DEPTH else Unread("/".join(path), f"it lies more than {MAX_DEPTH} folders deep")
    if not stat.S_ISREG(facts.st_mode):
        return Unread("/".join(path), "it is not a plain file")
    form = FORMS.get(os.path.splitext(name)[1].lower())  # noqa: PTH122  (a name, not a place)
    if form is None:
        return Unread("/".join(path), "it is not Markdown, text or PDF")
    return WalkedDocument(
        path, form, facts.st_size, (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
    )


def opened(home: int, path: tuple[str, ...], flags: int = _PLAIN) -> int:
    """What stands at a path below an open folder, reached without following a link."""
    handle = os.dup(home)
    try:
        for part in path[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        return os.open(path[-1], flags, dir_fd=handle) if path else os.dup(handle)
    finally:
        os.close(handle)


def plain_file(home: int, path: tuple[str, ...]) -> IO[bytes]:
    """A plain file, open for reading; OSError for anything else."""
    handle = opened(home, path)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "it is not a plain file")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


Progress = Callable[[int, int], None]  # so many are done, of so many
# By name: what a file looked like, its digest, and why it cannot be read, if so.
Stamps = dict[str, tuple[tuple[int, ...], str, str]]


class Folder:
    """A folder of documents on this machine."""

    def __init__(self, path: Path, stamps: Stamps | None = None) -> None:
        self.path = path
        self.cut = ""  # why not all of it was looked at; empty if it was
        self._stamps: Stamps = {} if stamps is None else stamps

    @property
    def label(self) -> str:
        """By what its documents know it."""
        return label_of(str(self.path))

    def documents(self, known: Mapping[str, str], check: Check, progress: Progress = lambda *_: None) -> Iterator[Met]:
        """What it holds; documents whose digest is the known one are not read. NotFound if there is no such folder."""
        with self._opened() as home:
            entries: list[WalkedDocument] = []
            for met in walk(home, check):
                if isinstance(met, WalkIncomplete):
                    self.cut = met.reason
                elif isinstance(met, Unread):
                    yield Unread(label_of(met.name), met.reason)
                else:
                    entries.append(met)
            for number, entry in enumerate(entries):
                check()
                progress(number, len(entries))
                if entry.form == "lightrag":
                    yield from self._lightrag(home, entry, known, check)
                else:
                    yield self._document(home, entry, known, check)
            progress(len(entries), len(entries))

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            home = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise NotFound(
                f"the folder {self.path} cannot be read: {error.strerror}", hint="name an existing folder"
            ) from None
        try:
            yield home
        finally:
            os.close(home)

    def _lightrag(self, home: int, entry: WalkedDocument, known: Mapping[str, str], check: Check) -> Iterator[Met]:
        try:
            yield from lightrag.documents(lambda name: plain_file(home, (*entry.path, name)), entry.name, known, check)
        except OSError as error:
            yield Unread(label_of(entry.name or "."), f"it cannot be read: {error.strerror}")

    def _document(self, home: int, entry: WalkedDocument, known: Mapping[str, str], check: Check) -> Met:
        name = label_of(entry.name)
        stamp, digest, reason = self._stamps.get(name, ((), "", ""))
        if stamp == entry.stamp and reason:
            return Unread(name, reason)
        if stamp == entry.stamp and digest and known.get(name) == digest:
            return Same(name)
        try:
            raw = _bytes(home, entry)
            digest = hashlib.sha256(FORM + entry.form.encode() + raw).hexdigest()
            self._stamps[name] = (entry.stamp, digest, "")
            if known.get(name) == digest:
                return Same(name)
            source, title, sections = _FORMS[entry.form](entry.path[-1], raw, check)
            pieces = pieces_of(name, title[:MAX_TITLE], sections)
        except UnreadError as error:
            self._stamps[name] = (entry.stamp, "", str(error))
            return Unread(name, str(error))
        except OSError as error:
            return Unread(name, f"it cannot be read: {error.strerror}")
        if not pieces:
            return Unread(name, "it is empty")
        return Document(name, source[:MAX_SOURCE], digest, pieces)


def _bytes(home: int, entry: WalkedDocument) -> bytes:
    most = MAX_PDF_BYTES if entry.form == "pdf" else MAX_TEXT_BYTES
    if entry.size > most:
        raise UnreadError(f"it is larger than {most >> 20} MB")
    with plain_file(home, entry.path) as file:
        raw = file.read(most + 1)  # it may have grown
    if len(raw) > most:
        raise UnreadError(f"it is larger than {most >> 20} MB")
    return raw


Taken = tuple[str, str, list[Section]]  # source, title, sections


def _markdown(name: str, raw: bytes, _: Check) -> Taken:
    fields, text = texts.front_matter(texts.decoded(raw))
    source = fields.get("source") or fields.get("doi") or label_of(name)
    title = fields.get("title") or texts.first_heading(text.lstrip()) or _stem(name)
    return source, title, list(texts.markdown(text))


def _text(name: str, raw: bytes, _: Check) -> Taken:
    return label_of(name), _stem(name), [Section((), "\n\n".join(paragraphs(texts.decoded(raw))))]


def _pdf(name: str, raw: bytes, check: Check) -> Taken:
    title, pages = pdf.read(raw, check)
    return label_of(name), title or _stem(name), pages


_FORMS: dict[str, Callable[[str, bytes, Check], Taken]] = {"markdown": _markdown, "text": _text, "pdf": _pdf}


def _stem(name: str) -> str:
    return label_of(PurePosixPath(name).stem)
