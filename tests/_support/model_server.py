"""A scripted server with OpenAI's `/chat/completions`: real HTTP on loopback, answers and faults as the test says.

`script` decides for each request: a text is what the model says, a `Reply` is sent as it is, None is answered as a good
model would. `endpoints` holds one function for each path, so that another interface is one entry more.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_EVENT = re.compile(r"^\[\[event (\d+): ", re.MULTILINE)
_ITEM = re.compile(r"^\[\[(?:person|agent|event) (\d+)[^\n]*\]\]\n(.+?)\n\[\[end ", re.MULTILINE | re.DOTALL)
CHAT = "/v1/chat/completions"


class Manner(StrEnum):
    """How a reply is sent."""

    PLAIN = "plain"
    DRIP = "drip"  # the body byte by byte
    DRIP_HEADERS = "drip_headers"  # the headers byte by byte, for ever
    SILENCE = "silence"  # nothing at all
    RESET = "reset"  # the connection is torn


@dataclass(frozen=True)
class Reply:
    """One answer on the wire."""

    status: int = 200
    body: Any = None  # bytes as they are, anything else as JSON
    headers: dict[str, str] = field(default_factory=dict)
    manner: Manner = Manner.PLAIN

    @property
    def octets(self) -> bytes:
        """The body as it travels."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body, ensure_ascii=False).encode()


@dataclass
class Asked:
    """One request as it arrived."""

    path: str
    key: str
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)  # names in lower case

    @property
    def prompt(self) -> str:
        """Everything that was said to the model."""
        return "\n".join(str(message["content"]) for message in self.body.get("messages", []))

    @property
    def form(self) -> str:
        """How the answer was asked for: json_schema, json_object or text."""
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def events(self) -> list[int]:
        """The numbers of the events in the prompt."""
        return sorted({int(number) for number in _EVENT.findall(self.prompt)})

    @property
    def items(self) -> dict[int, str]:
        """What the prompt shows of each item that can be cited, by its number."""
        return {int(number): text for number, text in _ITEM.findall(self.prompt)}


Script = Callable[[Asked], "Reply | str | None"]


def refused(
    status: int, message: str = "no", *, code: str | None = None, headers: dict[str, str] | None = None
) -> Reply:
    """An error in OpenAI's form."""
    error = {"message": message, "type": code or "error", "param": None, "code": code}
    return Reply(status, {"error": error}, headers or {})


def rate_limited(retry_after: str | None = None) -> Reply:
    """Too many requests."""
    return refused(429, "slow down", headers={"Retry-After": retry_after} if retry_after is not None else {})


def out_of_quota() -> Reply:
    """Somebody has to pay."""
    return refused(429, "You exceeded your current quota", code="insufficient_quota")


def huge(megabytes: int = 10) -> Reply:
    """More than anybody asked for."""
    return Reply(200, said("x" * (megabytes << 20)).octets)


def said(text: Any, *, prompt_tokens: int = 100, completion_tokens: int = 20, finish: str = "stop") -> Reply:
    """What a model says, in its envelope."""
    return Reply(200, {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens,
                  "total_tokens": prompt_tokens + completion_tokens},
    })  # fmt: skip


SILENCE = Reply(manner=Manner.SILENCE)
RESET = Reply(manner=Manner.RESET)
DRIP_HEADERS = Reply(manner=Manner.DRIP_HEADERS)


@dataclass
class ModelServer:
    """Answers every request as a good model would, unless `script` says otherwise."""

    script: Script = lambda _: None
    keep: bool = True  # whether requests are kept for the test to look at
    drip_s: float = 0.05  # between the bytes of a dripping reply
    silence_s: float = 30.0  # how long a silent reply is silent
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list)
    count: int = 0  # requests so far
    left: list[float] = field(default_factory=list)  # when clients hung up in the middle of a reply
    port: int = 0
    endpoints: dict[str, Callable[[Asked], Reply]] = field(default_factory=dict)
    _server: ThreadingHTTPServer | None = None
    _over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.endpoints.setdefault(CHAT, self.chat)

    @property
    def url(self) -> str:
        """What to configure."""
        return f"https://localhost:{self.port}/v1" if self.tls else f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def chat(self, asked: Asked) -> Reply:
        """One chat completion."""
        decided = self.script(asked)
        if decided is None:
            decided = good(asked)
        return said(decided) if isinstance(decided, str) else decided

    def start(self) -> None:
        """Listen; again on the same port after a stop."""
        outer = self
        self._over.clear()

        class Endpoint(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"  # no connection outlives a stop

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.path, headers.get("authorization", ""), body, headers)
                with outer._lock:
                    outer.count += 1
                    if outer.keep:
                        outer.asked.append(asked)
                endpoint = outer.endpoints.get(self.path)
                reply = endpoint(asked) if endpoint is not None else refused(404, "no such path")
                # A client that no longer waits is no failure of ours, and a traceback would land in another test.
                try:
                    self._send(reply)
                except OSError:
                    outer.left.append(time.monotonic())

            def _send(self, reply: Reply) -> None:
                match reply.manner:
                    case Manner.SILENCE:
                        outer._over.wait(outer.silence_s)
                        return
                    case Manner.RESET:
                        linger = struct.pack("ii", 1, 0)
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                        self.connection.close()
                        return
                    case Manner.DRIP_HEADERS:
                        self.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
                        self._drip(b"x" * 4_000)
                        return
                octets = reply.octets
                self.send_response(reply.status)
                headers = {"Content-Type": "application/json", "Content-Length": str(len(octets))} | reply.headers
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.manner is Manner.DRIP:
                    self._drip(octets)
                else:
                    self.wfile.write(octets)

            def _drip(self, octets: bytes) -> None:
                for octet in octets:
                    if outer._over.wait(outer.drip_s):
                        return
                    self.wfile.write(bytes([octet]))
                    self.wfile.flush()

            def finish(self) -> None:
                with contextlib.suppress(OSError, ValueError):
                    super().finish()

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                pass  # a client that does not trust us hangs up

            def shutdown_request(self, request: Any) -> None:
                with contextlib.suppress(OSError):
                    super().shutdown_request(request)

        self._server = Quiet(("127.0.0.1", self.port), Endpoint)
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections."""
        self._over.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def good(asked: Asked) -> str:
    """What a model says that does as it was told: the newest item, in its own words."""
    items = asked.items
    if not items:
        return json.dumps({"reason": "nothing was said", "memories": []})
    number, text = max(items.items(), key=lambda item: (item[0] in asked.events, item[0]))
    return json.dumps(memory_answer([number], title=text.splitlines()[0][:80], text=text.splitlines()[0][:80]))


def memory_answer(rests_on: list[int], /, **more: Any) -> dict[str, Any]:
    """A fitting answer with one memory."""
    memory = {
        "op": "add", "target": "", "kind": "discovery", "title": "A scripted memory", "text": "It was scripted.",
        "rests_on": rests_on, "reason": "it will be asked for",
    }  # fmt: skip
    return {"reason": "", "memories": [memory | more]}
