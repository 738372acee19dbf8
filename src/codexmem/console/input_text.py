"""Text that a command is given: on the command line, in a file, or on standard input."""

import sys
from pathlib import Path

import click

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
    if argument is None and file is None and sys.stdin.isatty():
        raise UsageProblem(say("given.none"), hint=_see_help())
    return _decoded(sys.stdin.buffer.read(_MOST + 1), "-")


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
