"""Names that a piece of code or text introduces: functions, classes, types, sections."""

import re
from dataclasses import dataclass
from typing import Literal

Sort = Literal["function", "class", "type", "section"]

_MAX_LINES = 2_000
_PROSE = (".md", ".markdown", ".rst", ".txt", ".adoc")
_WORDS: dict[str, Sort] = {
    "def": "function", "function": "function", "func": "function", "fn": "function", "sub": "function",
    "class": "class", "struct": "class", "object": "class", "trait": "type", "interface": "type", "enum": "type",
    "type": "type", "record": "class",
}  # fmt: skip
_BEFORE = (
    r"(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|pub|unsafe|data)\s+){0,5}"
)
_CODE = re.compile(
    rf"^\s{{0,40}}{_BEFORE}(?P<word>{'|'.join(_WORDS)})\s+(?:\([^)\n]{{0,80}}\)\s*)?(?P<name>[A-Za-z_$][\w$]{{0,80}})"
)
_ARROW = re.compile(
    r"^\s{0,40}(?:export\s+)?(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]{0,80})\s*=\s*(?:async\s*)?"
    r"(?:\([^)\n]{0,200}\)|[A-Za-z_$][\w$]{0,80})\s*(?::[^=\n]{0,80})?=>"
)
_HEADING = re.compile(r"^#{1,4}\s+(?P<name>\S.{0,80}?)\s*#*$")


@dataclass(frozen=True, slots=True)
class DefinedName:
    """One introduced name."""

    sort: Sort
    name: str


def is_prose(path: str) -> bool:
    """Whether a file is text for people."""
    return path.lower().endswith(_PROSE)


def names(text: str, path: str) -> list[DefinedName]:
    """What the text introduces, each once, in its order."""
    found: dict[DefinedName, None] = {}
    prose = is_prose(path)
    for shown in text.splitlines()[:_MAX_LINES]:
        line = _NUMBERED.sub("", shown[:300], count=1)
        if prose:
            if heading := _HEADING.match(line):
                found[DefinedName("section", heading.group("name"))] = None
        elif code := _CODE.match(line):
            found[DefinedName(_WORDS[code.group("word")], code.group("name"))] = None
        elif arrow := _ARROW.match(line):
            found[DefinedName("function", arrow.group("name"))] = None
    return list(found)


_NUMBERED = re.compile(r"^\s{0,8}\d{1,6}[→\t|]")  # as agents show files
