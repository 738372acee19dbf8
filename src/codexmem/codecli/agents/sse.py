"""Server-sent events as the HTML standard defines them, out of pieces of bytes that end anywhere.

Lines end with a line feed, a carriage return or both; an event ends with an empty line; one that is cut off at the end
of the stream is none. An event longer than the limit is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codexmem.codecli.agents.json_lines import LONGEST

_MARK = b"\xef\xbb\xbf"  # of byte order


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event."""

    data: str
    name: str = "message"
    last_id: str = ""
    retry_ms: int | None = None  # what the stream last said about waiting before another attempt


class SseStream:
    """The events of one stream."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._line = bytearray()
        self._after_return = False
        self._begun = False
        self._data: list[str] = []
        self._held = 0
        self._cut = False  # within a line that is too long
        self._too_long = False  # within an event that is left out
        self._name = ""
        self._last_id = ""
        self._retry_ms: int | None = None
        self.skipped = 0  # events that were left out

    def feed(self, piece: bytes) -> Iterator[SseEvent]:
        """The events that these bytes complete."""
        start = 0
        while start < len(piece):
            if self._after_return and piece[start] == 0x0A:
                start += 1
                self._after_return = False
                continue
            self._after_return = False
            ends = [at for at in (piece.find(b"\n", start), piece.find(b"\r", start)) if at >= 0]
            end = min(ends, default=len(piece))
            self._grow(piece[start:end])
            start = end + 1
            if end < len(piece):
                self._after_return = piece[end] == 0x0D
                yield from self._ended()

    def _grow(self, part: bytes) -> None:
        if len(self._line) + len(part) > self._longest:
            self._too_long = self._cut = True
            self._data = []
            self._line.clear()
        elif not self._cut:
            self._line += part

    def _ended(self) -> Iterator[SseEvent]:
        whole = bytes(self._line)
        self._line.clear()
        if not self._begun:
            self._begun = True
            whole = whole.removeprefix(_MARK)
        if self._cut:
            self._cut = False  # the end of a line that was too long, and no end of an event
        elif whole:
            self._field(whole.decode("utf-8", "replace"))
        else:
            self.skipped += self._too_long
            if self._data and not self._too_long:
                yield SseEvent("\n".join(self._data), self._name or "message", self._last_id, self._retry_ms)
            self._data, self._held, self._name, self._too_long = [], 0, "", False

    def _field(self, line: str) -> None:
        name, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if colon and not name:
            return  # a comment
        if name == "data":
            self._held += len(value) + 1
            if self._held > self._longest:
                self._too_long, self._data = True, []
            elif not self._too_long:
                self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._last_id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) < 10:
            self._retry_ms = int(value)
