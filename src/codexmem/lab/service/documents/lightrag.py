"""A working directory of LightRAG: its chunks are taken as they are, under their own ids.

`kv_store_text_chunks.json` holds every chunk by its id, with content, document (`full_doc_id`), place
(`chunk_order_index`) and, in newer versions, the file it came from; `kv_store_full_docs.json` may know that file too.
Both are read entry by entry, twice at most: first for what each document is made of, then for those that changed. Held
in memory: a few numbers for each document, and the documents whose chunks have not all come yet.

One large JSON object, entry by entry: memory for the largest entry, not for the file.
"""

import codecs
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Any

from codexmem.lab.library_model import MAX_PIECE, MAX_SOURCE, MAX_TITLE, DocumentPiece, chunk_id, is_chunk_id, label_of
from codexmem.lab.service.documents.document import (
    FORM,
    MAX_CHARS,
    MAX_DOCUMENTS,
    Check,
    Document,
    Met,
    Same,
    Unread,
    UnreadError,
)
from codexmem.lab.service.documents.texts import plain

MAX_ENTRY = 8 << 20  # characters
_BLOCK = 1 << 18  # bytes read at a time
_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def entries(file: IO[bytes], check: Check) -> Iterator[tuple[str, Any]]:
    """The names and values of the object that the file holds; UnreadError for anything else."""
    text = _Text(file, check)
    if text.next() != "{":
        raise UnreadError("it is no JSON object")
    text.skip()
    if text.next() == "}":
        return
    while True:
        name = text.value()
        if not isinstance(name, str) or text.next() != ":":
            raise UnreadError("it is no JSON object")
        text.skip()
        yield name, text.value()
        mark = text.next()
        text.skip()
        if mark == "}":
            return
        if mark != ",":
            raise UnreadError("its JSON is broken or cut off")


