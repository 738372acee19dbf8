"""Finding the running server and the key to bring there, and starting one in the background where there is none.

A server says in `server.json` where it listens. Only the owner of the store writes that file, so several clients that
start a server at once end with one: the others' servers find the store owned and go. Nothing is ever stopped here.
Which address wins and where a key may go is decided in `hook.surroundings`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from codexmem.client import transport
from codexmem.hook import surroundings
from codexmem.hook.starting import attempted, start
from codexmem.kernel.model.errors import InvalidArgument, Unavailable
from codexmem.kernel.model.key_transport import is_loopback, may_carry_key, refusal

READY_S = 30.0  # without a sign of one
LONGEST_S = 300.0  # while one is on its way: a store may have to be upgraded, a machine may be busy
_LOOK_S = 2.0
_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class ServerLocation:
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


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """An address and the key to bring there."""

    url: str
    key: str = field(default="", repr=False)

    @property
    def on_this_machine(self) -> bool:
        """Whether nothing that is sent there leaves the machine."""
        return is_loopback(self.url)


def given(url: str, key: str | None) -> ServerAddress:
    """An address that somebody named; refuses what is none, and a key that others could read on its way."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise InvalidArgument(
            f"{url[:200]!r} is not the address of a server", hint="for example http://127.0.0.1:37877"
        )
    if parts.username or parts.password:
        raise InvalidArgument("an address must not contain a key", hint="give it as api_key")
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InvalidArgument("this is not a valid server key", hint="create one with: codexmem key create")
    _require_private(url, key)
    return ServerAddress(url.rstrip("/"), key)


def found(key: str | None = None, environ: Mapping[str, str] | None = None) -> ServerAddress:
    """Where the server should be, as the environment says; whether one answers there is not looked at."""
    around = surroundings.look(environ)
    if not around.ours:
        return given(around.base, key or around.key)
    return ServerAddress(around.base, key or around.token)


def headers(place: ServerLocation, *, withhold: bool = False) -> dict[str, str]:
    """What every request to the server carries.

    A key that others could read on its way is refused, or withheld where the server may do without.
    """
    if not withhold:
        _require_private(place.url, place.key)
    named = place.url.rstrip("/")
    # A server that somebody names may be our own.
    url = "" if named and named == surroundings.announcement(place.data_dir)[0] else place.url
    key = surroundings.key_for(url, place.key, surroundings.stored_token(place.data_dir))
    return {**({"Authorization": f"Bearer {key}"} if key else {}), **traced()}


def traced() -> dict[str, str]:
    """The header that puts a request below the trace of whoever started this program, if there is one."""
    given = surroundings.traceparent()
    return {"traceparent": given} if given else {}


def _require_private(url: str, key: str) -> None:
    if key and url and not may_carry_key(url):
        why, hint = refusal(url)
        raise InvalidArgument(why, hint=hint, details={"reason": "key_in_clear", "url": url[:200]})


def address(place: ServerLocation) -> str:
    """Where the server should be: as told, else as it says itself, else on its usual port."""
    return told(place) or f"http://127.0.0.1:{place.port}"


def told(place: ServerLocation) -> str:
    """Where somebody said that the server is; empty if nobody did."""
    return surroundings.told(place.data_dir, place.url, place.port if place.port_given else 0)


def ensure(place: ServerLocation, wait_s: float = READY_S, longest_s: float = LONGEST_S) -> str:
    """The address of a server that is ready, started if need be; Unavailable says why there is none.

    While one is on its way it is waited for, `longest_s` at most.
    """
    began = time.monotonic()
    url = address(place)
    phase = _phase(url)
    starts = place.may_start and not place.url
    # A server that listens and is not ready yet is on its way.
    if starts and phase is None:
        start(str(place.data_dir), surroundings.environment(), place.flags)
    # One whose store is in trouble, or whose queue stands, answers what it can and says what it cannot.
    while phase not in {"ready", "unavailable"}:
        waited = time.monotonic() - began
        coming = starts and (phase == "initializing" or is_alive(attempted(str(place.data_dir))))
        if waited > (longest_s if coming else wait_s) or not (starts or phase is not None):
            raise _away(url, place, waited if coming else None)
        time.sleep(_PAUSE_S)
        url = address(place)
        phase = _phase(url)
    return url


def is_alive(pid: int) -> bool:
    """Whether there is such a process."""
    if pid <= 0:
        return False
    try:
        # Where it is our own child it stays in the table until it is asked for.
        done, _ = os.waitpid(pid, os.WNOHANG)
        if done == pid:
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's: not the one that was started here
        return False
    return True


def _away(url: str, place: ServerLocation, coming_s: float | None) -> Unavailable:
    log = place.data_dir / "server.log"
    if coming_s is not None:
        return Unavailable(
            f"the codexmem server at {url} is still starting after {coming_s:.0f} s", hint=f"see {log}, and try again"
        )
    starts = place.may_start and not place.url
    hint = f"see {log}, or run: codexmem serve" if starts else "start it with: codexmem serve"
    return Unavailable(f"the codexmem server at {url} does not answer", hint=hint)


def _phase(url: str) -> str | None:
    """What the server there says of itself; None if nobody listens."""
    try:
        reply = transport.ask(url, "GET", "/api/readiness", timeout_s=_LOOK_S)
        return "ready" if reply.status == HTTPStatus.OK else str(reply.document().get("status", ""))
    except OSError:
        return None
    except ValueError:
        return ""
