"""The server in the background: whether it runs, stopping it, and the end of its log. Starting it is `starting`'s.

A process is stopped only if it says of itself, at the address in `server.json`, that it is the one named there.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codexmem.client import transport
from codexmem.client.starting import ServerLocation, is_alive, told
from codexmem.hook.starting import ATTEMPT
from codexmem.hook.surroundings import announcement

LOG = "server.log"
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
    own: bool = True  # whether it is the one that `server.json` names; a port may lead to another
    ready: bool = True  # whether its store is open


def look(place: ServerLocation) -> Running | None:
    """The server that is meant, if it answers."""
    url = told(place)
    if not url:
        return None
    running = at(url, place.data_dir)
    # What a killed server left behind may name a port that another one has by now.
    return running if running is None or running.own or place.url or place.port_given else None


def at(url: str, data_dir: Path) -> Running | None:
    """The server at this address, if one of ours answers there."""
    try:
        reply = transport.ask(url, "GET", "/api/health", timeout_s=_LOOK_S)
        said = reply.document()
        if reply.status != 200:
            return None
        pid = int(said["pid"])
        return Running(
            url, pid, str(said["version"]), int(said["uptime"]), own=pid == announcement(data_dir)[1],
            ready=bool(said.get("initialized", True)),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class Holder:
    """Who listens on a port; both are empty where that cannot be known, and a server of ours has no name."""

    pid: int = 0
    name: str = ""


def holder(port: int, data_dir: Path) -> Holder | None:
    """Who keeps a server of this data directory from listening there; None if nobody does."""
    if not port or not _is_taken(port):
        return None
    running = at(f"http://127.0.0.1:{port}", data_dir)
    if running is not None:
        # One that has not opened its store yet may be ours, on its way.
        return Holder(running.pid) if running.ready and not running.own else None
    return _listener(port)


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(_LOOK_S)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _listener(port: int) -> Holder:
    """As far as Linux tells it to this user."""
    try:
        rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
        inodes = {f"socket:[{row[9]}]" for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")}
        for process in Path("/proc").iterdir():
            if process.name.isdigit() and _has_open(process, inodes):
                return Holder(int(process.name), (process / "comm").read_text(encoding="utf-8").strip())
    except (OSError, ValueError, IndexError):
        pass
    return Holder()


def _has_open(process: Path, inodes: set[str]) -> bool:
    try:
        return any(str(each.readlink()) in inodes for each in (process / "fd").iterdir())
    except OSError:  # another user's, or gone
        return False


def awaited(place: ServerLocation, wait_s: float = STARTS_WITHIN_S) -> Running | None:
    """The server that is meant as soon as it answers; None if it does not in time."""
    until = time.monotonic() + wait_s
    while (running := look(place)) is None and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    return running


def stop(running: Running, wait_s: float = STOPS_WITHIN_S) -> bool:
    """Ask it to end, and wait until it has; whether it has."""
    try:
        os.kill(running.pid, signal.SIGTERM)
        until = time.monotonic() + wait_s
        while time.monotonic() < until:
            if not is_alive(running.pid):
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
