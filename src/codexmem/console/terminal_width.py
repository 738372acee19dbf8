"""Text in a terminal: how many cells it takes, and what of it is safe to print.

Memories hold what models and tools wrote. Their control characters could move the cursor, hide text or turn its
direction, so none of them reaches a terminal.
"""

import re
import unicodedata

_ELLIPSIS = "…"
_LEAD = re.compile(r" *(?:(?:\d+|-|\[\w+\]) +)?")  # an indentation, a number of a choice, a mark
_CLOSING = frozenset("，。；：！？、）”」》…,.;:!?)")  # noqa: RUF001
_UNSAFE = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
_NO_CELL = {"Mn", "Me", "Cf"}
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def cells(text: str) -> int:
    """How many cells of a terminal the text takes: Chinese characters two, accents none."""
    return sum(map(_cell, text))


def cut(text: str, width: int) -> str:
    """As much of the text as fits, with a mark where something is missing."""
    if cells(text) <= width:
        return text
    taken, room = 0, width - cells(_ELLIPSIS)
    for place, char in enumerate(text):
        taken += _cell(char)
        if taken > room:
            return text[:place].rstrip() + _ELLIPSIS
    return text


def wrapped(text: str, width: int, lines: int) -> list[str]:
    """The text in at most so many lines of that width, broken between words where it can be; cut in the last."""
    found: list[str] = []
    while text and len(found) < lines - 1 and cells(text) > width:
        taken = place = 0
        while taken + _cell(text[place]) <= width:
            taken += _cell(text[place])
            place += 1
        at = _border(text, place)
        found.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*found, cut(text, width)] if text else found


def folded(text: str, width: int) -> str:
    """The whole text in lines of at most that width, broken between words; further lines begin below their first."""
    lines = []
    for line in text.split("\n"):
        lead = _LEAD.match(line)
        indent = " " * (cells(lead[0]) if lead else 0)
        first, *others = wrapped(line, width, 2) or [""]
        if others:
            rest = line[len(first) :].lstrip()
            others = [indent + each for each in wrapped(rest, width - len(indent), len(rest))]
        lines += [first, *others]
    return "\n".join(lines)


def _border(text: str, place: int) -> int:
    """Where a line that has room for so many characters ends: at a space or beside a Chinese character."""
    for at in range(place, 0, -1):
        wide = _cell(text[at]) == 2 and text[at] not in _CLOSING
        if text[at] == " " or wide or (_cell(text[at - 1]) == 2 and text[at] not in _CLOSING):
            if text[:at].strip():
                return at
    return max(1, place)


def one_line(text: str) -> str:
    """The first line that says something, without what a terminal would act upon."""
    line = next((each for each in text.splitlines() if each.strip()), "")
    return "".join(_safe(char) for char in line).strip()


def printable(text: str) -> str:
    """All lines of the text, without what a terminal would act upon."""
    return "\n".join("".join(char if char == "\t" else _safe(char) for char in line) for line in text.splitlines())


def _safe(char: str) -> str:
    return " " if char in _TURNING or unicodedata.category(char) in _UNSAFE else char


def _cell(char: str) -> int:
    if unicodedata.category(char) in _NO_CELL:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
