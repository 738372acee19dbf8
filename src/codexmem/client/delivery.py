"""Handing messages to the running server, wherever it is by now; what may have arrived is never sent twice."""

from __future__ import annotations

import threading

from codexmem.client import starting, transport
from codexmem.kernel.model.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from codexmem.client.starting import ServerLocation


class Delivery:
    """The way to one server; any number of threads may use it."""

    def __init__(self, place: ServerLocation, timeout_s: float) -> None:
        self._place = place
        self._timeout_s = timeout_s
        self._url: str | None = None
        self._finding = threading.Lock()

    def post(
        self, path: str, body: bytes, headers: Callable[[], dict[str, str]], wait_s: float | None = None
    ) -> tuple[int, str, bytes]:
        """Status, type and body of the answer; Unavailable says why there is no server, after `wait_s` at the latest.

        Headers are asked for when there is one: a server that is only now started has only now made its token.
        """
        for fresh in (False, True):
            url = self._address(fresh, wait_s)
            connection = transport.connect(url, self._timeout_s)
            try:
                try:
                    connection.connect()
                except OSError:
                    # Nothing was sent: a server that moved or was away may be asked again.
                    if fresh:
                        raise
                    continue
                connection.request("POST", transport.below(url, path), body, headers())
                reply = connection.getresponse()
                return reply.status, reply.headers.get("content-type", ""), reply.read()
            finally:
                connection.close()
        raise AssertionError("unreachable")

    def _address(self, fresh: bool, wait_s: float | None) -> str:
        if not self._finding.acquire(timeout=-1 if wait_s is None else wait_s):
            raise Unavailable("the codexmem server is still looked for")
        try:
            if fresh or self._url is None:
                self._url = starting.ensure(self._place, *(() if wait_s is None else (wait_s, wait_s)))
            return self._url
        finally:
            self._finding.release()
