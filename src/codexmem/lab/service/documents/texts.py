"""Bytes of a file as text, and Markdown as sections under their headings."""

import re
from collections.abc import Iterator

from codexmem.lab.library_model import MAX_SOURCE
from codexmem.lab.service.documents.cutting import Section
from codexmem.lab.service.documents.document import MAX_CHARS, UnreadError

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
