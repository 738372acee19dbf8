"""What the product wrote to SQLite, written once more with nothing above the driver.

While the product runs, every statement that changes something is noted with its values and with the caller whose
savepoint it stood in. The same statements then go to a copy of the store as it was before, on a connection with the
product's own settings, so many callers in one durable transaction. So the reference has each row and each index entry
that the product has, words included, and none of what it took to make them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from codexmem.kernel.store.sqlite import engine
from codexmem.kernel.store.sqlite.library import connect, driver

Written = list[tuple[str, Any]]  # statements with what they bind
_CHANGES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "WITH")


class Writes:
    """What callers have written, one list for each."""

    def __init__(self) -> None:
        self.callers: list[Written] = []

    def note(self, statement: str, values: Any) -> None:
        """One statement that is about to be sent."""
        if statement == "SAVEPOINT member":
            self.callers.append([])
        elif self.callers and statement.lstrip()[:7].upper().startswith(_CHANGES):
            self.callers[-1].append((statement, values))

    def taken(self) -> list[Written]:
        """Those so far, to be noted no longer; callers that wrote nothing left out."""
        found, self.callers = self.callers, []
        return [each for each in found if each]


@contextmanager
def noted() -> Iterator[Writes]:
    """Note what is written on every connection that is made inside the block."""
    writes = Writes()

    class NotingCursor(driver.Cursor):  # type: ignore[misc]
        def execute(self, statement: str, values: Any = ()) -> Any:
            writes.note(statement, values)
            return super().execute(statement, values)

        def executemany(self, statement: str, many: Any) -> Any:
            rows = list(many)
            for values in rows:
                writes.note(statement, values)
            return super().executemany(statement, rows)

    class NotingConnection(driver.Connection):  # type: ignore[misc]
        def cursor(self, factory: Any = NotingCursor) -> Any:
            return super().cursor(factory)

        def execute(self, statement: str, values: Any = ()) -> Any:
            return self.cursor().execute(statement, values)

    def noting(target: str, **options: Any) -> Any:
        return connect(target, **options, factory=NotingConnection)

    with mock.patch.object(engine, "connect", noting):
        yield writes


class Bare:
    """A connection to a copy of the store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = engine.plain_engine(path)
        self._pooled = self._engine.raw_connection()
        self._connection: Any = self._pooled.driver_connection

    def write(self, callers: Sequence[Written], together: int) -> float:
        """Seconds to write this, so many callers in one commit."""
        began = time.perf_counter()
        for start in range(0, len(callers), together):
            self._connection.execute("BEGIN IMMEDIATE")
            for written in callers[start : start + together]:
                for statement, values in written:
                    self._connection.execute(statement, values)
            self._connection.execute("COMMIT")
        return time.perf_counter() - began

    def close(self) -> None:
        """Let go of the file."""
        self._pooled.close()
        self._engine.dispose()
