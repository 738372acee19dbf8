"""The sections of a file that is written for agents, as memories need them: one heading, and what stands under it.

A heading inside a code fence is none. Left out are what codexmem itself wrote into the file, lines that only import
another file, front matter but for what says when a rule applies, and of Codex's memories what is about other folders.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from codexmem.kernel.model import privacy, redaction

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
_IMPORT = re.compile(r"\s*[-*]?\s*@[\w./~-]+\s*")
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
