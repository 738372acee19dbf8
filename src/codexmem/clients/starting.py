"""Finding the running server, and starting one in the background where there is none.

A server says in `server.json` where it listens. Only the owner of the store writes that file, so several clients that
start a server at once end with one: the others' servers find the store owned and go. Nothing is ever stopped here.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from codexmem.domain.errors import Unavailable

READY_S = 30.0
_LOOK_S = 2.0
_PAUSE_S = 0.1
_AGAIN_S = 10.0  # a server that another client started is given so long before one more is tried
_LOG_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client looks for its server."""

    data_dir: Path
    port: int
    url: str = ""  # given on purpose: then nothing else is tried and nothing is started
    key: str = ""  # given on purpose; else the token in the data directory, unless the server is elsewhere
    may_start: bool = True
    flags: tuple[str, ...] = field(default=())  # of `codexmem serve`


def headers(place: Place) -> dict[str, str]:
    """What every request to the server carries."""
    key = place.key or ("" if place.url else _token(place.data_dir))
    return {"Authorization": f"Bearer {key}"} if key else {}


def connect(url: str, timeout: float) -> http.client.HTTPConnection:
    """A connection to that server, not yet opened."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "127.0.0.1", parts.port, timeout=timeout)


def address(place: Place) -> str:
    """Where the server should be: as told, else as it says itself, else on its usual port."""
    if place.url:
        return place.url.rstrip("/")
    try:
        said = json.loads((place.data_dir / "server.json").read_bytes())["url"]
        return str(said).rstrip("/")
    except (OSError, ValueError, KeyError, TypeError):
        return f"http://127.0.0.1:{place.port}"


def ensure(place: Place, wait_s: float = READY_S) -> str:
    """The address of a server that is ready, started if need be; Unavailable says why there is none."""
    until = time.monotonic() + wait_s
    url = address(place)
    if _ready(url):
        return url
    starts = place.may_start and not place.url
    # A server that listens and is not ready yet is on its way.
    if starts and not _listens(url):
        _start(place)
    while time.monotonic() < until:
        url = address(place)
        if _ready(url):
            return url
        if not starts and not _listens(url):
            break
        time.sleep(_PAUSE_S)
    hint = f"see {place.data_dir / 'server.log'}, or run: codexmem serve" if starts else "start it with: codexmem serve"
    raise Unavailable(f"the codexmem server at {url} does not answer", hint=hint)


def _token(data_dir: Path) -> str:
    # Read anew for each request: a server that is just being started may only now have made it.
    try:
        return (data_dir / "token").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _ready(url: str) -> bool:
    return _status(url) == 200


def _listens(url: str) -> bool:
    return _status(url) is not None


def _status(url: str) -> int | None:
    connection = connect(url, _LOOK_S)
    try:
        connection.request("GET", "/api/readiness")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _start(place: Place) -> None:
    """Start a server that outlives us, unless another client has just done so."""
    place.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not _take_turn(place.data_dir / "server.starting"):
        return
    log = place.data_dir / "server.log"
    # What it says before it ends is the only trace of a start that failed; an old, long one is begun anew.
    mode = "ab" if log.exists() and log.stat().st_size < _LOG_BYTES else "wb"
    command = [sys.executable, "-m", "codexmem.cli", "serve", *place.flags]
    with log.open(mode) as said:
        log.chmod(0o600)
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, close_fds=True,
            cwd=place.data_dir,
        )  # fmt: skip


def _take_turn(mark: Path) -> bool:
    """Whether it is ours to start one: nobody else has within a moment."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return True
    except FileExistsError:
        pass
    try:
        # Ages are compared on the file system's own clock.
        probe = mark.with_suffix(f".{os.getpid()}")
        probe.touch(mode=0o600)
        age = probe.stat().st_mtime - mark.stat().st_mtime
        if age < _AGAIN_S:
            probe.unlink()
            return False
        probe.replace(mark)
        return True
    except OSError:
        return True
