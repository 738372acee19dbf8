"""The server in the background: whether it runs, stopping it, and the end of its log. Starting it is `starting`'s.

A process is stopped only if it says of itself, at the address in `server.json`, that it is the one named there.
"""

from __future__ import annotations

import http.client
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codexmem.clients.starting import announced, connect
from codexmem.domain import json_text

LOG = "server.log"
ATTEMPT = "server.starting"  # by whom it is made: hook.starting
STARTS_WITHIN_S = 30.0
STOPS_WITHIN_S = 30.0
_LOOK_S = 3.0
_PAUSE_S = 0.1
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers."""

    url: str
    pid: int
    version: str
    uptime_ms: int


def look(data_dir: Path) -> Running | None:
    """The server of this data directory, if it answers."""
    url = announced(data_dir)
    if not url:
        return None
    connection = connect(url, _LOOK_S)
    try:
        connection.request("GET", "/api/health")
        reply = connection.getresponse()
        said = json_text.loads(reply.read(65536))
        if reply.status != 200:
            return None
        return Running(url, int(said["pid"]), str(said["version"]), int(said["uptime"]))
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()


def awaited(data_dir: Path, wait_s: float = STARTS_WITHIN_S) -> Running | None:
    """The server of this data directory as soon as it answers; None if it does not in time."""
    until = time.monotonic() + wait_s
    while (running := look(data_dir)) is None and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    return running


def stop(running: Running, wait_s: float = STOPS_WITHIN_S) -> bool:
    """Ask it to end, and wait until it has; whether it has."""
    try:
        os.kill(running.pid, signal.SIGTERM)
        until = time.monotonic() + wait_s
        while time.monotonic() < until:
            if not _lives(running.pid):
                return True
            time.sleep(_PAUSE_S)
    except ProcessLookupError:
        return True
    return False


def forget_attempt(data_dir: Path) -> None:
    """Let the server be started again, however short ago somebody did."""
    (data_dir / ATTEMPT).unlink(missing_ok=True)


def last_lines(log: Path, count: int) -> str:
    """The end of the log, however large it is."""
    try:
        with log.open("rb") as file:
            end = at = file.seek(0, os.SEEK_END)
            tail = b""
            while at > 0 and tail.count(b"\n") <= count:
                at = max(0, at - _BLOCK)
                file.seek(at)
                tail = file.read(end - at)
    except FileNotFoundError:
        return ""
    lines = tail.decode("utf-8", "replace").splitlines(keepends=True)
    return "".join(lines[-count:]) if count else ""


def following(log: Path) -> Iterator[str]:
    """What is added to the log, for ever; one that was begun anew is read from its beginning."""
    at = log.stat().st_size if log.exists() else 0
    while True:
        size = log.stat().st_size if log.exists() else 0
        at = 0 if size < at else at
        if size > at:
            with log.open("rb") as file:
                file.seek(at)
                added = file.read(_BLOCK)
            at += len(added)
            yield added.decode("utf-8", "replace")
        else:
            time.sleep(_PAUSE_S)


def _lives(pid: int) -> bool:
    try:
        # Where the server is our own child it stays in the table until it is asked for.
        done, _ = os.waitpid(pid, os.WNOHANG)
        if done == pid:
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
