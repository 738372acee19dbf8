"""The block that codexmem writes into a file for agents: a project's standing rules and how-tos, between two marks.

Taking it out gives back the file byte for byte as it was, whatever its line ends, its last line or its encoding, as
long as nothing else in it changed. The marks say what was added around the block, so nothing has to be remembered
elsewhere. Marks in a code fence are no marks. A file whose marks are damaged is left alone.

The sections of a file that is written for agents, as memories need them: one heading, and what stands under it.

A heading inside a code fence is none. Left out are what codexmem itself wrote into the file, lines that only import
another file, front matter but for what says when a rule applies, and of Codex's memories what is about other folders.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from codexmem.kernel.model import privacy, quoting, redaction

MAX_SECTIONS = 300  # of one file
MAX_HEADING = 200  # characters of a heading with those above it
LONGEST = 4_000  # characters of a section; a longer one is several
JOINT = " > "
BEGIN, END = "<!-- codexmem:begin", "<!-- codexmem:end -->"

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BOMS = re.compile("^(?:\ufeff|\xef\xbb\xbf)+")  # as one character, or byte by byte
# Also in a list or a quotation, where it may be indented as far as one likes.
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_IMPORT = re.compile(r"\s*+(?:[-*]\s*+)?@[\w./~-]++\s*+")
_SAID_IN_FRONT = re.compile(r"(description|name|globs|paths|alwaysApply):\s*(.+)")
_APPLIES = re.compile(r"(?m)^applies_to:.*?\bcwd=([^;\n]+)")
_ROLLOUT_CWD = re.compile(r"(?m)^cwd:\s*(\S.*)$")
_ROLLOUT_HEAD = 2_000  # characters in which a summary of Codex says its folder
_CODEX_MEMORIES = "~/.codex/memories/"
_CODEX_INDEX = "What's in Memory"  # of everything, by keywords


@dataclass(frozen=True, slots=True)
class FileSection:
    """What a file says under one heading; both empty of secrets and of what is private."""

    heading: str  # with those above it; empty for what stands before the first
    text: str


def sections(file: str, text: str, folders: Sequence[str] = ()) -> list[FileSection]:
    """What a file of this name says; `folders` are those of the checkout, by which Codex tells memories apart."""
    clean = redaction.redact(privacy.strip(_without_block(text.removeprefix("\ufeff"))))
    front, body = _front_matter(clean.replace("\r\n", "\n").replace("\r", "\n"))
    if file.startswith(_CODEX_MEMORIES):
        body = _of_folders(file, body, folders)
    found: list[FileSection] = []
    names: Counter[str] = Counter()
    for heading, under in _split(body):
        said = "\n".join(line for line in under.split("\n") if not _IMPORT.fullmatch(line)).strip()
        for part in _parts(f"{front}\n{said}" if front and said and not found else said):
            names[heading] += 1
            number = names[heading]
            found.append(FileSection(f"{heading} ({number})".strip() if number > 1 else heading, part))
    return found[:MAX_SECTIONS]


def imported_files(text: str) -> list[str]:
    """The paths that a file imports, each in a line of its own, as they are written."""
    lines = (line for _, line, outside in lines_outside_fences(text) if outside and _IMPORT.fullmatch(line))
    return [line.partition("@")[2].strip() for line in lines]


def lines_outside_fences(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with the place where it begins, and whether it stands outside of every code fence."""
    place, fence = 0, ""
    for line in _LINE.findall(text):
        bare = line.rstrip("\r\n")
        mark = _FENCE.fullmatch(_BOMS.sub("", bare))
        outside = not fence
        if mark is not None and not fence and not (mark[1][0] == "`" and "`" in mark[2]):
            fence, outside = mark[1], False
        elif mark is not None and fence and bare.strip(" \t>").startswith(fence) and not mark[2].strip():
            fence = ""
        yield place, bare, outside
        place += len(line)


def _without_block(text: str) -> str:
    """Without what codexmem wrote: it is remembered already."""
    kept: list[str] = []
    inside = False
    for place, line, outside in lines_outside_fences(text):
        if outside and line.startswith(BEGIN):
            inside = True
        if not inside:
            kept.append(text[place : place + len(line)] + "\n")
        elif line.rstrip() == END:
            inside = False
    return "".join(kept)


