"""The command blocks of a page, as a reader would type them.

`console` blocks hold commands after `$ ` and below each what it prints; a backslash or an open quotation goes on in the
next line. `sh` blocks are scripts, `python` blocks are programs. All blocks of a page are run in order, in one shell.
Two comments in front of a block change that:

`<!-- not run: REASON -->` leaves the block out; the tests count them and know each reason.
`<!-- first` … `-->` holds commands that make what the block speaks of, which a reader has already.

What a page shows below a command must be printed, line by line and in order: numbers, ids, dates and spaces may differ,
`…` stands for anything, lines may be left out, and a long one may be broken after a comma. An id that a page shows and
then types is the one that was printed, and `/home/li` is the reader's home.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

RUN = ("console", "sh", "python")
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"(?:^<!-- first\n(?P<first>.*?)^-->\n+)?"
    r"^(?P<indent> *)```(?P<kind>[a-z]*)[^\n]*\n(?P<text>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"\s+# .*$")
# What differs from run to run: ids, times, sizes, counts.
_ID = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*")
_VARYING = re.compile(rf"{_ID.pattern}|\d[\d.,:TZ-]*")


@dataclass
class Step:
    """One command and what the page says it prints."""

    command: str
    printed: list[str] = field(default_factory=list)
    line: int = 0


@dataclass(frozen=True)
class Block:
    """One fenced text of a page."""

    kind: str
    text: str
    line: int
    reason: str | None  # why it is not run
    first: str  # commands that prepare it

    @property
    def is_run(self) -> bool:
        return self.kind in RUN and self.reason is None

    @property
    def steps(self) -> list[Step]:
        """What is typed, in order."""
        if self.kind == "sh":
            return [Step(self.text, line=self.line)]
        if self.kind == "python":
            return [Step(f"python <<'PYTHON'\n{self.text}PYTHON", line=self.line)]
        steps: list[Step] = []
        for number, line in enumerate(self.text.splitlines(), self.line + 1):
            if line.startswith("$ "):
                steps.append(Step(line[2:], line=number))
            elif steps and _goes_on(steps[-1].command) and not steps[-1].printed:
                steps[-1].command += "\n" + line
            elif steps and line.strip():
                steps[-1].printed.append(line)
        return steps


def _goes_on(command: str) -> bool:
    """Whether the shell waits for more: a backslash at the end, or a quotation that is still open."""
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return True
    return False


def blocks(text: str) -> list[Block]:
    """The blocks of a page, in order."""
    found = []
    for match in _BLOCK.finditer(text):
        indent = len(match["indent"])
        inside = "".join(line[indent:] if line.strip() else line for line in match["text"].splitlines(keepends=True))
        line = text.count("\n", 0, match.start("text"))
        found.append(Block(match["kind"], inside, line, match["reason"], match["first"] or ""))
    return found


def typed(path: Path) -> list[str]:
    """Every command of a page that is run, without the remarks beside them: what both languages have in common."""
    found = [block for block in blocks(path.read_text()) if block.is_run]
    return [_COMMENT.sub("", step.command) for block in found for step in block.steps]


def compared(wanted: list[str], said: str) -> tuple[str | None, dict[str, str]]:
    """The first line that the page shows and the command did not print, and what the page's ids are in truth."""
    lines = iter(said.splitlines())
    known: dict[str, str] = {}
    for line in _whole(wanted):
        if line.strip() in {"", "…"}:
            continue
        shape, ids = _shape(line)
        found = next((match for each in lines if (match := shape.search(each))), None)
        if found is None:
            return line, known
        known |= {name: value for name, value in zip(ids, found.groups(), strict=True) if _ID.fullmatch(name)}
    return None, known


def _whole(wanted: list[str]) -> list[str]:
    """The lines of a page; one that a page breaks after a comma, as long JSON must be, is one line."""
    found: list[str] = []
    for line in wanted:
        if found and found[-1].endswith(","):
            found[-1] += line.strip()
        else:
            found.append(line.rstrip())
    return found


def _shape(line: str) -> tuple[re.Pattern[str], list[str]]:
    """What a line must look like, and the pieces of it that differ from run to run."""
    pieces, varying, at = [], [], 0
    text = line.strip()
    for found in _VARYING.finditer(text):
        pieces += [re.escape(text[at : found.start()]), r"([\w.,:+-]+)"]
        varying.append(found.group())
        at = found.end()
    pieces.append(re.escape(text[at:]))
    loose = re.sub(r"(?:\\ )+", r"\\s+", "".join(pieces)).replace("…", ".*")
    return re.compile(loose), varying
