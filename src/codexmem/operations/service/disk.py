"""How much room a folder takes on the disk, looked up now and then and only so far."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.model import ids

MOST_FILES = 20_000  # looked at; with more than that the figure is "at least"
KEPT_S = 30.0


@dataclass(frozen=True, slots=True)
class Room:
    """What a data directory takes."""

    total: int
    backups: int
    truncated: bool  # there are so many files that only some were counted


class Disk:
    """Measures one data directory; links are not followed, and what vanishes meanwhile counts as nothing."""

    def __init__(self, folder: Path, backups: str, *, now_s: Callable[[], float] = ids.monotonic,
                 most: int = MOST_FILES) -> None:  # fmt: skip
        self._folder = folder
        self._backups = backups
        self._now_s = now_s
        self._most = most
        self._lock = threading.Lock()
        self._kept: tuple[float, Room] | None = None

    def room(self) -> Room:
        """As it was at most half a minute ago."""
        with self._lock:
            now = self._now_s()
            if self._kept is None or now - self._kept[0] >= KEPT_S:
                self._kept = (now, self._measured())
            return self._kept[1]

    def _measured(self) -> Room:
        total = backups = seen = 0
        waiting: list[tuple[str, bool]] = [(str(self._folder), False)]
        while waiting:
            folder, inside = waiting.pop()
            for entry in _entries(folder):
                seen += 1
                if seen > self._most:
                    return Room(total, backups, truncated=True)
                within = inside or (folder == str(self._folder) and entry.name == self._backups)
                try:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, within))
                        continue
                    size = entry.stat(follow_symlinks=False).st_size
                except OSError:
                    continue
                total += size
                backups += size if within else 0
        return Room(total, backups, truncated=False)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