def _front_matter(text: str) -> tuple[str, str]:
    """What a file's front matter says of when it applies, and the rest."""
    if not text.startswith("---\n"):
        return "", text
    front, mark, body = text[4:].partition("\n---\n")
    if not mark:
        return "", text
    said = [f"{found[1]}: {found[2].strip()}" for line in front.split("\n") if (found := _SAID_IN_FRONT.match(line))]
    return "\n".join(said), body


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Headings with those above them, and what stands under each until the next."""
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    for _, line, outside in lines_outside_fences(text):
        mark = _HEADING.fullmatch(line) if outside else None
        if mark is None:
            lines.append(line)
            continue
        yield _path(above), "\n".join(lines)
        lines = []
        level = len(mark[1])
        above = [each for each in above if each[0] < level] + [(level, " ".join((mark[2] or "").split()))]
    yield _path(above), "\n".join(lines)


def _path(above: Sequence[tuple[int, str]]) -> str:
    return JOINT.join(name for _, name in above if name)[-MAX_HEADING:].strip()


def _parts(text: str) -> Iterator[str]:
    """The text, in several pieces between lines if it is long."""
    lines: list[str] = []
    size = 0
    for line in text.split("\n"):
        for piece in (line[start : start + LONGEST] for start in range(0, len(line) or 1, LONGEST)):
            if lines and size + len(piece) + 1 > LONGEST:
                yield "\n".join(lines).strip()
                lines, size = [], 0
            lines.append(piece)
            size += len(piece) + 1
    if rest := "\n".join(lines).strip():
        yield rest


def _of_folders(file: str, text: str, folders: Sequence[str]) -> str:
    """What Codex remembers of these folders, or of none: its memory is one for all projects."""
    name = PurePosixPath(file)
    if name.parent.name == "rollout_summaries":
        said = _ROLLOUT_CWD.search(text[:_ROLLOUT_HEAD])
        return text if said is not None and _is_within(said[1], folders) else ""
    groups = re.split(r"(?m)^(?=# )", text)
    if name.name == "memory_summary.md":
        groups = [each for each in re.split(r"(?m)^(?=## )", text) if not each.startswith(f"## {_CODEX_INDEX}")]
    kept = []
    for group in groups:
        applies = _APPLIES.search(group)
        if applies is None or _is_within(applies[1], folders):
            kept.append(group)
    return "".join(kept)


def _is_within(said: str, folders: Sequence[str]) -> bool:
    named = f"{said.strip().rstrip('/')}/"
    return any(named.startswith(f"{folder.rstrip('/')}/") for folder in folders if folder.strip("/"))


MAX_LINES = 20
MAX_CHARACTERS = 1_500
MAX_RULE = 220  # characters of one line
RULES, HOW_TOS = 9, 5  # that go first; what room is left is for the next best of either
_HEAD = (
    "## Standing rules and how-tos",
    "",
    "Generated by codexmem from what was said in this project; `codexmem block --write` updates it.",
    "",
)
_BULLET, _HOW_TO = "- ", "How to: "
_ROOM = MAX_LINES - len(_HEAD) - 2
_MARK = re.compile(re.escape(BEGIN) + r" v1 lead=([0-2])( new)? -->")
_FENCES = re.compile("`{3,}|~{3,}")


class BlockDamage(StrEnum):
    """Why a file is left alone."""

    UNCLOSED = "unclosed"  # a beginning without an end
    UNOPENED = "unopened"  # an end without a beginning
    TWICE = "twice"  # more than one block
    MARK = "mark"  # the first mark does not say what it should
    FENCE = "fence"  # the file ends inside a code fence
    COMMENT = "comment"  # the file ends inside a comment
    BINARY = "binary"


class DamagedFile(Exception):
    """The file cannot be changed without guessing; where it is damaged, from 1, as far as that is a line."""

    def __init__(self, damage: BlockDamage, line: int = 0) -> None:
        super().__init__(damage.value)
        self.damage = damage
        self.line = line


@dataclass(frozen=True, slots=True)
class StandingRule:
    """A sentence that holds in a project."""

    text: str
    is_how_to: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    start: int  # of the first mark
    end: int  # after the second, without its line end
    lead: int  # line ends that were put before it
    is_new: bool  # whether there was no file
    eol: str


def lines_of(rules: Sequence[StandingRule]) -> list[str]:
    """What stands between the marks, the best first; nothing if nothing is to be said."""
    said = list(dict.fromkeys((rule_line(each.text), each.is_how_to) for each in rules if rule_line(each.text)))
    first = [each for how_to, most in ((False, RULES), (True, HOW_TOS)) for each in _only(said, how_to)[:most]]
    left = MAX_CHARACTERS - sum(len(line) + 1 for line in (*_HEAD, f"{BEGIN} v1 lead=0 new -->", END))
    chosen: list[tuple[str, bool]] = []
    for each in dict.fromkeys((*first, *said)):
        cost = len(_bullet(*each)) + 1
        if len(chosen) < _ROOM and cost <= left:
            chosen.append(each)
            left -= cost
    ordered = [_bullet(*each) for how_to in (False, True) for each in said if each[1] is how_to and each in chosen]
    return [*_HEAD, *ordered] if ordered else []


def rule_line(text: str) -> str:
    """A rule as it stands in a block: one line that holds no secret and can end neither the block nor a fence."""
    line = quoting.line(redaction.redact(privacy.strip(text)))
    line = _FENCES.sub("`", line).replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    return line if len(line) <= MAX_RULE else f"{line[: MAX_RULE - 1].rstrip()}…"


def with_block(data: bytes | None, lines: Sequence[str]) -> bytes:
    """The file with the block: in its place if there is one, else at the end."""
    text = _text(data or b"")
    place = _found(text)
    if place is None:
        _require_open_end(text)
        eol = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
        lead = 0 if not text else 1 if text.endswith("\n") else 2
        block = _block(lines, _Place(0, 0, lead, data is None, eol))
        return f"{text}{eol * lead}{block}{eol}".encode("latin-1")
    return f"{text[: place.start]}{_block(lines, place)}{text[place.end :]}".encode("latin-1")


def without_block(data: bytes) -> bytes | None:
    """The file as it was before; None if there was none."""
    text = _text(data)
    place = _found(text)
    if place is None:
        if BEGIN in text:
            _require_open_end(text)
        return data
    before, after = text[: place.start], text[place.end :].removeprefix(place.eol)
    # What was written behind the block since must not join the last line before it.
    for _ in range(place.lead - (1 if after and place.lead == 2 else 0)):
        before = before.removesuffix(place.eol)
    if place.is_new and not (before or after):
        return None
    return (before + after).encode("latin-1")


def block_text(data: bytes) -> str:
    """What stands in the block of a file; empty if there is none."""
    text = _text(data)
    place = _found(text)
    return text[place.start : place.end].encode("latin-1").decode("utf-8", "replace") if place is not None else ""


def rules_in(block: str) -> frozenset[str]:
    """The rules that a block tells, each as `rule_line` words it."""
    lines = (line for line in block.splitlines() if line.startswith(_BULLET))
    return frozenset(line.removeprefix(_BULLET).removeprefix(_HOW_TO) for line in lines)


def _only(said: Sequence[tuple[str, bool]], how_to: bool) -> list[tuple[str, bool]]:
    return [each for each in said if each[1] is how_to]


def _bullet(text: str, is_how_to: bool) -> str:
    return f"{_BULLET}{_HOW_TO if is_how_to else ''}{text}"


def _block(lines: Sequence[str], place: _Place) -> str:
    """As text whose characters are bytes."""
    mark = f"{BEGIN} v1 lead={place.lead}{' new' if place.is_new else ''} -->"
    return place.eol.join((mark, *lines, END)).encode().decode("latin-1")


def _text(data: bytes) -> str:
    """Every byte a character, so that places in the text are places in the file."""
    if b"\0" in data:
        raise DamagedFile(BlockDamage.BINARY)
    return data.decode("latin-1")


def _found(text: str) -> _Place | None:
    marks = list(_marks(text))
    begins = [each for each in marks if each[2].startswith(BEGIN)]
    ends = [each for each in marks if each[2] == END]
    if not marks:
        return None
    if len(begins) > 1 or len(ends) > 1:
        raise DamagedFile(BlockDamage.TWICE, marks[1][0])
    if not ends:
        raise DamagedFile(BlockDamage.UNCLOSED, begins[0][0])
    if not begins or begins[0][1] > ends[0][1]:
        raise DamagedFile(BlockDamage.UNOPENED, ends[0][0])
    number, start, line = begins[0]
    said = _MARK.fullmatch(line)
    if said is None:
        raise DamagedFile(BlockDamage.MARK, number)
    eol = "\r\n" if text.startswith("\r\n", start + len(line)) else "\n"
    return _Place(start, ends[0][1] + len(END), int(said[1]), said[2] is not None, eol)


def _marks(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, place and words of every mark."""
    for number, (place, line, outside) in enumerate(lines_outside_fences(text), 1):
        if outside and (line.startswith(BEGIN) or line == END):
            yield number, place, line


def _require_open_end(text: str) -> None:
    """Refuse a file at whose end one is still inside of something."""
    opened, was_outside, number = 0, True, 0
    for number, (_, _, outside) in enumerate(lines_outside_fences(f"{text}\nx"), 1):
        opened = number if was_outside and not outside else opened
        was_outside = outside
    if not was_outside:
        raise DamagedFile(BlockDamage.FENCE, opened)
    if text.rfind("<!--") > text.rfind("-->"):
        raise DamagedFile(BlockDamage.COMMENT, text.count("\n", 0, text.rfind("<!--")) + 1)
