"""Clients that stop taking what they asked for: cut off after a while, soon when the server stops, slow ones never."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from codexmem.http.serving import ServingLimits
from tests._support.waiting import eventually
from tests.surfaces._kit.test_serving import raw, running

pytestmark = pytest.mark.process

PIECE = b"x" * 16_384


class Endless:
    """Sends pieces until the client is gone, and says how that ended."""

    def __init__(self, pieces: int = 100_000) -> None:
        self.pieces = pieces
        self.sent = 0
        self.ended = threading.Event()

    def app(self) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
                await send({"type": "lifespan.shutdown.complete"})
                return
            await receive()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            gone = False
            while self.sent < self.pieces and not gone:
                await send({"type": "http.response.body", "body": PIECE, "more_body": True})
                self.sent += 1
                # What uvicorn does not tell: after a disconnect everything is sent into nothing.
                gone = send.__self__.disconnected  # type: ignore[attr-defined]
            if not gone:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            self.ended.set()

        return answer


def ask(port: int) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    connection.sendall(raw("GET", "/", [("host", f"127.0.0.1:{port}")]))
    return connection


def test_a_client_that_takes_nothing_is_cut_off() -> None:
    endless = Endless()
    with running(endless.app(), limits=ServingLimits(stalled_seconds=0.5)) as server, ask(server.port):
        assert endless.ended.wait(60)
    assert endless.sent * len(PIECE) < 8_000_000, "it was read ahead for a client that took nothing"


def test_a_client_that_takes_a_little_now_and_then_is_not() -> None:
    endless = Endless(pieces=60)  # 1 MB
    with running(endless.app(), limits=ServingLimits(stalled_seconds=1.0)) as server, ask(server.port) as connection:
        received = b""
        while not received.endswith(b"\r\n0\r\n\r\n"):
            received += connection.recv(1 << 16)
            time.sleep(0.005)
        assert endless.ended.wait(10)
    assert received.count(b"x") == 60 * len(PIECE)


def test_stopping_does_not_wait_long_for_a_client_that_takes_nothing() -> None:
    endless = Endless()

    def waits() -> bool:
        sent = endless.sent
        return sent > 0 and not endless.ended.wait(0.1) and endless.sent == sent

    with running(endless.app(), grace=600) as server, ask(server.port):
        eventually(waits)
        server.end()
    assert endless.ended.is_set()
