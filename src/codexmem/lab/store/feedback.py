"""Feedback in its tables: one row per run, arbitrated by the database, and its measured products."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import feedback, feedback_products, products
from codexmem.lab.model import Feedback, Share, Shelved

_WORDS = ("score", "pros", "cons", "other", "updated_ms", "schema_version", "extra")


class FeedbackTable:
    """Reads and writes the acting tenant's `feedback`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        made = db.engine.insert(feedback)
        self._save = made.on_conflict_do_update(
            index_elements=["tenant", "run_id"], set_={name: made.excluded[name] for name in _WORDS}
        ).returning(feedback.c.id)

    def of_run(self, run_id: str) -> Feedback | None:
        """The feedback on a run."""
        with self._db.reading() as tx:
            row = tx.run(_of_run, run=run_id).mappings().first()
            if row is None:
                return None
            shares = tuple(_share(each) for each in tx.run(_shares, feedback=row["id"]).mappings())
        return Feedback(**{name: row[name] for name in ("id", "run_id", "created_ms", *_WORDS)}, products=shares)

    def save(self, given: Feedback) -> None:
        """Store it in the place of what the run had; then the first one's id and time stay, and those of products that
        are measured again."""
        with self._db.transaction() as tx:
            words = {name: getattr(given, name) for name in ("id", "run_id", "created_ms", *_WORDS)}
            # Whoever comes second waits here for the first, and then replaces what that one wrote.
            kept = str(tx.run(self._save, **words).scalar_one())
            ids = {row.product_id: row.id for row in tx.run(_ids, feedback=kept)}
            tx.run(_clear, feedback=kept)
            tx.add(feedback_products, *_rows(given, kept, ids))


def _rows(given: Feedback, feedback_id: str, ids: dict[str, str]) -> list[dict[str, object]]:
    return [
        {"id": ids.get(each.product_id, each.id), "feedback_id": feedback_id, "place": place,
         "product_id": each.product_id, "value": each.value, "fraction": each.fraction}
        for place, each in enumerate(given.products, 1)
    ]  # fmt: skip


def _share(row: Any) -> Share:
    return Share(row["id"], row["product_id"], row["name"], Shelved(row["status"]), row["value"], row["fraction"])


_f, _m, _p = feedback.c, feedback_products.c, products.c
_of_run = sa.select(feedback).where(_f.tenant == ACTING, _f.run_id == bindparam("run"))
_shares = (
    sa.select(_m.id, _m.product_id, _p.name, _p.status, _m.value, _m.fraction)
    .join(products, sa.and_(_p.tenant == _m.tenant, _p.id == _m.product_id))
    .where(_m.tenant == ACTING, _m.feedback_id == bindparam("feedback"))
    .order_by(_m.place)
)
_ids = sa.select(_m.product_id, _m.id).where(_m.tenant == ACTING, _m.feedback_id == bindparam("feedback"))
_clear = sa.delete(feedback_products).where(_m.tenant == ACTING, _m.feedback_id == bindparam("feedback"))
