"""What reading gives: a document in pieces, or why there is none. Bounds of everything that is read."""

from collections.abc import Callable
from dataclasses import dataclass

from codexmem.lab.library_model import DocumentPiece

FORM = b"codexmem-1"  # goes into every digest: another way of cutting makes every document a changed one
MAX_TEXT_BYTES = 20 << 20  # of a file of text
MAX_PDF_BYTES = 64 << 20
MAX_CHARS = 5_000_000  # of one document
MAX_DOCUMENTS = 20_000  # of one folder
MAX_DEPTH = 16  # folders inside folders
MAX_ENTRIES = 200_000  # looked at in one folder, whatever they are

Check = Callable[[], None]  # raises where reading should stop


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read."""

    name: str
    source: str
    digest: str
    pieces: tuple[DocumentPiece, ...]


@dataclass(frozen=True, slots=True)
class Same:
    """A document that is known already as it stands."""

    name: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Something that was met and not taken in; what was known of it stands."""

    name: str
    reason: str


Met = Document | Same | Unread


class UnreadError(Exception):
    """A document cannot be read; the message says why."""
