"""Which sessions were told which memories, and when first; and which of them they opened.

One row for each pair, whoever told it how often: it answers whom something could have reached, not how much was read.
"""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import VISIBLE, Kind
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, memory_tellings

_CHUNK = 500


class Tellings:
    """Reads and writes `memory_tellings`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        told = db.engine.insert(memory_tellings)
        self._tell = told.on_conflict_do_nothing()
        self._open = told.on_conflict_do_update(
            index_elements=list(memory_tellings.primary_key),
            set_={"opened_ms": sa.func.coalesce(_t.opened_ms, told.excluded.opened_ms)},
        )

    def tell(self, session: str, seqs: Sequence[int], *, at_ms: int, opened: bool = False) -> None:
        """The session was told these memories, and with `opened` asked for them; what is known stays as it is.

        Two statements for hundreds.
        """
        statement, more = (self._open, {"opened_ms": at_ms}) if opened else (self._tell, {})
        with self._db.transaction() as tx:
            for start in range(0, len(seqs), _CHUNK):
                # What was erased a moment ago was told, too, but there is nothing left that it could lead to.
                there = tx.run(_there, seqs=list(seqs[start : start + _CHUNK])).scalars().all()
                rows = [{"session": session, "seq": seq, "first_ms": at_ms, **more} for seq in there]
                tx.run_many(statement, rows)

    def told(self, session: str, *, limit: int) -> list[tuple[int, int]]:
        """Numbers of memories that the session was told, and when, the latest first."""
        with self._db.reading() as tx:
            return [(row.seq, row.first_ms) for row in tx.run(_told, session=session, limit=limit)]

    def counts(self, session: str, kinds: Collection[Kind], *, most: int) -> tuple[int, int, int]:
        """How many memories the session was told, how many of them it opened, and how many of these kinds it left that
        still stand; each counted up to `most` in an index.
        """
        with self._db.reading() as tx:
            row = tx.run(_counts, session=session, most=most).one()
            left = tx.run(_left, session=session, kinds=sorted(kinds), most=most).scalar_one()
            return row.told, row.opened, left

    def sessions(self, seqs: Sequence[int], *, limit: int) -> dict[str, int]:
        """The sessions that were told any of these, and when first, the earliest first; some hundreds at a time."""
        found: dict[str, int] = {}
        with self._db.reading() as tx:
            for start in range(0, len(seqs), _CHUNK):
                for row in tx.run(_sessions, seqs=list(seqs[start : start + _CHUNK]), limit=limit):
                    found[row.session] = min(row.first, found.get(row.session, row.first))
        ordered = sorted(found.items(), key=lambda pair: pair[1])
        return dict(ordered[:limit])

    def prune(self, *, before_ms: int, limit: int) -> int:
        """Remove some of the oldest; returns how many went."""
        with self._db.transaction() as tx:
            return tx.run(_prune, before_ms=before_ms, limit=limit).rowcount


_t = memory_tellings.c
_there = sa.select(memories.c.seq).where(
    memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True))
)
_told = (
    sa.select(_t.seq, _t.first_ms)
    .where(_t.tenant == ACTING, _t.session == bindparam("session"))
    .order_by(_t.first_ms.desc(), _t.seq.desc())
    .limit(bindparam("limit"))
)
_own = (
    sa.select(_t.opened_ms)
    .where(_t.tenant == ACTING, _t.session == bindparam("session"))
    .limit(bindparam("most"))
    .subquery()
)
_counts = sa.select(sa.func.count().label("told"), sa.func.count(_own.c.opened_ms).label("opened")).select_from(_own)
_left = sa.select(sa.func.count()).select_from(
    sa.select(memories.c.seq)
    .where(
        memories.c.tenant == ACTING,
        memories.c.session == bindparam("session"),
        memories.c.kind.in_(bindparam("kinds", expanding=True)),
        memories.c.status.in_(sorted(VISIBLE)),
    )
    .limit(bindparam("most"))
    .subquery()
)
_sessions = (
    sa.select(_t.session, sa.func.min(_t.first_ms).label("first"))
    .where(_t.tenant == ACTING, _t.seq.in_(bindparam("seqs", expanding=True)))
    .group_by(_t.session)
    .order_by(sa.text("first"))
    .limit(bindparam("limit"))
)
_oldest = (
    sa.select(_t.session, _t.seq)
    .where(_t.tenant == ACTING, _t.first_ms < bindparam("before_ms"))
    .order_by(_t.first_ms)
    .limit(bindparam("limit"))
)
_prune = sa.delete(memory_tellings).where(_t.tenant == ACTING, sa.tuple_(_t.session, _t.seq).in_(_oldest))
