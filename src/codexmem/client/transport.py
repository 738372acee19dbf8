"""One request to a server by the standard library's client, and what a server refuses as an error of ours.

Programs that load quickly use it: commands, bridges, the wrapper. It decides nothing about keys and never asks twice.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from codexmem.kernel.model import json_text
from codexmem.kernel.model.errors import (
    BY_CODE,
    CodexmemError,
    Conflict,
    Forbidden,
    InvalidArgument,
    NotFound,
    NotReady,
    RateLimited,
    StorageFull,
    Unauthorized,
)

BY_STATUS: Mapping[int, type[CodexmemError]] = {
    400: InvalidArgument, 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 422: InvalidArgument,
    429: RateLimited, 503: NotReady, 507: StorageFull,
}  # fmt: skip
_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What a server answered."""

    status: int
    body: bytes

    def document(self) -> dict[str, Any]:
        """The body as a JSON object, empty if it is another value; ValueError if it is no JSON."""
        found = json_text.loads(self.body or b"{}")
        return found if isinstance(found, dict) else {}


def connect(url: str, timeout_s: float) -> http.client.HTTPConnection:
    """A connection to that server, not yet opened."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname or "127.0.0.1", parts.port, timeout=timeout_s)


def below(url: str, path: str) -> str:
    """The path to ask for: an address may have one of its own."""
    return urlsplit(url).path.rstrip("/") + path


def encoded(body: Mapping[str, object] | None) -> bytes | None:
    """The document as it is sent; a lone surrogate, which a terminal can send, is no text for anybody."""
    return None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def ask(url: str, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, *,
        timeout_s: float, most: int = _MOST) -> HttpReply:  # fmt: skip
    """One request below that address, and at most so many bytes of the answer; OSError if none came."""
    sent = {"Content-Type": "application/json"} if body is not None else {}
    try:
        connection = connect(url, timeout_s)
        try:
            connection.request(method, below(url, path), body, {**sent, **(headers or {})})
            reply = connection.getresponse()
            return HttpReply(reply.status, reply.read(most))
        finally:
            connection.close()
    except OSError:
        raise
    except (ValueError, http.client.HTTPException) as error:
        raise OSError(str(error) or type(error).__name__) from error


def refusal(status: int, told: Mapping[str, object], *, no_key: str,
            other: type[CodexmemError] = CodexmemError) -> CodexmemError:  # fmt: skip
    """The server's error as if it had happened here, whether it came as a text or in an envelope.

    `no_key` is the hint where it asks for one, `other` what a status means that says nothing in particular.
    """
    kind = BY_STATUS.get(status, other)
    message, hint = told.get("error"), told.get("hint")
    given = told.get("details")
    details: dict[str, object] = dict(given) if isinstance(given, dict) else {}
    if isinstance(message, dict):
        kind = BY_CODE.get(str(message.get("code")), kind)
        details = dict(message.get("details") or {})
        hint, message = details.pop("hint", None), message.get("message")
    if status == http.HTTPStatus.UNAUTHORIZED or kind is Unauthorized:
        hint = no_key
    return kind(str(message or f"the server answered {status}"), hint=str(hint) if hint else None, details=details)
