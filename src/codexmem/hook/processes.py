"""The processes that this one was started by: how the hook and the bridge of one agent are known to belong together.

An agent starts both its hooks and its MCP servers, and tells only the hooks which session they belong to. So a hook
says which process its agent is, and a bridge which processes it descends from; the server compares. A process is named
by its number, the moment it started and the machine or container that numbered it, so that no other ever has the same
name. Where there is no /proc only the parent is known.
"""

from __future__ import annotations

import os

from codexmem.hook.surroundings import text_of

MOST = 16  # ancestors that are named
# Programs that only start others: the process behind them is meant.
_STARTERS = frozenset(("sh", "bash", "dash", "zsh", "fish", "ash", "ksh", "env", "timeout", "nice", "uv", "uvx"))


def ancestors(most: int = MOST) -> list[str]:
    """Names of the processes above this one, the nearest first."""
    return [name for name, *_ in _above(most)]


def agent() -> str:
    """Name of the process that runs this hook: the first above it that is not merely a shell; empty if none is.

    Above the shell of a terminal is no agent: whoever types there is a person, and the terminal would be taken for one.
    """
    for name, program, leads_terminal in _above(MOST):
        if program not in _STARTERS:
            return name
        if leads_terminal:
            break
    return ""


def _above(most: int) -> list[tuple[str, str, bool]]:
    """Name and program of each, and whether a terminal was opened for it; the first of all is nobody's agent."""
    pid = os.getppid()
    found: list[tuple[str, str, bool]] = []
    space = _space()
    while pid > 1 and len(found) < most:
        text = text_of(f"/proc/{pid}/stat", 4096)
        if text is None:
            break
        # The program's name stands in brackets and may hold anything.
        head, _, rest = text.rpartition(")")
        fields = rest.split()
        if len(fields) < 20:
            break
        leads_terminal = int(fields[3]) == pid and fields[4] != "0"
        found.append((f"{space}.{pid}.{fields[19]}", head.partition("(")[2], leads_terminal))
        pid = int(fields[1])
    return found or ([(f"{space}.{pid}", "", False)] if pid > 1 else [])


def _space() -> str:
    """Who numbers the processes here: this start of this machine, or a container on it."""
    try:
        numbered = "".join(each for each in os.readlink("/proc/self/ns/pid") if each.isdigit())
    except OSError:
        uname = getattr(os, "uname", None)
        host = uname().nodename if uname is not None else ""
        return "".join(each for each in host if each.isascii() and each.isalnum())[:32] or "here"
    return f"{(text_of('/proc/sys/kernel/random/boot_id', 64) or '')[:8]}-{numbered}"
