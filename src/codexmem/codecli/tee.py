"""A bounded copy of what passed: how it began and how it ended. Whatever an agent prints, it does not grow."""

from __future__ import annotations

import threading
from collections import deque

MOST = 1 << 20
_SMALL = 1 << 12  # pieces up to this size are joined, so that single bytes do not cost a hundred each
GAP = b"\n[... %d bytes left out ...]\n"


class Ring:
    """Keeps the first half of its size and the last; what is between is counted. Any thread may add.

    Adding costs the same whatever has passed: pieces are kept as they are and old ones let go whole.
    """

    def __init__(self, most: int = MOST) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._head_left = most // 2
        self._tail: deque[bytes] = deque()
        self._tail_most = most - most // 2
        self._tail_held = 0
        self.passed = 0

    def add(self, piece: bytes) -> None:
        """These bytes passed."""
        with self._lock:
            self.passed += len(piece)
            if self._head_left:
                part = piece[: self._head_left]
                self._head += part
                self._head_left -= len(part)
                piece = piece[len(part) :]
            if piece:
                piece = piece[-self._tail_most :]
                if self._tail and len(self._tail[-1]) + len(piece) <= _SMALL:
                    self._tail[-1] += piece
                else:
                    self._tail.append(piece)
                self._tail_held += len(piece)
                while self._tail_held - len(self._tail[0]) >= self._tail_most:
                    self._tail_held -= len(self._tail.popleft())

    def content(self) -> bytes:
        """What is kept, with a line that says how much is not."""
        with self._lock:
            head, tail = bytes(self._head), b"".join(self._tail)[-self._tail_most :]
            left_out = self.passed - len(head) - len(tail)
        return head + (GAP % left_out if left_out else b"") + tail

    def text(self) -> str:
        """As text; what is none becomes a mark."""
        return self.content().decode("utf-8", "replace")


class BoundedText:
    """A bounded text that comes in deltas: how it began and how it ended."""

    def __init__(self, most: int = 256 << 10) -> None:
        self._ring = Ring(most)

    def add(self, delta: str) -> None:
        """This was said."""
        self._ring.add(delta.encode("utf-8", "replace"))

    def text(self) -> str:
        """All that is kept of it."""
        return self._ring.text()
