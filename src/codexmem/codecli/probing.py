"""Looking at a memory server from outside, step by step, so that `doctor` can say which step fails.

Each step is bounded in time, changes nothing on the server and returns what it saw; none raises for what a network or
a server can do.
"""

from __future__ import annotations

import json
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from codexmem.client import starting, transport
from codexmem.client.starting import ServerLocation
from codexmem.client.transport import HttpReply
from codexmem.codecli import surroundings

STEP_S = 5.0
# What OpenSSL calls these failures; other codes are told in its own words.
_EXPIRED, _NOT_YET, _WRONG_HOST = 10, 9, 62
_UNKNOWN_ISSUER = {18, 19, 20, 21}


@dataclass(frozen=True, slots=True)
class Reached:
    """Whether something listens there, and how long the connection took."""

    took_ms: int
    problem: str = ""  # empty: it does


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the server shows to prove that it is itself."""

    state: str  # valid, expired, not-yet, wrong-host, unknown-issuer or failed
    days_left: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the server said to a request; status 0 if nothing came."""

    status: int
    took_ms: int
    problem: str = ""


def reach(url: str, timeout_s: float = STEP_S) -> Reached:
    """Open a connection and close it."""
    parts = urlsplit(url)
    start = surroundings.monotonic()
    problem = ""
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), timeout_s):
            pass
    except socket.gaierror:
        problem = f"the name {parts.hostname} is not known"
    except TimeoutError:
        problem = f"no connection within {timeout_s:g} s"
    except OSError as error:
        problem = error.strerror or str(error)
    return Reached(_since(start), problem)


def certificate(url: str, timeout_s: float = STEP_S) -> Certificate:
    """Shake hands as every later request will, and look at what was shown."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection((host, parts.port or 443), timeout_s) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in _UNKNOWN_ISSUER:
            state = "unknown-issuer"
        else:
            known = {_EXPIRED: "expired", _NOT_YET: "not-yet", _WRONG_HOST: "wrong-host"}
            state = known.get(error.verify_code, "failed")
        return Certificate(state, problem=error.verify_message)
    except (OSError, ValueError) as error:  # not TLS at all, or a name that cannot be one
        return Certificate("failed", problem=getattr(error, "reason", None) or str(error))
    until = ssl.cert_time_to_seconds(str(shown["notAfter"]))
    return Certificate("valid", int(until - surroundings.now_ms() / 1000) // 86_400)


def search(url: str, place: ServerLocation, project: str, timeout_s: float = STEP_S) -> Answered:
    """One search for almost nothing: the cheapest call of the service that needs all of it."""
    body = json.dumps({"project_id": project, "query": "mem-codecli doctor", "limit": 1, "min_score": 0.0}).encode()
    headers = {"Accept": "application/json", **starting.headers(place, withhold=True)}
    start = surroundings.monotonic()
    try:
        reply = transport.ask(url, "POST", "/v1/qa/search", body, headers, timeout_s=timeout_s)
    except TimeoutError:
        return Answered(0, _since(start), f"no answer within {timeout_s:g} s")
    except OSError as error:
        return Answered(0, _since(start), str(error) or type(error).__name__)
    took = _since(start)
    return Answered(reply.status, took, "" if reply.status != 200 or _has_items(reply) else "its answer has no items")


def _has_items(reply: HttpReply) -> bool:
    try:
        return isinstance(reply.document().get("items"), list)
    except ValueError:
        return False


def _since(start: float) -> int:
    return round((surroundings.monotonic() - start) * 1000)
