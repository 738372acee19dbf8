"""A scripted model with Google's interface, for Gemini CLI: the step to play is the number of tool answers so far."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests._support.scripted_model import Call, Say, Step

Value = dict[str, Any]


@dataclass
class GeminiModel:
    """Plays `script`; a request that offers no tools gets a title."""

    script: Sequence[Step] = ()
    asked: list[Value] = field(default_factory=list)
    refusal: tuple[int, Value] | None = None  # status and body for everybody
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """What to configure."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _endpoint(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def play(self, *script: Step) -> None:
        """A new script, and a clean record of requests."""
        self.script, self.asked = script, []

    def texts(self) -> str:
        """All that the model was told first."""
        first = next(body for body in self.asked if body.get("tools"))
        return json.dumps(first, ensure_ascii=False)

    def answer(self, body: Value) -> Value:
        """What it says to one request."""
        self.asked.append(body)
        answered = sum(
            "functionResponse" in part for said in body.get("contents", []) for part in said.get("parts", [])
        )
        step = self.step(body, answered)
        part: Value = (
            {"functionCall": {"name": step.tool, "args": dict(step.arguments)}}
            if isinstance(step, Call)
            else {"text": step.text}
        )
        said = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        return {"candidates": [said], "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}}

    def step(self, body: Value, answered: int) -> Step:
        """What comes next after so many tools have answered."""
        left = self.script[answered:] if body.get("tools") else ()
        return left[0] if left else Say("A title")


def _endpoint(model: GeminiModel) -> type[BaseHTTPRequestHandler]:
    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status = 200
            if model.refusal is not None:
                status, kind = model.refusal[0], "application/json"
                text = json.dumps(model.refusal[1])
                model.asked.append(body)
            elif "countTokens" in self.path:
                text, kind = json.dumps({"totalTokens": 1}), "application/json"
            elif "stream" in self.path:
                text, kind = f"data: {json.dumps(model.answer(body))}\n\n", "text/event-stream"
            else:
                text, kind = json.dumps(model.answer(body)), "application/json"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    return Endpoint
