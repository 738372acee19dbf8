"""Rows of wrappers' audit logs among the events: which are here already. Each is known by its log and its number."""

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import events

_CHUNK = 500


class Audited:
    """Reads audit rows of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def hold(self, log: str) -> None:
        """Let nobody else take in rows of this log until the caller's transaction ends."""
        with self._db.transaction() as tx:
            tx.engine.lock_lane(tx.connection, tx.tenant, f"audit:{log}")

    def hashes(self, subjects: Sequence[str]) -> dict[str, set[str]]:
        """The hashes under which each of these rows is here; more than one if the log was rewritten."""
        found: dict[str, set[str]] = defaultdict(set)
        with self._db.reading() as tx:
            for start in range(0, len(subjects), _CHUNK):
                for row in tx.run(_hashes, subjects=list(subjects[start : start + _CHUNK])):
                    found[row.subject].add((row.payload or {}).get("hash", ""))
        return dict(found)

    def rows(self, subjects: Sequence[str]) -> list[dict[str, object]]:
        """These rows as they were kept, with their ids and when they arrived; costs their number."""
        found: list[dict[str, object]] = []
        with self._db.reading() as tx:
            for start in range(0, len(subjects), _CHUNK):
                rows = tx.run(_rows, subjects=list(subjects[start : start + _CHUNK]))
                found += [{"id": row.id, "received_at_ms": row.at_ms, **(row.payload or {})} for row in rows]
        return found


_e = events.c
_hashes = sa.select(_e.subject, _e.payload).where(
    _e.tenant == ACTING, _e.subject.in_(bindparam("subjects", expanding=True))
)
_rows = sa.select(_e.id, _e.at_ms, _e.payload).where(
    _e.tenant == ACTING, _e.subject.in_(bindparam("subjects", expanding=True))
)
