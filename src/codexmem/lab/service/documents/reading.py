"""A folder of documents, read one after the other; what is known by its digest is not taken apart again.

Costs one look at each file that has not changed since this process read it last, one reading of each other file, and
memory for one document at a time.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from codexmem.kernel.model.errors import NotFound
from codexmem.lab.library_model import MAX_SOURCE, MAX_TITLE, label_of
from codexmem.lab.service.documents import lightrag, pdf, texts
from codexmem.lab.service.documents.cutting import Section, paragraphs, pieces_of
from codexmem.lab.service.documents.document import (
    FORM,
    MAX_PDF_BYTES,
    MAX_TEXT_BYTES,
    Check,
    Document,
    Met,
    Same,
    Unread,
    UnreadError,
)
from codexmem.lab.service.documents.walking import WalkedDocument, WalkIncomplete, plain_file, walk

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
