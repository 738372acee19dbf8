"""HTTP for one call: one deadline, one limit of bytes, no redirects, and an ear for interruption.

The usual time-outs of HTTP libraries begin anew with every byte, so that a server that drips one byte a second, in the
headers or in the body, holds its caller for hours. Here every read and write of the connection gets what is left of
the whole call's time. Reads wait in short slices, between which the caller may say stop. Compressed bodies are
refused: a few bytes could become gigabytes. Only the resolver of names keeps its own time.
"""

import ssl
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore2
import httpx2

CONNECT_S = 10.0
SLICE_S = 0.25
_PIECE = 16 * 1024
_PROXIES = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

# What a request cannot do without. SDKs add names of machine and organisation, and headers from the environment.
PLAIN_HEADERS = frozenset({
    "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host",
    "transfer-encoding", "user-agent",
})  # fmt: skip

Options = Iterable[httpcore2.SOCKET_OPTION] | None


class CallAborted(Exception):
    """The call was ended by us: too slow, too large or in a form we do not take."""


class TooSlow(CallAborted):
    """The deadline has passed."""


class CallLimits:
    """The limits of one call, whatever number of requests it makes."""

    def __init__(self, *, deadline_s: float, max_bytes: int, check: Callable[[], None],
                 now_s: Callable[[], float]) -> None:  # fmt: skip
        self._until_s = now_s() + deadline_s
        self._bytes_left = max_bytes
        self._check = check
        self._now_s = now_s
        self.stopped_by: BaseException | None = None  # why it was ended: libraries in between wrap what passes them

    def left_s(self) -> float:
        """How long it may go on; `TooSlow` if no longer. Asks first whether it should stop."""
        try:
            self._check()
            left = self._until_s - self._now_s()
            if left <= 0:
                raise TooSlow("the answer was not complete in time")
        except BaseException as error:
            self.stopped_by = error
            raise
        return left

    def took(self, count: int) -> None:
        """Bytes have arrived."""
        self._bytes_left -= count
        if self._bytes_left < 0:
            self.refuse("the answer is too large")

    def refuse(self, reason: str) -> None:
        """End the call."""
        self.stopped_by = CallAborted(reason)
        raise self.stopped_by


class _Stream(httpcore2.NetworkStream):
    """A connection that asks the call before it waits."""

    def __init__(self, inner: httpcore2.NetworkStream, call: CallLimits) -> None:
        self._inner = inner
        self._call = call

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Whatever arrives first; waits in slices, which is safe to repeat on plain and encrypted sockets."""
        while True:
            slice_s = min(SLICE_S, self._call.left_s())
            try:
                found = self._inner.read(max_bytes, timeout=slice_s)
            except httpcore2.ReadTimeout:
                continue
            self._call.took(len(found))
            return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Whole, in pieces of which each gets the time that is left."""
        for start in range(0, len(buffer), _PIECE):
            self._inner.write(buffer[start : start + _PIECE], timeout=self._call.left_s())

    def close(self) -> None:
        """Give the connection back."""
        self._inner.close()

    def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str | None = None,
                  timeout: float | None = None) -> httpcore2.NetworkStream:  # fmt: skip
        """Encrypted from here on."""
        left_s = min(CONNECT_S, self._call.left_s())
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, timeout=left_s), self._call)


class _Network(httpcore2.NetworkBackend):
    def __init__(self, call: CallLimits) -> None:
        self._call = call
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, local_address: str | None = None,
                    socket_options: Options = None) -> httpcore2.NetworkStream:  # fmt: skip
        left_s = min(CONNECT_S, self._call.left_s())
        return _Stream(self._sockets.connect_tcp(host, port, left_s, local_address, socket_options), self._call)


@contextmanager
def _in_terms_of_httpx() -> Iterator[None]:
    """Troubles of the connection as the SDK knows them; what we raise ourselves passes."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError) as error:
        raise httpx2.NetworkError(str(error)) from error


class _Body(httpx2.SyncByteStream):
    def __init__(self, chunks: Any) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        with _in_terms_of_httpx():
            yield from self._chunks

    def close(self) -> None:
        self._chunks.close()


class _Transport(httpx2.BaseTransport):
    """Connections of one call, which end with it."""

    def __init__(
        self, call: CallLimits, base_url: str, context: ssl.SSLContext | None, allowed: frozenset[str] | None
    ) -> None:
        self._call = call
        self._allowed = allowed
        network = _Network(call)
        proxy = _proxy_for(base_url)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context, proxy=proxy, max_connections=2, keepalive_expiry=0.0, network_backend=network
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        asked = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=[each for each in request.headers.raw if self._allows(each[0])],
            content=request.stream,
            extensions=request.extensions,
        )
        with _in_terms_of_httpx():
            answer = self._pool.handle_request(asked)
        response = httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer.stream),
            extensions=answer.extensions,
        )
        if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
            self._call.refuse("the answer is compressed although that was not asked for")
        return response

    def _allows(self, name: bytes) -> bool:
        return self._allowed is None or name.decode("latin-1").lower() in self._allowed

    def close(self) -> None:
        self._pool.close()


def client(
    call: CallLimits, base_url: str, context: ssl.SSLContext | None, allowed: frozenset[str] | None
) -> httpx2.Client:
    """A client for this call alone, to be closed with it; of the request's headers only the allowed ones are sent."""
    return httpx2.Client(
        transport=_Transport(call, base_url, context, allowed),
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        timeout=None,  # the call keeps the time
    )


def _proxy_for(base_url: str) -> httpcore2.Proxy | None:
    """The proxy that this machine is set to use for such addresses, if any; never for the machine itself."""
    place = urlsplit(base_url)
    host = place.hostname or ""
    if host in _LOOPBACK or urllib.request.proxy_bypass(host):
        return None
    found = urllib.request.getproxies()
    chosen = found.get(place.scheme) or found.get("all")
    if not chosen:
        return None
    parts = urlsplit(chosen if "://" in chosen else f"http://{chosen}")
    if parts.scheme not in _PROXIES or not parts.hostname:
        # Going past a proxy that we cannot use would show the prompt to a network it was to be kept from.
        raise CallAborted(f"the proxy that is set for {place.scheme} addresses cannot be used")
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    at = httpcore2.URL(scheme=parts.scheme, host=parts.hostname, port=parts.port or _PROXIES[parts.scheme], target="/")
    return httpcore2.Proxy(at, auth=auth)
