"""What the working directory says of itself, for a query: its files that changed and the first line of its README.

Bounded in time and size whatever the repository is like: git is given a third of a second, and what it has not said by
then is done without. Nothing here fails; a folder that is no repository just says less.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from codexmem.clients.codecli import surroundings

GIT_S = 0.3
_MOST_BYTES = 1 << 16
_MOST_FILES = 20
_HEAD_BYTES = 4_096
_READMES = ("README.md", "README.rst", "README.txt", "README", "README.zh.md", "readme.md")
# Without locks that would get into a person's way, and without programs that a checkout could name.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=keep", "status", "--porcelain", "-z",
        "--ignore-submodules=all", "--untracked-files=normal")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checkout:
    """What is known of it."""

    changed: tuple[str, ...] = ()
    heading: str = ""


def look(cwd: str, environ: Mapping[str, str], wait_s: float = GIT_S) -> Checkout:
    """See what the folder has to say."""
    return Checkout(_changed(cwd, environ, wait_s), _heading(cwd))


def _changed(cwd: str, environ: Mapping[str, str], wait_s: float) -> tuple[str, ...]:
    until = surroundings.monotonic() + wait_s
    try:
        git = subprocess.Popen(
            _GIT, cwd=cwd or None, env={**environ, "GIT_OPTIONAL_LOCKS": "0"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError):
        return ()
    with git:
        assert git.stdout is not None
        said = _read(git.stdout.fileno(), until)
        with contextlib.suppress(ProcessLookupError):
            git.kill()
    return _paths(said)


def _read(descriptor: int, until: float) -> bytes:
    said = b""
    while len(said) < _MOST_BYTES and (left := until - surroundings.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            break
        piece = os.read(descriptor, _MOST_BYTES)
        if not piece:
            break
        said += piece
    return said


def _paths(said: bytes) -> tuple[str, ...]:
    """The files of `git status --porcelain -z`; after a renamed one comes its old name, which is left out."""
    found: list[str] = []
    entries = iter(said.split(b"\0")[:-1])  # what follows the last zero is not whole
    for entry in entries:
        if entry[:1] in {b"R", b"C"}:
            next(entries, None)
        path = entry[3:].decode("utf-8", "replace")
        if path and len(found) < _MOST_FILES:
            found.append(path)
    return tuple(found)


def _heading(cwd: str) -> str:
    for name in _READMES:
        text = _beginning(f"{cwd}/{name}")
        for line in text.splitlines():
            plain = line.strip().lstrip("#=*- ").strip()
            if plain and plain[0] not in "<[!`|":
                return plain[:120]
    return ""


def _beginning(path: str) -> str:
    """The first bytes of a file; of nothing but files, since a checkout may hold a pipe that nobody writes to."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(file, _HEAD_BYTES).decode("utf-8", "ignore") if stat.S_ISREG(os.fstat(file).st_mode) else ""
    except OSError:
        return ""
    finally:
        os.close(file)
