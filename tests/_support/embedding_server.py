"""A scripted server with OpenAI's `/embeddings`: real HTTP on loopback, answers as the test says."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests._support.toy_embedder import numbers_of

Answer = tuple[int, Any]  # status and body


@dataclass
class Asked:
    """One request as it arrived."""

    path: str
    key: str
    body: dict[str, Any]


@dataclass
class EmbeddingServer:
    """Answers every request with vectors of the words, unless `script` says otherwise."""

    dimension: int = 32
    script: Callable[[Asked], Answer | None] = lambda _: None  # None: answer as usual
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """What to configure."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen; again on the same port after a stop."""
        outer = self

        class Endpoint(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"  # no connection outlives a stop

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked = Asked(self.path, self.headers.get("Authorization", ""), body)
                outer.asked.append(asked)
                status, answer = outer.script(asked) or (200, outer.usual(asked))
                said = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                # A client that no longer waits is no failure of ours, and a traceback would land in another test.
                with contextlib.suppress(ConnectionError):
                    self.end_headers()
                    self.wfile.write(said)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Endpoint)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def usual(self, asked: Asked) -> dict[str, Any]:
        """One vector for each text, out of order: the index counts."""
        rows = [
            {"object": "embedding", "index": number, "embedding": numbers_of(text, self.dimension)}
            for number, text in enumerate(asked.body["input"])
        ]
        return {"object": "list", "model": asked.body["model"], "data": rows[::-1],
                "usage": {"prompt_tokens": 1, "total_tokens": 1}}  # fmt: skip
