"""A running server, spoken to over HTTP as any client would: it owns the store, so changes go there."""

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from codexmem.clients.starting import connect
from codexmem.domain import json_text
from codexmem.domain.errors import (
    BY_CODE,
    CodexmemError,
    Conflict,
    InvalidArgument,
    NotFound,
    NotReady,
    RateLimited,
    StorageFull,
    Unauthorized,
    Unavailable,
)

TIMEOUT_S = 120.0
LONG_S = 3600.0  # for what the server does in many steps before it answers
_MAX_REPLY = 16 << 20
_ACCEPT = "application/json, text/event-stream"  # the door for tools wants both, and answers with the first
DONE = (200, 201)
_ERRORS: dict[int, type[CodexmemError]] = {
    400: InvalidArgument,
    401: Unauthorized,
    404: NotFound,
    409: Conflict,
    422: InvalidArgument,
    429: RateLimited,
    503: NotReady,
    507: StorageFull,
}


class Remote:
    """The server at one address."""

    def __init__(self, url: str, token: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self.url = url
        self._token = token
        self._timeout_s = timeout_s

    def get(self, path: str, **query: object) -> dict[str, Any]:
        """Ask."""
        return self._request("GET", with_query(path, query), None, self._timeout_s)

    def post(self, path: str, body: Mapping[str, Any], *, timeout_s: float | None = None) -> dict[str, Any]:
        """Tell."""
        return self._request("POST", path, encoded(body), self._timeout_s if timeout_s is None else timeout_s)

    def call(self, method: str, target: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Any request to a path, with its query."""
        return self._request(method, target, None if body is None else encoded(body), self._timeout_s)

    def _request(self, method: str, path: str, body: bytes | None, timeout_s: float) -> dict[str, Any]:
        headers = {"Accept": _ACCEPT}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        connection = connect(self.url, timeout_s)
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            answer = json_text.loads(reply.read(_MAX_REPLY) or b"{}")
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem = str(error) or type(error).__name__
            raise Unavailable(
                f"the server at {self.url} does not answer: {problem}",
                hint="codexmem doctor says more; what was done so far stays, and the command may be repeated",
                details={"reason": "server_silent", "url": self.url, "problem": problem},
            ) from error
        finally:
            connection.close()
        if reply.status not in DONE:
            raise refusal(reply.status, answer if isinstance(answer, dict) else {})
        assert isinstance(answer, dict)
        return answer


def encoded(body: Mapping[str, Any]) -> bytes:
    """The document as it is sent; what no encoding can say is replaced."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def with_query(path: str, query: Mapping[str, object]) -> str:
    """The path with what is asked; what is None is left out, a list is repeated."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def refusal(status: int, answer: Mapping[str, Any]) -> CodexmemError:
    """The server's error as if it had happened here, whether it came as a text or in an envelope."""
    kind = _ERRORS.get(status, CodexmemError)
    hint, told = answer.get("hint"), answer.get("error")
    details: dict[str, Any] = {}
    if isinstance(told, dict):
        kind = BY_CODE.get(str(told.get("code")), kind)
        answer = {"error": told.get("message")}
        details = dict(told.get("details") or {})
        hint = details.pop("hint", None)
    if status == 401:
        hint = "the server asks for a token: run this as the user who runs the server, with its data directory"
    message = str(answer.get("error") or f"the server answered {status}")
    return kind(message, hint=str(hint) if hint else None, details=details)