class _Text:
    """What was read and not yet used."""

    def __init__(self, file: IO[bytes], check: Check) -> None:
        self._file = file
        self._check = check
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._ended = False

    def next(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            self._at = _end(_SPACE.match(self._buffer, self._at), self._at)
            if self._at < len(self._buffer) or not self._more(_BLOCK):
                return self._buffer[self._at : self._at + 1]

    def skip(self) -> None:
        """Past one character."""
        self._at += 1

    def value(self) -> Any:
        """The next value."""
        self.next()
        size = _BLOCK
        while True:
            try:
                found, end = _decode(self._buffer, self._at)
                # What reaches the end of what was read may go on behind it.
                if end < len(self._buffer) or self._ended:
                    self._at = end
                    return found
            except (ValueError, RecursionError) as error:
                if self._ended or isinstance(error, RecursionError):
                    raise UnreadError("its JSON is broken or cut off") from None
            if len(self._buffer) - self._at > MAX_ENTRY:
                raise UnreadError(f"one of its entries has more than {MAX_ENTRY:,} characters")
            self._more(size)
            size *= 2  # so that a large entry is tried a few times only

    def _more(self, size: int) -> bool:
        """Read on; False at the end."""
        self._check()
        raw = self._file.read(size)
        self._ended = not raw
        try:
            added = self._bytes.decode(raw, final=self._ended)
        except UnicodeDecodeError:
            raise UnreadError("it is not JSON in UTF-8") from None
        self._buffer, self._at = self._buffer[self._at :] + added, 0
        return not self._ended


def _end(match: "re.Match[str] | None", at: int) -> int:
    return match.end() if match is not None else at


CHUNKS = "kv_store_text_chunks.json"
DOCUMENTS = "kv_store_full_docs.json"
_NOWHERE = frozenset({"", "unknown_source", "no-file-path"})
_HELD = 64 << 20  # characters of documents that are not whole yet
_EVER = 1 << 256

Open = Callable[[str], IO[bytes]]  # a file of the directory by its name; FileNotFoundError where there is none


@dataclass(slots=True)
class _Outline:
    """What is known of a document before its chunks are taken."""

    total: int = 0  # a sum over its chunks: their order in the file does not matter
    chunks: int = 0
    characters: int = 0
    file: str = ""
    held: list[tuple[int, str, str]] = field(default_factory=list)  # place, id and text

    @property
    def digest(self) -> str:
        """Of the whole document."""
        return hashlib.sha256(FORM + self.total.to_bytes(32) + self.file.encode()).hexdigest()


def documents(open_file: Open, folder: str, known: Mapping[str, str], check: Check) -> Iterator[Met]:
    """The documents of the directory, which is named so inside the folder that is read."""
    try:
        outlines = _outlined(open_file, check)
        _name_files(open_file, outlines, check)
        wanted: dict[str, _Outline] = {}
        for key, outline in outlines.items():
            name = _name(folder, key)
            if known.get(name) == outline.digest:
                yield Same(name)
            elif outline.characters > MAX_CHARS:
                yield Unread(name, f"it has more than {MAX_CHARS:,} characters")
            else:
                wanted[key] = outline
        yield from _whole(open_file, folder, wanted, check)
    except UnreadError as error:
        yield Unread(label_of(_within(folder, CHUNKS)), str(error))


def _outlined(open_file: Open, check: Check) -> dict[str, _Outline]:
    found: dict[str, _Outline] = {}
    with open_file(CHUNKS) as file:
        for key, chunk in entries(file, check):
            content = _content(chunk)
            if not content:
                continue
            document = str(chunk.get("full_doc_id") or "document")
            if document not in found and len(found) >= MAX_DOCUMENTS:
                raise UnreadError(f"it holds more than {MAX_DOCUMENTS:,} documents")
            outline = found.setdefault(document, _Outline())
            text = f"{key}\0{_place(chunk)}\0{content}".encode(errors="surrogatepass")
            outline.total = (outline.total + int.from_bytes(hashlib.sha256(text).digest())) % _EVER
            outline.chunks += 1
            outline.characters += len(content)
            outline.file = outline.file or _file(chunk)
    return found


def _name_files(open_file: Open, outlines: Mapping[str, _Outline], check: Check) -> None:
    """Where chunks do not say what file they are from, the documents may."""
    if all(outline.file for outline in outlines.values()):
        return
    try:
        with open_file(DOCUMENTS) as file:
            for key, document in entries(file, check):
                if key in outlines and isinstance(document, dict):
                    outlines[key].file = outlines[key].file or _file(document)
    except (FileNotFoundError, UnreadError):
        return  # then a document is named by its id


def _whole(open_file: Open, folder: str, wanted: Mapping[str, _Outline], check: Check) -> Iterator[Met]:
    """Each document as soon as all its chunks have come."""
    if not wanted:
        return
    held = 0
    with open_file(CHUNKS) as file:
        for key, chunk in entries(file, check):
            content = _content(chunk)
            outline = wanted.get(str(chunk.get("full_doc_id") or "document")) if content else None
            if outline is None:
                continue
            outline.held.append((_place(chunk), key, content))
            held += len(content)
            if held > _HELD:
                raise UnreadError("chunks of many documents are mixed; export it anew")
            if len(outline.held) == outline.chunks:
                held -= sum(len(text) for _, _, text in outline.held)
                yield _document(folder, str(chunk.get("full_doc_id") or "document"), outline)
                outline.held.clear()


def _document(folder: str, key: str, outline: _Outline) -> Document:
    name = _name(folder, key)
    source = (outline.file or key)[:MAX_SOURCE]
    title = (PurePosixPath(source.replace("\\", "/")).name or source)[:MAX_TITLE]
    pieces = tuple(
        DocumentPiece(own if is_chunk_id(own) else chunk_id(name, text), place, title, text)
        for place, (_, own, text) in enumerate(sorted(outline.held), start=1)
    )
    return Document(name, source, outline.digest, pieces)


def _content(chunk: Any) -> str:
    if not isinstance(chunk, dict) or not isinstance(chunk.get("content"), str):
        return ""
    return plain(chunk["content"]).strip()[:MAX_PIECE]


def _place(chunk: Mapping[str, object]) -> int:
    place = chunk.get("chunk_order_index")
    return min(place, 2**31) if isinstance(place, int) and place >= 0 else 0


def _file(entry: Mapping[str, object]) -> str:
    file = entry.get("file_path")
    text = plain(file).strip()[:MAX_SOURCE] if isinstance(file, str) else ""
    return "" if text in _NOWHERE else text


def _name(folder: str, key: str) -> str:
    return label_of(_within(folder, plain(key)))


def _within(folder: str, name: str) -> str:
    return os.path.join(folder, name) if folder else name  # noqa: PTH118  (a label, not a place)
