"""A server that misbehaves as it is told, request by request, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

HANGS_UP = "hangs up"  # after it has read the request
STALLS = "stalls"


@dataclass
class Unsteady:
    """Plays `script`: a status, a status with headers and a body, or a misdeed; then the last line again."""

    script: Sequence[Any]
    asked: list[tuple[str, str, Mapping[str, str], bytes]] = field(default_factory=list)
    port: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _endpoint(self))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def next_line(self) -> Any:
        return self.script[min(len(self.asked), len(self.script)) - 1]


def _endpoint(unsteady: Unsteady) -> type[BaseHTTPRequestHandler]:
    class Endpoint(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            unsteady.asked.append((self.command, self.path, dict(self.headers), body))
            line = unsteady.next_line()
            if line == STALLS:
                unsteady.over.wait()
            if line in (HANGS_UP, STALLS):
                return
            status, headers, answer = line if isinstance(line, tuple) else (line, {}, {"error": "not now"})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

        do_POST = do_GET  # noqa: N815  the library's spelling

        def log_message(self, *_: object) -> None:
            pass

    return Endpoint
