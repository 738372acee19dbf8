"""Answers kept for requests that may come again with the same idempotency key."""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import receipts

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """What was asked, by its hash, and what was answered."""

    body_hash: str
    answer: dict[str, object]


class ReceiptTable:
    """Reads and writes `receipts`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._claim = db.engine.insert(receipts).on_conflict_do_nothing().returning(receipts.c.key)

    def claim(self, route: str, key: str, body_hash: str, now_ms: int) -> StoredReceipt | None:
        """Reserve the key for this transaction, or return the receipt of the request that has it.

        On PostgreSQL a second request waits here until the first has committed or failed.
        """
        with self._db.transaction() as tx:
            claimed = tx.run(
                self._claim, route=route, key=key, body_hash=body_hash, answer={}, subject=None, created_ms=now_ms
            ).first()
            if claimed is not None:
                return None
            row = tx.run(_get, route=route, key=key).one()
            return StoredReceipt(row.body_hash, row.answer)

    def settle(self, route: str, key: str, answer: dict[str, object], subject: str | None) -> None:
        """Put the answer into the reserved receipt."""
        with self._db.transaction() as tx:
            tx.run(_settle, of_route=route, of_key=key, answer=answer, subject=subject)

    def prune(self, before_ms: int, limit: int) -> int:
        """Remove the oldest receipts, at most so many at a time."""
        with self._db.transaction() as tx:
            return tx.run(_prune, before_ms=before_ms, limit=limit).rowcount

    def drop(self, subjects: Sequence[str]) -> None:
        """Forget answers about things that are forgotten."""
        with self._db.transaction() as tx:
            for start in range(0, len(subjects), _CHUNK):
                tx.run(_drop, subjects=list(subjects[start : start + _CHUNK]))


_r = receipts.c
_get = sa.select(_r.body_hash, _r.answer).where(
    _r.tenant == ACTING, _r.route == bindparam("route"), _r.key == bindparam("key")
)
_settle = (
    sa.update(receipts)
    .where(_r.tenant == ACTING, _r.route == bindparam("of_route"), _r.key == bindparam("of_key"))
    .values(answer=bindparam("answer"), subject=bindparam("subject"))
)
_oldest = (
    sa.select(_r.route, _r.key)
    .where(_r.tenant == ACTING, _r.created_ms < bindparam("before_ms"))
    .order_by(_r.created_ms)
    .limit(bindparam("limit"))
)
_prune = sa.delete(receipts).where(_r.tenant == ACTING, sa.tuple_(_r.route, _r.key).in_(_oldest))
_drop = sa.delete(receipts).where(_r.tenant == ACTING, _r.subject.in_(bindparam("subjects", expanding=True)))
