"""Looks after the files of a store that a process keeps open.

The write-ahead log is moved into the file once a minute, and when nothing was written for a while it is also cut short:
whoever loses the log then loses little. When the log was removed under us, what it held is still open here and is moved
into the file at once. The file's structure is checked once, in the background, for a bounded time.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from codexmem.kernel.model import ids
from codexmem.kernel.store.sqlite.condition import LEAST_FREE, Condition
from codexmem.kernel.store.sqlite.library import driver

LOOK_S = 5.0
CHECKPOINT_S = 60.0  # while writing goes on
RESCUE_S = 10.0  # how long those who read an older state are waited for
_RESCUE_PAUSE_S = 0.01
KEPT_LOG_BYTES = 4 << 20  # a log of this size is left for the next writes to use again
CHECK_S = 60.0
_CHECK_STEPS = 100_000  # of SQLite's machine, between looks at the clock

_log = logging.getLogger(__name__)

_Mark = tuple[int, int]  # size, and when it was last written


class SqliteUpkeep:
    """One thread that looks now and then, and one that checks the file once."""

    def __init__(self, path: Path, condition: Condition, *, connect: Callable[[bool], Any],
                 write: Callable[[], None], look_s: float = LOOK_S) -> None:  # fmt: skip
        self._wal = Path(f"{path}-wal")
        self._condition = condition
        self._connect = connect  # reading only, or not
        self._write = write  # writes something small
        self._look_s = look_s
        # Open from the beginning: one that is opened after the log was removed sees another log.
        self._connection = connect(False)
        self._connection.execute("PRAGMA busy_timeout=0")
        condition.rescue = self.rescue
        self._lock = threading.Lock()
        self._lost = False  # whether a removed log still holds pages that the file has not
        self._seen: _Mark | None = None  # how the log was at the last look
        self._moved: _Mark | None = None  # and when all of it was in the file
        self._checkpointed = ids.monotonic()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name="codexmem-store", daemon=True),
            threading.Thread(target=self._check, name="codexmem-store-check", daemon=True),
        ]

    def start(self) -> None:
        """Begin to look."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Look no more."""
        self._stopping.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        with self._lock:
            self._connection.close()

    def rescue(self) -> None:
        """Move all that an unlinked log holds into the file.

        Half of a log in the file is worse than none, so those who read an older state, and thereby hold its later pages
        back, are waited for, and whoever moves pages just now.
        """
        with self._lock:
            until = ids.monotonic() + RESCUE_S
            while (left := self._left()) and ids.monotonic() < until:
                threading.Event().wait(_RESCUE_PAUSE_S)
            self._lost = bool(left)
        (_log.error if left else _log.warning)("%d pages of the removed log are not in the store's file", left)

    def _left(self) -> int:
        """Move what can be moved just now; how many pages are left, at least one while that is not known."""
        try:
            busy, there, moved = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except driver.Error:
            _log.debug("the removed log could not be read just now", exc_info=True)
            return 1
        return int(there - moved) or int(busy)

    def look(self) -> None:
        """One look: the files, the room, the log."""
        condition = self._condition
        if (condition.broken is None or self._lost) and condition.files_lost():
            return
        if condition.broken is not None:
            return
        if condition.full and condition.free() >= LEAST_FREE:
            self._write()
        log = self._mark()
        quiet = log == self._seen
        self._seen = log
        if log != self._moved and (quiet or ids.monotonic() - self._checkpointed >= CHECKPOINT_S):
            self._checkpoint(shorten=quiet)

    def _mark(self) -> "_Mark":
        found = self._wal.stat()
        return found.st_size, found.st_mtime_ns

    def _checkpoint(self, *, shorten: bool) -> None:
        with self._lock:
            log = self._mark()
            busy, there, moved = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            self._checkpointed = ids.monotonic()
            if busy or there != moved:
                return  # somebody reads an older state; the next look tries again
            if shorten and log[0] > KEPT_LOG_BYTES:
                busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                log = self._mark()
            if not busy and (shorten or log[0] <= KEPT_LOG_BYTES):
                self._moved = log

    def _run(self) -> None:
        while not self._stopping.wait(self._look_s):
            try:
                self.look()
            except Exception as error:
                if self._condition.noticed(error) is None:
                    _log.warning("the store's files could not be looked after; trying again", exc_info=True)

    def _check(self) -> None:
        until = ids.monotonic() + CHECK_S
        try:
            with closing(self._connect(True)) as connection:
                connection.set_progress_handler(
                    lambda: self._stopping.is_set() or ids.monotonic() > until, _CHECK_STEPS
                )
                found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        except driver.Error as error:
            if self._condition.noticed(error) is None:
                _log.info("the store's file was not checked whole (%s); codexmem doctor checks it", error)
        else:
            if found != "ok":
                self._condition.damaged(found)
