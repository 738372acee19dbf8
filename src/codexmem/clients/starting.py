"""Finding the running server, and starting one in the background where there is none.

A server says in `server.json` where it listens. Only the owner of the store writes that file, so several clients that
start a server at once end with one: the others' servers find the store owned and go. Nothing is ever stopped here.
"""

from __future__ import annotations

import http.client
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from codexmem.clients.hook.starting import start
from codexmem.clients.hook.surroundings import environment
from codexmem.domain import json_text
from codexmem.domain.errors import InvalidArgument, Unavailable
from codexmem.domain.key_transport import may_carry_key, refusal

READY_S = 30.0
_LOOK_S = 2.0
_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client looks for its server."""

    data_dir: Path
    port: int
    url: str = ""  # given on purpose: then nothing else is tried and nothing is started
    key: str = ""  # given on purpose; else the token in the data directory, unless the server is elsewhere
    may_start: bool = True
    flags: tuple[str, ...] = field(default=())  # of `codexmem serve`, beside the data directory
    port_given: bool = False  # on purpose, for this call: it wins over what a server says of itself

    @property
    def may_have_key(self) -> bool:
        """Whether a key can be sent; the server of our own data directory is on this machine wherever it listens."""
        return not self.url or may_carry_key(self.url)


def headers(place: Place) -> dict[str, str]:
    """What every request to the server carries; refuses to show a key to whoever listens on the way."""
    key = place.key or ("" if place.url else token(place.data_dir))
    if key and not place.may_have_key:
        why, hint = refusal(place.url)
        raise InvalidArgument(why, hint=hint, details={"reason": "key_in_clear", "url": place.url[:200]})
    return {"Authorization": f"Bearer {key}"} if key else {}


def connect(url: str, timeout: float) -> http.client.HTTPConnection:
    """A connection to that server, not yet opened."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "127.0.0.1", parts.port, timeout=timeout)


def address(place: Place) -> str:
    """Where the server should be: as told, else as it says itself, else on its usual port."""
    return told(place) or f"http://127.0.0.1:{place.port}"


def told(place: Place) -> str:
    """Where somebody said that the server is: a person, or else the server itself; empty if nobody did."""
    if place.url:
        return place.url.rstrip("/")
    if place.port_given and place.port:
        return f"http://127.0.0.1:{place.port}"
    return announced(place.data_dir)


def announced(data_dir: Path) -> str:
    """Where the server of this data directory says it listens; empty if none says so."""
    return _announcement(data_dir)[0]


def announced_pid(data_dir: Path) -> int:
    """Which process says so; 0 if none does."""
    return _announcement(data_dir)[1]


def _announcement(data_dir: Path) -> tuple[str, int]:
    try:
        said = json_text.loads((data_dir / "server.json").read_bytes())
        url = str(said["url"]).rstrip("/")
        # Listening everywhere is no address to speak to.
        url = url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:")
        return url, int(said.get("pid", 0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "", 0


def token(data_dir: Path) -> str:
    """What the server of this data directory asks for, read anew each time: it may only now have made it."""
    try:
        return (data_dir / "token").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def ensure(place: Place, wait_s: float = READY_S) -> str:
    """The address of a server that is ready, started if need be; Unavailable says why there is none."""
    until = time.monotonic() + wait_s
    url = address(place)
    if _ready(url):
        return url
    starts = place.may_start and not place.url
    # A server that listens and is not ready yet is on its way.
    if starts and not _listens(url):
        start(str(place.data_dir), environment(), place.flags)
    while time.monotonic() < until:
        url = address(place)
        if _ready(url):
            return url
        if not starts and not _listens(url):
            break
        time.sleep(_PAUSE_S)
    hint = f"see {place.data_dir / 'server.log'}, or run: codexmem serve" if starts else "start it with: codexmem serve"
    raise Unavailable(f"the codexmem server at {url} does not answer", hint=hint)


def _ready(url: str) -> bool:
    # One whose store is in trouble, or whose queue stands, answers what it can and says what it cannot.
    return _phase(url) in {"ready", "unavailable"}


def _listens(url: str) -> bool:
    return _phase(url) is not None


def _phase(url: str) -> str | None:
    """What the server there says of itself; None if nobody listens."""
    connection = connect(url, _LOOK_S)
    try:
        connection.request("GET", "/api/readiness")
        reply = connection.getresponse()
        if reply.status == http.HTTPStatus.OK:
            return "ready"
        said = json_text.loads(reply.read(65536))
        return str(said.get("status", "")) if isinstance(said, dict) else ""
    except ValueError:
        return ""
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
