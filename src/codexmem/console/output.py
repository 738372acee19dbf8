"""What a command writes and where: data to standard output, messages to standard error; with --json one document."""

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from codexmem.console.messages import explain, say
from codexmem.console.terminal_width import cells, folded
from codexmem.kernel.model import quoting
from codexmem.kernel.model.errors import CodexmemError

# Everything not named is a failure of the ordinary kind.
EXIT_CODES: Mapping[str, int] = {
    "invalid_argument": 2,
    "usage": 2,
    "not_found": 3,
    "unauthorized": 4,
    "forbidden": 4,
    "conflict": 5,
    "dependency_unavailable": 6,
    "not_ready": 6,
    "rate_limited": 6,
}
FAILURE = 1
_NARROWEST = 40  # columns; what is narrower breaks where it breaks
INTERRUPTED = 130


class UsageProblem(CodexmemError):
    """The command line itself is wrong; its text comes from the catalogue."""

    code = "usage"
    spoken = True


class Unexpected(CodexmemError):
    """A failure that nobody foresaw; its text comes from the catalogue."""

    spoken = True


@dataclass(frozen=True, slots=True)
class Output:
    """How the caller wants to be answered."""

    as_json: bool = False
    quiet: bool = False
    debug: bool = False
    color: bool = False  # of messages
    paint: bool = False  # of answers, which may go elsewhere
    may_ask: bool = False  # a person is there and wants to be asked

    def result(self, document: Mapping[str, object], text: str = "", *, exact: bool = False) -> None:
        """The answer: the document for programs, the text for people; an exact one goes out to the letter."""
        if self.as_json:
            click.echo(quoting.visible_json(json.dumps(document, ensure_ascii=False, indent=2)))
        elif text:
            # Left to itself, it takes colour out wherever there is no terminal, also where it was asked for.
            click.echo(text, color=True if self.paint or exact else None)

    def note(self, text: str, *, good: bool | None = None) -> None:
        """A message beside the answer, for people only."""
        if not self.quiet and not self.as_json:
            click.echo(self.painted(_folded(text), good), err=True)

    def confirmed(self, question: str) -> bool:
        """Ask a person; without one the answer is no."""
        return self.may_ask and click.confirm(_folded(question, room=len(" [Y/n]: ")), default=True, err=True)

    def painted(self, text: str, good: bool | None) -> str:
        """Green, yellow or plain, where colour is wanted."""
        if not self.color or good is None:
            return text
        return click.style(text, fg="green" if good else "yellow")

    def failure(self, error: CodexmemError) -> int:
        """Report an error; returns the exit code."""
        message, hint = explain(error)
        if self.as_json:
            body = {"code": error.code, "message": message, "hint": hint}
            click.echo(quoting.visible_json(json.dumps({"error": body}, ensure_ascii=False, indent=2)))
        else:
            label = say("label.error")
            told = _folded(label + message).removeprefix(label)
            click.echo(f"{click.style(label, fg='red') if self.color else label}{told}", err=True)
            if hint:
                click.echo(_folded(f"{say('label.hint')}{hint}"), err=True)
        return EXIT_CODES.get(error.code, FAILURE)


def _folded(text: str, *, room: int = 0) -> str:
    """A message as it fits the terminal that it goes to; elsewhere as it is."""
    if sys.stderr is None or not sys.stderr.isatty():
        return text
    return folded(text, max(_NARROWEST, shutil.get_terminal_size().columns - room))


def is_terminal() -> bool:
    """Whether a person sits at both ends; a stream that was closed before we started is None."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns that line up, also with characters that are two cells wide."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
