"""Cutting a text into pieces of about 1,200 characters at the ends of sentences and paragraphs.

The same text always gives the same pieces. A piece that goes on where another ended repeats the end of that one, so
that a sentence is not torn from what it refers to; a new heading repeats nothing. Costs the length of the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codexmem.lab.library_model import MAX_TITLE, DocumentPiece, chunk_id

SIZE = 1_200  # characters of a piece
OVERLAP = 180  # characters of the one before that are repeated, at most
_SCRAP = 100  # characters, a heading for instance, that are no piece of their own if something follows
_TITLES = " › "  # noqa: RUF001
# After . ! ? only where white space follows: 1.5 eV is one sentence. Chinese sentences need none.
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])\s*|\n+")  # noqa: RUF001
_BLANK = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, slots=True)
class Section:
    """A text and the headings above it."""

    headings: tuple[str, ...]
    text: str


def pieces_of(document: str, title: str, sections: Iterable[Section]) -> tuple[DocumentPiece, ...]:
    """The pieces of a document, in order; a text that it repeats word for word is one piece."""
    found: dict[str, DocumentPiece] = {}
    for headings, content in _cut(sections):
        name = chunk_id(document, content)
        if name not in found:
            told = _TITLES.join(dict.fromkeys(each for each in (title, *headings) if each))
            found[name] = DocumentPiece(name, len(found) + 1, told[:MAX_TITLE], content)
    return tuple(found.values())


def _cut(sections: Iterable[Section]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Headings and text of each piece. Small sections share one, as long as it is not half full."""
    headings: tuple[str, ...] = ()
    kept = ""
    for section in sections:
        text = section.text.strip()
        if not text:
            continue
        if len(kept) >= SIZE // 2 or (len(kept) > _SCRAP and len(kept) + len(text) + 2 > SIZE):
            yield headings, kept
            kept = ""
        if len(kept) <= _SCRAP:
            headings = section.headings
        *whole, kept = _filled(f"{kept}\n\n{text}" if kept else text)
        for each in whole:
            yield headings, each
            headings = section.headings
    if kept:
        yield headings, kept


def _filled(text: str) -> list[str]:
    """One text as pieces that are full but the last; at least one."""
    if len(text) <= SIZE:
        return [text]
    pieces: list[str] = []
    current: list[str] = []
    size = fresh = 0  # characters of the piece, and those of them that are not repeated
    for sentence in _sentences(text):
        if fresh and size + len(sentence) > SIZE:
            pieces.append("".join(current).strip())
            current = _tail(current)
            size, fresh = sum(map(len, current)), 0
            if size + len(sentence) > SIZE:
                current, size = [], 0
        current.append(sentence)
        size, fresh = size + len(sentence), fresh + len(sentence)
    if fresh or not pieces:
        pieces.append("".join(current).strip())
    return [piece for piece in pieces if piece] or [text[:SIZE]]


def _tail(sentences: list[str]) -> list[str]:
    """The last sentences, as far as they may be repeated."""
    kept: list[str] = []
    room = OVERLAP
    for sentence in reversed(sentences):
        room -= len(sentence)
        if room < 0:
            break
        kept.append(sentence)
    return kept[::-1]


def _sentences(text: str) -> Iterator[str]:
    """The text in sentences, with what stands between them; one that is too long is cut between words."""
    begin = 0
    for end in _ENDS.finditer(text):
        if end.end() > begin:
            yield from _bounded(text[begin : end.end()])
            begin = end.end()
    if begin < len(text):
        yield from _bounded(text[begin:])


def _bounded(sentence: str) -> Iterator[str]:
    begin = 0
    while len(sentence) - begin > SIZE:
        at = sentence.rfind(" ", begin + SIZE // 2, begin + SIZE) + 1 or begin + SIZE
        yield sentence[begin:at]
        begin = at
    yield sentence[begin:]


def paragraphs(text: str) -> list[str]:
    """The text between blank lines."""
    return [each for each in _BLANK.split(text) if each.strip()]
