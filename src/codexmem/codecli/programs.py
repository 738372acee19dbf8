"""Which program `run` starts: the configured one, else the first agent that the PATH has.

Loads nothing but what every Python has loaded already, because a transparent run waits for it. Nothing is started here.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEFAULT = ("codecli",)
_OTHERS = ("goose", "aider")  # of which we know nothing but the name


def command(configured: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The command to start, its first word as it was configured; empty if there is none.

    Another agent takes the place of `codecli` alone: whoever configured a command wants that one or none.
    """
    wanted = tuple(configured) or DEFAULT
    if which(wanted[0], environ):
        return wanted
    if wanted == DEFAULT:
        for name in known():
            if which(name, environ):
                return (name,)
    return ()


def known() -> Iterator[str]:
    """The programs of agents, in the order in which they are looked for. Each agent is loaded when its turn comes."""
    from codexmem import agents

    for agent in agents.startable():
        yield agent.program
    yield from _OTHERS


def which(name: str, environ: Mapping[str, str]) -> str:
    """Where a program is; empty if the PATH does not have it, or if it is ourselves under another name."""
    if os.sep in name or (os.altsep and os.altsep in name):
        place = os.path.expanduser(name)
        return place if _runs(place) else ""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        for ending in _endings(environ):
            place = os.path.join(folder or os.curdir, name + ending)
            if _runs(place):
                return place
    return ""


def _runs(place: str) -> bool:
    if not os.path.isfile(place) or not os.access(place, os.X_OK):
        return False
    # Somebody may call us by an agent's name: starting that would start us for ever.
    own = sys.argv[0] if sys.argv else ""
    try:
        return not (own and os.path.samefile(place, own))
    except OSError:
        return True


def _endings(environ: Mapping[str, str]) -> tuple[str, ...]:
    if os.name != "nt":
        return ("",)
    return ("", *(ending.lower() for ending in environ.get("PATHEXT", ".EXE;.CMD;.BAT").split(";")))
