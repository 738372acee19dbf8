"""What the clients know, kept outside the server: which writes were tried, which were acknowledged, which are unknown.

A write is tried before it is sent and acknowledged after its 2xx has been read. What was sent and not answered is
unknown: it may or may not have happened, and is sent again with the same idempotency key until it is answered. The
file is the record; the dictionaries are its index.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Entry:
    """One write as its client sees it."""

    key: str
    text: str
    tries: int = 0
    id: int | None = None  # what the server answered

    @property
    def hash(self) -> str:
        """Of the text."""
        return digest(self.text)


def digest(text: str) -> str:
    """The hash by which texts are compared."""
    return hashlib.sha256(text.encode()).hexdigest()


class Ledger:
    """One run's record; used by many threads."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lock = threading.Lock()
        self._open: deque[Entry] = deque()
        self.acknowledged: dict[str, Entry] = {}
        self.order: list[Entry] = []  # acknowledged entries, oldest first
        self.resolved = 0  # acknowledged at a later try than the first
        self.refused: list[str] = []
        self.contradictions: list[str] = []  # one key answered with two ids, or one id for two keys
        self._ids: dict[int, str] = {}
        self._in_flight = 0

    def next_open(self) -> Entry | None:
        """An entry whose fate is unknown, to be sent again."""
        with self._lock:
            return self._open.popleft() if self._open else None

    @property
    def unknown(self) -> int:
        """How many entries wait for an answer."""
        with self._lock:
            return len(self._open)

    @property
    def settled(self) -> bool:
        """Whether nothing is unknown and nothing under way."""
        with self._lock:
            return not self._open and not self._in_flight

    def tried(self, entry: Entry) -> None:
        """About to be sent."""
        with self._lock:
            self._in_flight += 1
        entry.tries += 1
        self._write(f"TRY {entry.key} {entry.hash}\n")

    def unanswered(self, entry: Entry) -> None:
        """Sent, perhaps; nobody knows."""
        with self._lock:
            self._in_flight -= 1
            self._open.append(entry)

    def answered(self, entry: Entry, id: int) -> None:
        """A 2xx was read."""
        self._write(f"ACK {entry.key} {id} {entry.hash}\n")
        with self._lock:
            self._in_flight -= 1
            if entry.id is not None and entry.id != id:
                self.contradictions.append(f"{entry.key} was answered with #{entry.id} and with #{id}")
            if self._ids.setdefault(id, entry.key) != entry.key:
                self.contradictions.append(f"#{id} was given to {entry.key} and to {self._ids[id]}")
            if entry.key not in self.acknowledged:
                entry.id = id
                self.acknowledged[entry.key] = entry
                self.order.append(entry)
                self.resolved += entry.tries > 1

    def rejected(self, entry: Entry, why: str) -> None:
        """The server said that it will not do it."""
        self._write(f"REFUSED {entry.key} {entry.hash}\n")
        with self._lock:
            self._in_flight -= 1
            self.refused.append(f"{entry.key}: {why}"[:300])

    def sync(self) -> None:
        """Make the record itself durable."""
        os.fsync(self._file)

    def close(self) -> None:
        """No more is written."""
        os.close(self._file)

    def _write(self, line: str) -> None:
        os.write(self._file, line.encode())
