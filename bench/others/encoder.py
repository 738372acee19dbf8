"""Our encoder as a server with OpenAI's `/embeddings`, for memories that ask such a server."""

from __future__ import annotations

import base64
import json
import threading
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from codexmem.kernel.embed import local


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """Its address, and the numbers of a vector."""
    encoder, turn = local.small(), threading.Lock()

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            given = asked["input"]
            with turn:
                vectors = encoder.passages([given] if isinstance(given, str) else given)
            as_text = asked.get("encoding_format") == "base64"
            rows = [{"object": "embedding", "index": place, "embedding": _said(vector, as_text=as_text)}
                    for place, vector in enumerate(vectors)]  # fmt: skip
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            answer = {"object": "list", "model": asked["model"], "data": rows, "usage": usage}
            said = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            pass

    dimension = len(encoder.passages(["loaded"])[0]) // 4
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", dimension
    finally:
        server.shutdown()
        server.server_close()


def _said(vector: bytes, *, as_text: bool) -> Any:
    return base64.b64encode(vector).decode() if as_text else array("f", vector).tolist()
