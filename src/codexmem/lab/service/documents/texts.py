"""Bytes of a file as text, and Markdown as sections under their headings.

Cutting a text into pieces of about 1,200 characters at the ends of sentences and paragraphs.

The same text always gives the same pieces. A piece that goes on where another ended repeats the end of that one, so
that a sentence is not torn from what it refers to; a new heading repeats nothing. Costs the length of the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codexmem.lab.library_model import MAX_SOURCE, MAX_TITLE, DocumentPiece, chunk_id
from codexmem.lab.service.documents.document import MAX_CHARS, UnreadError

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


_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_BAD_SHARE = 0.01  # of characters that may be unreadable
_NOT_TEXT = "it is not text in UTF-8"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t#]*")
_RULE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_FIELD = re.compile(r"([A-Za-z][A-Za-z_-]{0,30})[ \t]*:[ \t]*(.*)")
_MAX_FRONT = 60  # lines
_MAX_HEADING = 160


def decoded(raw: bytes) -> str:
    """The text of a file; UnreadError for what is none."""
    named = next((encoding for mark, encoding in _BOMS if raw.startswith(mark)), None)
    try:
        text = raw.decode(named or "utf-8")
    except UnicodeDecodeError:
        text = _fixed(raw)
    if "\0" in text[:10_000]:
        raise UnreadError(_NOT_TEXT)
    text = plain(text)
    if len(text) > MAX_CHARS:
        raise UnreadError(f"it has more than {MAX_CHARS:,} characters; split it")
    if not text.strip():
        raise UnreadError("it is empty")
    return text


def plain(text: str) -> str:
    """Without characters that no store holds, lines ended by one character."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _fixed(raw: bytes) -> str:
    """A text in the usual Chinese encoding, or one in UTF-8 with a few bytes broken."""
    text = raw.decode(errors="replace")
    if b"\0" not in raw and text.count("\ufffd") <= _BAD_SHARE * len(text):
        return text
    try:
        chinese = raw.decode("gb18030")
    except UnicodeDecodeError:
        raise UnreadError(_NOT_TEXT) from None
    other = [letter for letter in chinese[:20_000] if ord(letter) > 0x7F]
    common = sum(
        "\u4e00" <= letter <= "\u9fff" or "\u3000" <= letter <= "\u303f" or letter > "\uff00" for letter in other
    )
    if b"\0" in raw or common < 0.9 * len(other):
        raise UnreadError(_NOT_TEXT)
    return chinese


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The fields between two lines `---` at the beginning, and the rest; plain `name: value` lines only."""
    first, _, rest = text.partition("\n")
    if first.strip() != "---":
        return {}, text
    lines = rest.split("\n", _MAX_FRONT)
    end = next((at for at, line in enumerate(lines[:_MAX_FRONT]) if line.strip() in {"---", "..."}), None)
    if end is None:
        return {}, text
    found = [named for line in lines[:end] if (named := _FIELD.fullmatch(line.strip())) is not None]
    fields = {each[1].lower(): each[2].strip().strip("\"'")[:MAX_SOURCE] for each in found}
    return fields, "\n".join(lines[end + 1 :])


def markdown(text: str) -> Iterator[Section]:
    """Sections with the path of headings above each; the heading's own line stays in its text."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            fence = "" if mark is not None and mark[1].startswith(fence) else fence
            continue
        if mark is not None:
            fence = mark[1]
        found = _heading(line, lines)
        if found is None:
            lines.append(line)
            continue
        level, title, opening = found
        yield Section(tuple(each for _, each in path), "\n".join(lines))
        path = [each for each in path if each[0] < level] + [(level, title)]
        lines = opening
    yield Section(tuple(each for _, each in path), "\n".join(lines))


def _heading(line: str, before: list[str]) -> tuple[int, str, list[str]] | None:
    """Level, title and lines of a heading that this line is, or that it makes of the line before it."""
    marked = _HEADING.fullmatch(line)
    if marked is not None:
        return len(marked[1]), marked[2].strip()[:_MAX_HEADING], [line]
    ruled = _RULE.fullmatch(line)
    alone = before and before[-1].strip() and (len(before) == 1 or not before[-2].strip())
    if (
        ruled is None
        or not alone
        or len(before[-1]) > _MAX_HEADING
        or before[-1].lstrip().startswith(("-", "|", ">", "#"))
    ):
        return None
    title = before.pop()
    return 1 if ruled[1].startswith("=") else 2, title.strip(), [title, line]


def first_heading(text: str) -> str:
    """The title that a Markdown text gives itself; empty if it gives none."""
    for line in text.split("\n", 200)[:200]:
        marked = _HEADING.fullmatch(line)
        if marked is not None:
            return marked[2].strip()[:_MAX_HEADING]
        if line.strip():
            return ""
    return ""
