"""Server-sent events, by the examples and rules of the standard."""

from __future__ import annotations

import pytest

from codexmem.codecli.agents.generic import SseEvent, SseStream


def events(stream: bytes, size: int = 1000, longest: int = 1 << 20) -> list[SseEvent]:
    reading = SseStream(longest)
    return [event for at in range(0, len(stream), size) for event in reading.feed(stream[at : at + size])]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_every_end_of_a_line(end: bytes, size: int) -> None:
    stream = "data: 好\ndata\ndata:  two\n\n: comment\n\nevent: add\ndata: x\nid: 7\n\ndata: y\n\n".encode()
    found = events(b"\xef\xbb\xbf" + stream.replace(b"\n", end), size)
    assert found == [SseEvent("好\n\n two"), SseEvent("x", "add", "7"), SseEvent("y", "message", "7")]


def test_an_event_without_data_or_without_an_end_is_none() -> None:
    assert events(b"event: x\n\nid: 1\n\ndata: cut off\n") == []


def test_fields() -> None:
    assert events(b"retry: 300\ndata: a\n\nretry: 3s\nid: x\0\nfoo: b\ndata: b\n\n") == [
        SseEvent("a", retry_ms=300), SseEvent("b", retry_ms=300)]  # fmt: skip


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_an_event_that_is_too_long_is_left_out(size: int) -> None:
    stream = b"data: " + b"x" * 30 + b"\ndata: more\n\ndata: a\ndata: 12345678901\ndata: 23456789012\n\ndata: fine\n\n"
    assert events(stream, size, longest=20) == [SseEvent("fine")]
