"""Text that a command is given: on the command line, in a file, or on standard input.

Asking before something that cannot be taken back, or not easily.

A memory's name on the command line; one such as `note project://config` needs no quotes.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import click

from codexmem.console.command import current
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.kernel.model.errors import InvalidArgument, NotFound

_MOST = 16 << 20  # bytes; no store takes so much, and a device would never end


def text_of(argument: str | None, file: str | None) -> str:
    """The one text that was given; `-` is standard input, as is nothing at all where something is piped in."""
    if argument is not None and file is not None:
        raise UsageProblem(say("given.one"), hint=_see_help())
    if file is not None and file != "-":
        return _decoded(_read(Path(file)), file)
    if argument is not None and argument != "-":
        return argument
    unasked = argument is None and file is None
    raw = b"" if unasked and sys.stdin.isatty() else sys.stdin.buffer.read(_MOST + 1)
    if unasked and not raw:
        raise UsageProblem(say("given.none"), hint=_see_help())
    return _decoded(raw, "-")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as source:
            return source.read(_MOST + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}", details={"reason": "no_file", "path": str(path)}) from None
    except OSError as error:
        raise InvalidArgument(
            f"{path} cannot be read: {error.strerror}",
            details={"reason": "bad_file", "path": str(path), "problem": error.strerror},
        ) from None


def _decoded(raw: bytes, name: str) -> str:
    problem = f"more than {_MOST >> 20} MiB" if len(raw) > _MOST else ""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text, problem = "", problem or "not UTF-8"
    if problem:
        raise InvalidArgument(
            f"{name} cannot be read: {problem}", details={"reason": "bad_file", "path": name, "problem": problem}
        )
    return text


def _see_help() -> str:
    return say("usage.see_help", command=click.get_current_context().command_path)


def confirm(question: str) -> None:
    """Go on if a person says yes; where nobody can be asked, say how to mean it."""
    if not current().may_ask:
        raise UsageProblem(say("usage.unasked"), hint=say("usage.add_yes"))
    if not click.confirm(question, default=False, err=True):
        raise click.Abort


def path_of(path: str, name: Sequence[str]) -> str:
    """Where a server tells of the memory."""
    return f"{path}/{quote(' '.join(name), safe='')}"


def spelled(name: Sequence[str]) -> str:
    """The name as it can be typed into a shell."""
    return shlex.join(name)
