"""What is known to be wrong with the files of an open store.

A file that was damaged, or removed or replaced while it is open, stays so until the store is opened again: nothing more
is written to it. A full disk passes. Everything here is a few system calls at most, so that a commit can afford it.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from codexmem.kernel.model.errors import CodexmemError, StorageFull, Unavailable
from codexmem.kernel.store.sqlite.library import driver

LEAST_FREE = 1 << 20  # bytes; with less than that the next request may not fit
_CORRUPT, _NO_DATABASE, _CORRUPT_INDEX = 11, 26, 267  # SQLite's numbers of errors
_NAMES = ("file", "write-ahead log", "shared memory")

_log = logging.getLogger(__name__)


class Condition:
    """Whether the store's files can be trusted and written."""

    def __init__(self, path: Path) -> None:
        self._folder = str(path.parent)
        self._paths = tuple(f"{path}{suffix}" for suffix in ("", "-wal", "-shm"))
        self._opened: list[tuple[int, int] | None] | None = None
        self._broken: tuple[str, str, dict[str, str]] | None = None  # message, hint and details
        self.full = False  # the last attempt to write failed for want of room
        self.rescue: Callable[[], None] = lambda: None  # moves what a removed log holds into the file

    @property
    def remembered(self) -> bool:
        """Whether it is known which files were opened: they need not be there before the first commit."""
        return self._opened is not None

    def files_changed(self) -> list[str]:
        """Which files are no longer the ones that are open; the first look remembers which ones those are."""
        found = [_identity(path) for path in self._paths]
        if self._opened is None:
            self._opened = found
        if found == self._opened:
            return []
        return [name for name, now, then in zip(_NAMES, found, self._opened, strict=True) if now != then]

    def files_lost(self) -> bool:
        """Whether files were removed or replaced; what a removed log holds is in the file before anybody is told."""
        if not (changed := self.files_changed()):
            return False
        self.rescue()
        self._break(
            f"the store's {' and '.join(changed)} was removed or replaced while the server had it open: "
            "nothing is written any more",
            "restart the server (codexmem stop, codexmem start), and keep cleaners and sync tools out of its directory",
            {"reason": "store_replaced"},
        )
        return True

    def noticed(self, error: BaseException | None) -> CodexmemError | None:
        """What a driver's error says about the files; None if nothing."""
        code, text = getattr(error, "sqlite_errorcode", None), str(error)
        if code == _CORRUPT_INDEX:
            hint = "codexmem index rebuild makes it anew"
            return Unavailable("the full-text index is damaged", hint=hint, details={"reason": "words_damaged"})
        damaged = code is not None and code & 0xFF in {_CORRUPT, _NO_DATABASE}
        full = isinstance(error, driver.OperationalError) and ("disk is full" in text or "disk I/O error" in text)
        # Whoever opens the store after its log was removed finds another log, and reads there what nobody wrote.
        if (damaged or full) and self.remembered and self.files_lost():
            return self.broken
        if damaged:
            self.damaged(text)
            return self.broken
        if full:
            self.full = True
            return StorageFull("the disk that holds the store is full or failing", hint="free some space and try again")
        return None

    def damaged(self, problem: str) -> None:
        """The file's structure is damaged."""
        self._break(
            "the store's file is damaged: nothing is written to it any more",
            "codexmem doctor says more; stop the server, then restore a backup with codexmem restore",
            {"reason": "store_damaged"},
            problem,
        )

    def trouble(self) -> str | None:
        """Why requests would fail, None if nothing is known."""
        if self._broken is not None:
            return self._broken[0]
        if self.full or self.free() < LEAST_FREE:
            return "the disk that holds the store is full: memories can be read, not written"
        return None

    def free(self) -> int:
        """Bytes that are left on the disk."""
        try:
            left = os.statvfs(self._folder)
        except OSError:
            return 0
        return left.f_bavail * left.f_frsize

    @property
    def broken(self) -> Unavailable | None:
        """Why nothing may be written until the store is opened again; a new error each time, because each is raised."""
        if self._broken is None:
            return None
        message, hint, details = self._broken
        return Unavailable(message, hint=hint, details=dict(details))

    def _break(self, message: str, hint: str, details: dict[str, str], problem: str = "") -> None:
        if self._broken is None:
            _log.error("%s%s", message, f" ({problem})" if problem else "")
            self._broken = (message, hint, details)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  (with every commit, and Path takes as long again)
    except OSError:
        return None
    return found.st_dev, found.st_ino
