"""Starting the agent with its streams in place, its signals as they should be and, if it has one, its own terminal."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import Any

from codexmem.codecli import programs, surroundings
from codexmem.codecli.agents.protocol import Launch
from codexmem.kernel.model.errors import CodexmemError, NotFound

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
