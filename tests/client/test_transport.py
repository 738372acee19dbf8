"""One request to a server: below the path of its address, and whatever goes wrong on the way is an OSError."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from codexmem.client import transport
from codexmem.console.backend import Remote


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A server's address, and what is asked of it."""
    lines: list[str] = []

    class Answering(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            return

        def do_GET(self) -> None:
            lines.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "9")
            self.end_headers()
            self.wfile.write(b'{"a": 15}')

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", lines
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("prefix", ["", "/", "/memory", "/memory/"])
def test_an_address_may_have_a_path(prefix: str, asked: tuple[str, list[str]]) -> None:
    url, lines = asked
    assert transport.ask(url + prefix, "GET", "/api/health", timeout_s=5).document() == {"a": 15}
    assert Remote(url + prefix).get("/api/search", query="x") == {"a": 15}
    start = prefix.rstrip("/")
    assert lines == [f"{start}/api/health", f"{start}/api/search?query=x"]


def test_only_so_much_is_read(asked: tuple[str, list[str]]) -> None:
    reply = transport.ask(asked[0], "GET", "/", timeout_s=5, most=4)
    assert reply.body == b'{"a"'
    with pytest.raises(ValueError, match="delimiter"):
        reply.document()


def test_what_is_no_object_is_an_empty_one() -> None:
    assert transport.HttpReply(200, b"[1]").document() == {}
    assert transport.HttpReply(204, b"").document() == {}
    with pytest.raises(ValueError, match="nested"):
        transport.HttpReply(200, b"[" * 200_000).document()


@pytest.mark.process
def test_what_speaks_no_http_did_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            connection.recv(1 << 16)
            connection.sendall(b"220 mail.example ESMTP\r\n\r\n")
            connection.close()

        threading.Thread(target=greet, daemon=True).start()
        with pytest.raises(OSError, match="220"):
            transport.ask(f"http://127.0.0.1:{server.getsockname()[1]}", "GET", "/", timeout_s=5)


@pytest.mark.parametrize("url", ["http://127.0.0.1:many", "http://127.0.0.1:1", f"http://{'a' * 70}.example"])
def test_where_nobody_can_be_is_no_answer(url: str) -> None:
    with pytest.raises(OSError, match=r"."):
        transport.ask(url, "GET", "/", timeout_s=5)
