"""Bytes into lines and lines into JSON objects, without ever failing on what an agent prints.

How the bytes are cut into pieces changes nothing. Memory is bounded by the longest line that is read; a longer one is
skipped, or cut, whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Value = dict[str, object]

LONGEST = 8 << 20


class Lines:
    """Pieces of bytes into lines without their ends; a carriage return before the end belongs to it.

    A line that is too long is left out, or with `cut` handed out in parts of that length.
    """

    def __init__(self, longest: int = LONGEST, *, cut: bool = False) -> None:
        self._longest = longest
        self._cut = cut
        self._held = bytearray()
        self._skipping = False
        self.skipped = 0  # lines that were too long

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The lines that these bytes complete."""
        start = 0
        while start < len(piece):
            end = piece.find(b"\n", start)
            part = piece[start : end if end >= 0 else len(piece)]
            start += len(part) + (end >= 0)
            yield from self._take(part)
            if end >= 0:
                if not self._skipping:
                    yield bytes(self._held).removesuffix(b"\r")
                self._held.clear()
                self._skipping = False

    def close(self) -> Iterator[bytes]:
        """What came after the last end of a line."""
        if self._held and not self._skipping:
            yield bytes(self._held)
        self._held.clear()

    def _take(self, part: bytes) -> Iterator[bytes]:
        if self._skipping:
            return
        self._held += part
        if len(self._held) <= self._longest:
            return
        if not self._cut:
            self._held.clear()
            self._skipping = True
            self.skipped += 1
            return
        while len(self._held) > self._longest:
            yield bytes(self._held[: self._longest])
            del self._held[: self._longest]


def value_of(line: bytes) -> Value | None:
    """The JSON object that a line is, or None."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def line_of(value: Value) -> bytes | None:
    """A JSON object as a line, or None if it holds what JSON cannot say, as a number beyond all bounds."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except (ValueError, RecursionError):
        return None


def text_in(value: Any) -> str:
    """A text as it can be written anywhere; nothing if it is none."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def table_in(value: Any) -> Value:
    """An object; an empty one if it is none."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """A list; an empty one if it is none."""
    return value if isinstance(value, list) else []


def number_in(value: Any) -> int | None:
    """A whole number that is not negative, as a duration is."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
