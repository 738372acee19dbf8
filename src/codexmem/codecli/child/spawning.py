"""How each of the agent's standard streams is connected, decided from what ours are.

Starting the agent with its streams in place, its signals as they should be and, if it has one, its own terminal.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from codexmem.codecli import programs, surroundings
from codexmem.codecli.agents.protocol import Launch
from codexmem.kernel.model.errors import CodexmemError, NotFound

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
    group: bool = False  # a process group of the agent's own, so that it can be ended with all that it started


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
    # A group of its own is in the background, which cannot read the person's terminal: we read it for the agent.
    passes = wants.stdin and connected.is_open[IN] and (wants.group or not shown_in)
    stdin = StreamMode.PIPE if passes else StreamMode.SAME
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


NOT_FOUND, NOT_RUNNABLE = 127, 126  # as shells say it
# What Python ignores for its own sake and an agent must not inherit as ignored.
_GIVEN_BACK = tuple(getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name))


class NotStarted(NotFound):
    """The agent's program is not there, or cannot be run."""

    exit_code: int = NOT_FOUND


def spawn(launch: Launch, streams: dict[int, int | str], *, mask: Iterable[int], own_group: bool = False) -> int:
    """Start it; returns its process id.

    `streams` says which of our descriptors becomes which of its standard streams; one that is not named is inherited as
    it is, as are all others that we were given to inherit. If some are the path of a terminal, it leads a new session
    on that. `mask` are the signals that it begins with blocked, as we did.
    """
    place = programs.which(launch.argv[0], launch.environ)
    if not place:
        raise not_there(launch.argv[0])
    actions: list[tuple[Any, ...]] = []
    leads = False
    for theirs, ours in streams.items():
        if isinstance(ours, str):
            # A session's leader that opens a terminal makes it the session's own.
            actions.append((os.POSIX_SPAWN_OPEN, theirs, ours, os.O_RDWR, 0))
            leads = True
        else:
            actions.append((os.POSIX_SPAWN_DUP2, ours, theirs))
    here = surroundings.cwd()
    if launch.cwd and launch.cwd != here:
        os.chdir(launch.cwd)
    try:
        return _spawned(place, launch, actions, list(mask), leads=leads, own_group=own_group)
    except OSError as error:
        problem = NotStarted(
            f"{place} cannot be run: {error.strerror}",
            hint="check that it is a program for this machine, and that the interpreter in its first line exists",
            details={"reason": "codecli_not_runnable", "name": place, "problem": str(error.strerror)},
        )
        problem.exit_code = NOT_RUNNABLE
        raise problem from error
    finally:
        if launch.cwd and launch.cwd != here:
            os.chdir(here)


def _spawned(place: str, launch: Launch, actions: list[tuple[Any, ...]], mask: list[int], *, leads: bool,
             own_group: bool) -> int:  # fmt: skip
    argv, environ = list(launch.argv), dict(launch.environ)
    if leads:
        return os.posix_spawn(place, argv, environ, file_actions=actions, setsigmask=mask, setsigdef=_GIVEN_BACK,
                              setsid=True)  # fmt: skip
    if own_group:
        return os.posix_spawn(place, argv, environ, file_actions=actions, setsigmask=mask, setsigdef=_GIVEN_BACK,
                              setpgroup=0)  # fmt: skip
    return os.posix_spawn(place, argv, environ, file_actions=actions, setsigmask=mask, setsigdef=_GIVEN_BACK)


def not_there(name: str) -> CodexmemError:
    """What is said where there is no such program."""
    return NotStarted(
        f"{name} is not on the PATH",
        hint='install the agent, or set its program: command = ["codex"] in the [codecli] section of the configuration',
        details={"reason": "codecli_no_agent", "name": name},
    )
