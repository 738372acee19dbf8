"""The server as the hook sees it: a real one on a real port that takes down what it is sent and answers as told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, str]


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass
class HookEndpoint:
    """Listens while the block lasts; `stop` and `start` keep the port."""

    port: int = 0
    status: int = 200
    context: str = ""
    delay_s: float = 0.0
    chunked: bool = False
    hang_up: bool = False  # after each answer, without saying so
    choose: Callable[[Asked], int | None] = lambda _: None  # a status for this request, or None for `status`
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> HookEndpoint:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def events(self) -> list[Asked]:
        """What was delivered."""
        return [each for each in self.asked if each.method == "POST"]

    def start(self) -> None:
        endpoint = self

        class Answering(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                return

            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def _answer(self, body: Any) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                asked = Asked(self.command, parts.path, query, dict(self.headers.items()), body)
                time.sleep(endpoint.delay_s)
                status = endpoint.choose(asked)
                status = endpoint.status if status is None else status
                endpoint.asked.append(asked)
                text = (endpoint.context if self.command == "GET" else '{"status":"queued"}').encode()
                self.send_response(status)
                if endpoint.chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for piece in (text[:5], text[5:]):
                        if piece:
                            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.write(b"0\r\n\r\n")
                else:
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                if endpoint.hang_up:
                    self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Answering)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
