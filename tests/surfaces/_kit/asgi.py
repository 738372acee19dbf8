"""Calling an ASGI application without a server, with full control over headers: none is added, merged or normalised."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message

PORT = 37877
HOST = f"127.0.0.1:{PORT}"
JSON = ("content-type", "application/json")

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    """A complete reply."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key == name]
        assert len(found) <= 1, f"{name} was sent {len(found)} times"
        return found[0] if found else None


def call(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    headers: Pairs = (),
    host: str | None = HOST,
    body: bytes = b"",
    chunks: Sequence[bytes] | None = None,
    query: bytes = b"",
    server: tuple[str, int] | None = ("127.0.0.1", PORT),
) -> Answer:
    """Send one request; `chunks` sends them with Transfer-Encoding, `body` with Content-Length."""
    return asyncio.run(answered(app, method, path, list(headers), host, body, chunks, query, server))


async def answered(
    app: ASGIApp,
    method: str,
    path: str,
    headers: list[tuple[str, str]],
    host: str | None,
    body: bytes,
    chunks: Sequence[bytes] | None,
    query: bytes,
    server: tuple[str, int] | None,
) -> Answer:
    """The same on a loop that runs."""
    if host is not None:
        headers = [("host", host), *headers]
    if chunks is not None:
        headers.append(("transfer-encoding", "chunked"))
    elif body:
        headers.append(("content-length", str(len(body))))
    waiting: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": True} for chunk in (chunks or ([body] if body else []))
    ]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})
    replies: list[Message] = []

    async def receive() -> Message:
        if waiting:
            return waiting.pop(0)
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def send(message: Message) -> None:
        replies.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "server": server,
        "client": ("127.0.0.1", 50000),
        "scheme": "http",
        "method": method,
        "root_path": "",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "state": {},
    }
    await app(scope, receive, send)
    assert replies, "no reply"
    start, *rest = replies
    assert start["type"] == "http.response.start"
    return Answer(
        start["status"],
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]],
        b"".join(message.get("body", b"") for message in rest),
    )


def post(app: ASGIApp, path: str, value: Any, headers: Pairs = ()) -> Answer:
    """POST a JSON value the ordinary way."""
    return call(app, "POST", path, headers=[JSON, *headers], body=json.dumps(value).encode())
