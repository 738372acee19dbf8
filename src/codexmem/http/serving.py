"""Listening and stopping: uvicorn with our socket, our limits and our way to end.

The sockets are bound here before anything starts, so that port 0 works and the real port is known. A signal stops
accepting, lets requests in flight finish within the grace period, then returns to the caller instead of killing the
process. A connection that is not inside a request may stay silent or dribble only for a bounded time.
"""

import asyncio
import errno
import math
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from ipaddress import ip_address
from types import FrameType

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from codexmem.http.guard import PEER
from codexmem.http.peer import Peer
from codexmem.http.signals import ending_signals
from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotReady
from codexmem.kernel.model.ids import SystemClock

_LAST_CHANCE_S = 1.0  # for a client that takes nothing, once the server stops


@dataclass(frozen=True, slots=True)
class ServingLimits:
    """What connections may cost."""

    header_bytes: int = 32 * 1024
    header_seconds: float = 10.0  # from the first byte of a request, or from connecting, to its complete head
    keep_alive_seconds: int = 5
    stalled_seconds: float = 30.0  # for a client that takes nothing of what waits to be sent to it
    connections: int = 1024  # further requests are answered 503
    backlog: int = 512


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the server listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address to give to clients."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


def listen(addresses: Sequence[str], port: int, backlog: int) -> list[socket.socket]:
    """Listening sockets on every address at one port; port 0 picks a free one.

    An address family that this machine lacks is passed over as long as one address remains.
    """
    sockets: list[socket.socket] = []
    try:
        for address in addresses:
            family = _family(address)
            chosen = sockets[0].getsockname()[1] if sockets else port
            try:
                sockets.append(_listen_on(family, address, chosen, backlog))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise Conflict(
                        f"port {chosen} on {address} is in use",
                        hint="stop the program that uses it, or choose another with --port",
                    ) from error
                if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
                    raise InvalidArgument(f"cannot listen on {address} port {chosen}: {error.strerror}") from error
        if not sockets:
            raise InvalidArgument(f"this machine has none of the addresses {', '.join(addresses)}")
    except BaseException:
        for opened in sockets:
            opened.close()
        raise
    return sockets


def _family(address: str) -> socket.AddressFamily:
    try:
        return socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
    except ValueError:
        raise InvalidArgument(
            f"{address[:80]!r} is not an IP address", hint="resolve names with require_safe_bind"
        ) from None


def _listen_on(family: socket.AddressFamily, address: str, port: int, backlog: int) -> socket.socket:
    # With the protocol named, asyncio sends small packets at once; without it a second one waits 40 ms for the first to
    # be acknowledged.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((address, port))
        # Listening already now: a client that connects while we start waits instead of being refused.
        listener.listen(backlog)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def serve(
    app: ASGIApp,
    host: str | Sequence[str],
    port: int,
    *,
    on_bound: Callable[[Bound], None] | None = None,
    on_stop: Callable[[], None] | None = None,
    shutdown_grace: float = 5.0,
    limits: ServingLimits | None = None,
    stop: threading.Event | None = None,
    sockets: list[socket.socket] | None = None,
    linger_s: float = 0.0,
) -> bool:
    """Serve until SIGTERM, SIGINT or `stop`; True if every request in flight then finished within the grace period.

    `stop` is set when serving has ended, however it did. `host` is what `require_safe_bind` returned. `on_stop` is
    called when stopping begins, so that endless streams can end. A False result leaves worker threads behind that only
    the end of the process can end. Who is given `sockets` shares them with other processes: then a connection that was
    accepted here gets `linger_s` to bring its request, because nobody else can answer it.
    """
    limits = limits or ServingLimits()
    sockets = sockets or listen((host,) if isinstance(host, str) else host, port, limits.backlog)
    try:
        if on_bound:
            on_bound(Bound(*sockets[0].getsockname()[:2]))
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=_deadline_protocol(limits.header_seconds, limits.stalled_seconds),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            interface="asgi3",
            workers=1,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=limits.connections,
            backlog=limits.backlog,
            timeout_keep_alive=limits.keep_alive_seconds,
            timeout_graceful_shutdown=math.ceil(shutdown_grace),
            h11_max_incomplete_event_size=limits.header_bytes,
        )
        stop = stop or threading.Event()
        server = _Server(config, on_stop, stop, linger_s)
        try:
            _run(server, sockets)
        finally:
            stop.set()  # whoever waits for it to be set need not wait any more
        return server.drained
    finally:
        for opened in sockets:
            opened.close()


