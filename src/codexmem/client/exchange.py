"""One call until it is answered or given up. Decides, and neither sends nor waits: both clients share it.

What may have arrived is sent again only if doing it twice does no more than doing it once; what was never sent may
always be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import httpx2
from pydantic import ValidationError

from codexmem import __version__
from codexmem.client import starting, transport
from codexmem.client.call import KEY_HEADER, ApiCall
from codexmem.client.starting import ServerAddress
from codexmem.kernel.model import ids, json_text
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, Unavailable

T = TypeVar("T")

_PASSING = frozenset({429, 502, 503, 504})  # may be better soon
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one call may take, and how often it is tried."""

    timeout_s: float = 30.0  # for one answer
    connect_s: float = 5.0
    tries: int = 3  # in all
    pause_s: float = 0.2  # before the second try; doubled before each further one
    longest_s: float = 10.0  # a server that asks for a longer pause than this is not waited for

    def timeout(self, wait_s: float | None) -> httpx2.Timeout:
        """As the library takes it."""
        return httpx2.Timeout(self.timeout_s if wait_s is None else wait_s, connect=self.connect_s)


@dataclass(frozen=True, slots=True)
class Wait:
    """Try again after so many seconds."""

    seconds: float


class HttpExchange(Generic[T]):
    """The state of one call."""

    def __init__(self, call: ApiCall[T], patience: Patience) -> None:
        self._call = call
        self._patience = patience
        self._tried = 0
        self._headers = {KEY_HEADER: ids.bare()} if call.keyed else {}

    def request(self, http: httpx2.Client | httpx2.AsyncClient, place: ServerAddress) -> httpx2.Request:
        """The next try."""
        self._tried += 1
        call = self._call
        headers = {"User-Agent": f"codexmem-python/{__version__}", **self._headers, **starting.traced()}
        if place.key:
            headers["Authorization"] = f"Bearer {place.key}"
        sent = None
        if call.sent is not None:
            headers["Content-Type"] = "application/json"
            sent = _encoded(call.sent)
        return http.build_request(call.method, place.url + call.target, params=call.asked, content=sent,
                                  headers=headers, timeout=self._patience.timeout(call.wait_s))  # fmt: skip

    def failed(self, error: httpx2.TransportError, place: ServerAddress) -> Wait:
        """After a try without an answer; raises where another would be one too many."""
        if self._may_repeat(never_sent=isinstance(error, _NEVER_SENT)):
            return Wait(self._pause())
        problem = str(error) or type(error).__name__
        if isinstance(error, _NEVER_SENT):
            raise Unavailable(
                f"there is no codexmem server at {place.url}: {problem}",
                hint="start it with: codexmem serve" if place.on_this_machine else "is the address right?",
            ) from error
        hint = "the same call may be repeated" if self._call.repeatable else "look whether it was done before repeating"
        raise Unavailable(f"the server at {place.url} did not answer: {problem}", hint=hint) from error

    def answered(self, reply: httpx2.Response) -> T | Wait:
        """What the answer says, or that it should be asked for again; raises what the server refuses."""
        if reply.status_code in {200, 201, 202}:
            return self._read(reply)
        asked = _seconds(reply.headers.get("retry-after"))
        fits = asked is None or asked <= self._patience.longest_s
        if reply.status_code in _PASSING and fits and self._may_repeat(never_sent=False):
            return Wait(self._pause() if asked is None else asked)
        raise refusal(reply.status_code, _document(reply), asked)

    def _read(self, reply: httpx2.Response) -> T:
        try:
            return self._call.read(reply)
        except (ValidationError, UnicodeDecodeError) as error:
            raise CodexmemError(
                f"the answer to {self._call.method} {self._call.path} has an unknown format",
                hint="client and server should have the same version; health() shows the server's",
            ) from error

    def _may_repeat(self, *, never_sent: bool) -> bool:
        return self._tried < self._patience.tries and (never_sent or self._call.repeatable)

    def _pause(self) -> float:
        return min(self._patience.longest_s, self._patience.pause_s * 2.0 ** (self._tried - 1))


def refusal(status: int, told: Mapping[str, object], retry_after_s: float | None = None) -> CodexmemError:
    """The server's error as an exception, with its status and for how long it asks us to wait."""
    error = transport.refusal(
        status, told, no_key="give a key: Client(url, api_key=…), or CODEXMEM_API_KEY",
        other=InvalidArgument if 400 <= status < 500 else CodexmemError,
    )  # fmt: skip
    error.details |= {"status": status}
    if retry_after_s is not None:
        error.details["retry_after_s"] = retry_after_s
    return error


def _encoded(body: dict[str, object]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (UnicodeEncodeError, ValueError) as error:
        raise InvalidArgument(
            f"this cannot be sent as JSON: {error}", hint="it contains a lone surrogate or NaN"
        ) from error


def _document(reply: httpx2.Response) -> dict[str, object]:
    try:
        told = json_text.loads(reply.content)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _seconds(text: str | None) -> float | None:
    """`Retry-After` in seconds; a date is not understood, and then our own pauses are kept."""
    return float(text) if text is not None and text.strip().isdecimal() else None
