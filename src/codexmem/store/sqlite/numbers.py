"""Numbers that are never given twice, counted in memory and written once per group commit.

Safe because one process owns the file (`lock.py`) and one connection writes. A caller that fails leaves a gap; a group
that fails forgets what was counted and reads the table again.
"""

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from codexmem.store.schema import counters

_read = sa.select(counters.c.value).where(
    counters.c.tenant == sa.bindparam("tenant"), counters.c.name == sa.bindparam("name")
)
_write = sqlite.insert(counters)
_write = _write.on_conflict_do_update(index_elements=["tenant", "name"], set_={"value": _write.excluded.value})


class Numbers:
    """The counters of one file; used by the holder of the writing connection only."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], int] = {}
        self._changed: set[tuple[str, str]] = set()

    def next(self, connection: sa.Connection, tenant: str, name: str) -> int:
        """The next number of this counter."""
        key = (tenant, name)
        if key not in self._values:
            self._values[key] = connection.execute(_read, {"tenant": tenant, "name": name}).scalar() or 0
        self._values[key] += 1
        self._changed.add(key)
        return self._values[key]

    def write(self, connection: sa.Connection) -> None:
        """Store what was counted, inside the transaction that is about to commit."""
        if self._changed:
            rows = [{"tenant": t, "name": n, "value": self._values[t, n]} for t, n in sorted(self._changed)]
            connection.execute(_write, rows)
            self._changed.clear()

    def forget(self) -> None:
        """What was counted did not commit."""
        self._values.clear()
        self._changed.clear()
