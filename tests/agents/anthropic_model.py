"""A scripted model with Anthropic's interface, for Claude Code: it answers by the tool for answers, or in words."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Value = dict[str, Any]


@dataclass
class AnthropicModel:
    """Says `answer` to everybody, by the tool for answers if there is one; with a `refusal`, its status and body."""

    answer: Value | str = field(default_factory=dict)
    refusal: tuple[int, Value] | None = None
    asked: list[Value] = field(default_factory=list)
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

    def play(self, answer: Value | str) -> None:
        """A new answer, and a clean record of requests."""
        self.answer = answer
        self.asked.clear()

    def answer_to(self, body: Value) -> Value | str:
        """What it says to one request."""
        return self.answer

    def events(self, body: Value) -> list[Value]:
        """The answer to one request as a stream; a schema is a tool among those that are offered."""
        tools = [str(tool.get("name")) for tool in body.get("tools") or []]
        answer = self.answer_to(body)
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        answered = any(
            part.get("type") == "tool_result"
            for message in body.get("messages", [])
            for part in (message["content"] if isinstance(message["content"], list) else [])
        )
        if "StructuredOutput" in tools and not answered:
            block: Value = {"type": "tool_use", "id": "toolu_1", "name": "StructuredOutput", "input": {}}
            delta, reason = {"type": "input_json_delta", "partial_json": text}, "tool_use"
        else:
            block, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn"
        used = {"input_tokens": 100, "output_tokens": 1}
        message: Value = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": used,
        }  # fmt: skip
        ends = {"stop_reason": reason, "stop_sequence": None}
        return [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ends, "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
        ]


def _endpoint(model: AnthropicModel) -> type[BaseHTTPRequestHandler]:
    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            if "count_tokens" in self.path:
                self._send(200, "application/json", '{"input_tokens": 1}')
            elif "/messages" not in self.path:
                self._send(404, "application/json", "{}")
            else:
                model.asked.append(body)
                if model.refusal is not None:
                    self._send(model.refusal[0], "application/json", json.dumps(model.refusal[1]))
                    return
                events = model.events(body)
                said = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
                self._send(200, "text/event-stream", said)

        def do_GET(self) -> None:
            self._send(404, "application/json", "{}")

        def _send(self, status: int, kind: str, body: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    return Endpoint
