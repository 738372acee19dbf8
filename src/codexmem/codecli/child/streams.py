"""How each of the agent's standard streams is connected, decided from what ours are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum, auto

IN, OUT, ERR = 0, 1, 2


class StreamMode(Enum):
    """How one stream reaches the agent."""

    SAME = auto()  # it has ours itself, and we see nothing of it; also where ours is closed
    PIPE = auto()  # by a pipe
    SHOWN = auto()  # output to a terminal that changes nothing, so that the agent still sees one
    TERMINAL = auto()  # by a terminal of the agent's own, with keyboard
    WITH_OUT = auto()  # standard error, where it goes to the same place as standard output: one pipe keeps their order


@dataclass(frozen=True, slots=True)
class Wants:
    """What has to pass through us."""

    stdin: bool = False  # we have something to put before it, or must see it
    stdout: bool = True
    stderr: bool = True
    protocol: bool = False  # lines of a protocol, which is no business of terminals


@dataclass(frozen=True, slots=True)
class Connected:
    """What stands behind our own streams."""

    terminal: tuple[bool, bool, bool]
    is_open: tuple[bool, bool, bool] = (True, True, True)
    out_is_err: bool = False


def look() -> Connected:
    """See what we were given."""
    found = [_stat(each) for each in (IN, OUT, ERR)]
    shared = found[OUT] is not None and found[OUT] == found[ERR]
    terminal = tuple(seen is not None and os.isatty(each) for each, seen in enumerate(found))
    opened = tuple(seen is not None for seen in found)
    return Connected(terminal, opened, shared)  # type: ignore[arg-type]


def ways(connected: Connected, wants: Wants) -> tuple[StreamMode, StreamMode, StreamMode]:
    """How the three are connected."""
    shown_in, shown_out, shown_err = connected.terminal
    if wants.protocol:
        return StreamMode.PIPE, StreamMode.PIPE, _error(connected, wants, StreamMode.SHOWN)
    if shown_in and shown_out:
        return (
            StreamMode.TERMINAL,
            StreamMode.TERMINAL,
            StreamMode.TERMINAL if shown_err else _error(connected, wants, StreamMode.SHOWN),
        )
    stdin = StreamMode.PIPE if wants.stdin and connected.is_open[IN] and not shown_in else StreamMode.SAME
    if not wants.stdout or not connected.is_open[OUT]:
        return stdin, StreamMode.SAME, _error(connected, wants, StreamMode.SHOWN)
    if connected.out_is_err and wants.stderr:
        return stdin, StreamMode.SHOWN if shown_out else StreamMode.PIPE, StreamMode.WITH_OUT
    return stdin, StreamMode.SHOWN if shown_out else StreamMode.PIPE, _error(connected, wants, StreamMode.SHOWN)


def _error(connected: Connected, wants: Wants, if_terminal: StreamMode) -> StreamMode:
    if not wants.stderr or not connected.is_open[ERR]:
        return StreamMode.SAME
    return if_terminal if connected.terminal[ERR] else StreamMode.PIPE


def _stat(descriptor: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino
