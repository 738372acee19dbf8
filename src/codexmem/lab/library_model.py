"""The lab's library: documents cut into pieces that a run may be shown and cite.

A piece is a memory of the kind chunk; a namespace is a project of such memories. What is cited is named
`kb:<namespace>__<chunk id>`. A chunk id is a digest of the document's name and the text, so the same text is cited by
the same name however often a folder is read.
"""

import hashlib
import re
from dataclasses import dataclass

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import MAX_LABEL

PROJECTS = "lab/"  # what projects of the library begin with
REF = "kb:"
MAX_NAMESPACE = 64
MAX_CHUNK_ID = 200
MAX_PIECE = 20_000  # characters
MAX_TITLE = 500
MAX_SOURCE = 400
MAX_TOGETHER = 200  # pieces written at a time

_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*")  # no two `_` in a row: that ends it in a name
_CHUNK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """A part of a document."""

    chunk_id: str
    place: int  # in the document, from 1
    title: str  # of the document and of the headings above
    content: str


@dataclass(frozen=True, slots=True)
class Part:
    """Some pieces of one document, to be written together."""

    folder: str
    document: str
    source: str
    digest: str  # of the whole document
    pieces: tuple[DocumentPiece, ...]
    opening: int  # place of the piece that stands for the document in lists
    parts: int  # pieces that the document has
    last: bool  # with it the document is whole, and pieces of its earlier text go


@dataclass(frozen=True, slots=True)
class LibraryPassage:
    """A piece as a search finds it."""

    ref: str
    seq: int
    namespace: str
    chunk_id: str
    document: str
    place: int
    source: str
    title: str
    content: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as a list shows it."""

    namespace: str
    folder: str
    document: str
    title: str
    source: str
    pieces: int
    digest: str  # empty if it was not read to its end
    updated_ms: int


def namespace_of(text: str) -> str:
    """The name of a namespace, or InvalidArgument."""
    if len(text) > MAX_NAMESPACE or not _NAMESPACE.fullmatch(text):
        raise InvalidArgument(
            f"{text[:80]!r} names no namespace", hint="a namespace is letters, digits and single _, as in kb_principles"
        )
    return text


def is_chunk_id(text: str) -> bool:
    """Whether a piece may be cited by it."""
    return len(text) <= MAX_CHUNK_ID and _CHUNK.fullmatch(text) is not None


def chunk_id(document: str, content: str) -> str:
    """The name of a piece of a document."""
    told = f"{document}\0{content}".encode()
    return f"chunk-{hashlib.md5(told, usedforsecurity=False).hexdigest()}"


def ref_of(namespace: str, name: str) -> str:
    """By what a piece is cited."""
    return f"{REF}{namespace}__{name}"


def parsed_ref(ref: str) -> tuple[str, str]:
    """The namespace and chunk id that a reference names."""
    namespace, found, name = ref.removeprefix(REF).partition("__")
    if not ref.startswith(REF) or not found or not is_chunk_id(name):
        raise InvalidArgument(f"{ref[:80]!r} is not a reference", hint="write kb:<namespace>__<chunk id>")
    return namespace_of(namespace), name


def project_of(namespace: str, apart: str = "") -> str:
    """The project of a namespace; `apart` tells the folder whose pieces are kept from the others."""
    key = f"@{hashlib.sha256(apart.encode(errors='surrogateescape')).hexdigest()[:12]}" if apart else ""
    return f"{PROJECTS}{namespace_of(namespace)}{key}"


def label_of(name: str) -> str:
    """A name of a file or folder as text that every store holds; two names never give one label."""
    text = name.encode(errors="surrogateescape").decode(errors="replace").replace("\0", "\ufffd")
    if text == name and len(name) <= MAX_LABEL - 40:
        return name
    digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:16]
    return f"{text[: MAX_LABEL - 60]}~{digest}"
