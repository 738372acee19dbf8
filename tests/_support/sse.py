"""A reader of server-sent events over a real connection, as strict as the standard's parser and no stricter."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Message:
    """One dispatched event."""

    name: str
    id: str | None  # None where the block named none
    data: Any


class Stream:
    """One open stream; `last_id` is what a browser would come back with."""

    def __init__(self, url: str, *, key: str | None = None, last_id: str | None = None, path: str = "/api/events",
                 headers: Mapping[str, str] | None = None) -> None:  # fmt: skip
        place = urlsplit(url)
        assert place.hostname is not None
        self._connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        sent = {"Accept": "text/event-stream", **(headers or {})}
        if key is not None:
            sent["Authorization"] = f"Bearer {key}"
        if last_id is not None:
            sent["Last-Event-ID"] = last_id
        self._connection.request("GET", path, headers=sent)
        self.reply = self._connection.getresponse()
        self.last_id = last_id or ""
        self.comments: list[str] = []
        self.messages: list[Message] = []
        self.ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def read(self, until: Callable[[list[Message]], object], *, timeout_s: float = 60.0) -> list[Message]:
        """Read until the messages so far satisfy the condition; all of them."""
        deadline = time.monotonic() + timeout_s
        while not until(self.messages):
            assert time.monotonic() < deadline, f"only {self.messages[-5:]} came"
            if not self._block():
                break
        return self.messages

    def named(self, name: str, count: int = 1, **options: float) -> list[Message]:
        """Read until there are so many of this name; these."""
        self.read(lambda seen: sum(each.name == name for each in seen) >= count, **options)
        return [each for each in self.messages if each.name == name]

    def drain(self) -> None:
        """Read to the end of the stream."""
        while self._block():
            pass

    def _block(self) -> bool:
        """One block of lines; False at the end of the stream."""
        name, given, lines = "message", None, []
        while True:
            try:
                line = self.reply.readline()
            except (http.client.IncompleteRead, ConnectionError):
                line = b""
            if not line:
                self.ended = True
                return False
            text = line.decode().rstrip("\n")
            if not text:
                break
            field, _, value = text.partition(":")
            value = value.removeprefix(" ")
            match field:
                case "":
                    self.comments.append(value)
                case "event":
                    name = value
                case "id":
                    given = self.last_id = value
                case "data":
                    lines.append(value)
                case "retry":
                    assert value.isdigit()
                case _:
                    raise AssertionError(f"unknown field {field!r}")
        if lines:
            self.messages.append(Message(name, given, json.loads("\n".join(lines))))
        return True


def stalled(url: str, *, key: str | None = None) -> socket.socket:
    """A client that asks for the stream and never reads a byte of it."""
    place = urlsplit(url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((place.hostname, place.port))
    bearer = f"Authorization: Bearer {key}\r\n" if key is not None else ""
    request = f"GET /api/events HTTP/1.1\r\nHost: {place.hostname}:{place.port}\r\n{bearer}\r\n"
    connection.sendall(request.encode())
    return connection