class _ServerState(ServerState):
    leaving = False  # what is asked now is answered, and its connection closed


class _Server(uvicorn.Server):
    """uvicorn's server, which here neither ends the process nor re-raises the signal that stopped it."""

    def __init__(
        self, config: uvicorn.Config, on_stop: Callable[[], None] | None, stop: threading.Event, linger_s: float
    ) -> None:
        super().__init__(config)
        self.server_state = _ServerState()
        self.drained = True
        self._on_stop = on_stop
        self._stop = stop
        self._linger_s = linger_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:
            raise NotReady("the server could not start", hint="the log line above says why") from None

    async def main_loop(self) -> None:
        # uvicorn's own looks ten times a second whether it should stop, and renews the date of replies. Here whoever
        # stops it wakes it, and the date is renewed where something is received.
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._wait_for_stop, name="codexmem-stop", daemon=True).start()
        while not await self.on_tick(0) and not self._stop.is_set():
            await self._woken.wait()
            self._woken.clear()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._wake()

    def _wait_for_stop(self) -> None:
        self._stop.wait()
        self._wake()

    def _wake(self) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._woken.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._on_stop:
            self._on_stop()
        await self._linger()
        running = list(self.server_state.tasks)
        await super().shutdown(sockets)
        self.drained = not any(task.cancelling() for task in running)

    async def _linger(self) -> None:
        """Accept no more, and let who is connected ask once more; each is told that this is the end."""
        if not self._linger_s:
            return
        for server in self.servers:
            server.close()
        assert isinstance(self.server_state, _ServerState)
        self.server_state.leaving = True
        until = ids.monotonic() + self._linger_s
        while self.server_state.connections and ids.monotonic() < until:
            await asyncio.sleep(0.02)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with ending_signals(lambda number: self.handle_exit(number, None)):
            yield


def _run(server: _Server, sockets: list[socket.socket]) -> None:
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(server.serve(sockets=sockets))
    finally:
        # asyncio.run would wait here for ever for an endpoint that hangs in a worker thread.
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=0.5))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()


def _deadline_protocol(seconds: float, stalled_seconds: float) -> type[H11Protocol]:
    """uvicorn's HTTP protocol with a deadline on everything outside a request (dribbled heads, bodies nobody reads) and
    on clients that stop taking what they asked for: what waits for them stays in memory, and a stream keeps its place.
    """

    class Deadline(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _stalled: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.app_state = {**self.app_state, PEER: Peer(self.client, self.server)}
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unwatch()
            self._flows()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._stalled is None:
                self._stalled = self.loop.call_later(stalled_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            self._flows()
            super().resume_writing()

        def shutdown(self) -> None:
            super().shutdown()
            if self._stalled is not None:
                # It may still take the rest, but does not get all of the time that others need to finish.
                self._flows()
                self._stalled = self.loop.call_later(min(stalled_seconds, _LAST_CHANCE_S), self.transport.abort)

        def _flows(self) -> None:
            if self._stalled is not None:
                self._stalled.cancel()
                self._stalled = None

        def data_received(self, data: bytes) -> None:
            self.server_state.default_headers = [
                (b"date", _date(SystemClock().now_ms() // 1000)),
                *self.config.encoded_headers,
                *([(b"connection", b"close")] if getattr(self.server_state, "leaving", False) else []),
            ]
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._unwatch()
            self._watch()

        def _watch(self) -> None:
            cycle: RequestResponseCycle | None = self.cycle  # None before the first request
            if cycle is not None and not cycle.response_complete:
                self._unwatch()  # inside a request, where the guard bounds the body and the services bound the rest
            elif self._deadline is None and not self.transport.is_closing():
                self._deadline = self.loop.call_later(seconds, self.transport.abort)

        def _unwatch(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Deadline
