"""The journals of runs in their table: each step once, in order, with its result. Rows are added, never changed."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import run_steps


class Steps:
    """Reads and writes `run_steps`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, run_id: str, number: int, key: str, result: dict[str, Any], *, at_ms: int) -> None:
        """Record a step; a Conflict if the run has one of this key or number."""
        with self._db.transaction() as tx:
            tx.add(run_steps, {"run_id": run_id, "number": number, "key": key, "result": result, "at_ms": at_ms})

    def result(self, run_id: str, key: str) -> dict[str, Any] | None:
        """What a step gave; None if it was not done."""
        with self._db.reading() as tx:
            found: dict[str, Any] | None = tx.run(_result, run=run_id, key=key).scalar()
            return found

    def keys(self, run_id: str, *, after: int, limit: int) -> list[tuple[int, str]]:
        """Numbers and keys of a run's steps, in order."""
        with self._db.reading() as tx:
            return [(row.number, row.key) for row in tx.run(_keys, run=run_id, after=after, limit=limit)]


_s = run_steps.c
_result = sa.select(_s.result).where(_s.tenant == ACTING, _s.run_id == bindparam("run"), _s.key == bindparam("key"))
_keys = (
    sa.select(_s.number, _s.key)
    .where(_s.tenant == ACTING, _s.run_id == bindparam("run"), _s.number > bindparam("after"))
    .order_by(_s.number)
    .limit(bindparam("limit"))
)
