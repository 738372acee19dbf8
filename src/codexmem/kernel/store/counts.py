"""How much there is: memories by kind, jobs that wait, and the size of a file.

Counting reads an index from end to end, so whoever shows these figures keeps them for a while.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import VISIBLE, Kind
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import jobs, memories

MOST = 10_000  # counting jobs stops here
_SIZE = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"


class Figures:
    """Counts what the acting tenant has."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def memories(self, kinds: Sequence[Kind]) -> dict[Kind, int]:
        """How many visible memories there are of each kind."""
        statuses = [status.value for status in VISIBLE]
        with self._db.reading() as tx:
            return {kind: tx.run(_memories, kind=kind.value, statuses=statuses).scalar_one() for kind in kinds}

    def some(self, kinds: Sequence[Kind], project: str | None, *, most: int) -> int:
        """How many visible memories of these kinds there are, of a project if one is given; `most` means at least."""
        statuses, count = [status.value for status in VISIBLE], 0
        with self._db.reading() as tx:
            for kind in kinds:
                given = {"kind": kind.value, "statuses": statuses, "most": most - count}
                found = tx.run(_any, **given) if project is None else tx.run(_any_of, **given, project=project)
                count += found.scalar_one()
        return count

    def stored(self, *, most: int) -> int:
        """How many memories there are of every kind, put away or not, counted up to `most`."""
        with self._db.reading() as tx:
            return int(tx.run(_stored, most=most).scalar_one())

    def unfinished(self, kinds: Sequence[str]) -> int:
        """How many jobs of these kinds wait or run; `MOST` means that many or more."""
        with self._db.reading() as tx:
            count: int = tx.run(_unfinished, kinds=list(kinds), most=MOST).scalar_one()
            return count

    def size(self) -> int | None:
        """Bytes of the store's file; None on a server, where tenants share one database."""
        if self._db.engine.name != "sqlite":
            return None
        with self._db.reading() as tx:
            return int(tx.connection.exec_driver_sql(_SIZE).scalar_one())


_memories = sa.select(sa.func.count()).where(
    memories.c.tenant == ACTING, memories.c.kind == bindparam("kind"),
    memories.c.status.in_(bindparam("statuses", expanding=True)),
)  # fmt: skip
_seen = (
    sa.select(memories.c.seq)
    .where(memories.c.tenant == ACTING, memories.c.kind == bindparam("kind"),
           memories.c.status.in_(bindparam("statuses", expanding=True)))
    .limit(bindparam("most"))
)  # fmt: skip
_any = sa.select(sa.func.count()).select_from(_seen.subquery())
_any_of = sa.select(sa.func.count()).select_from(
    _seen.where(memories.c.project == bindparam("project")).subquery()
)  # fmt: skip
_stored = sa.select(sa.func.count()).select_from(
    sa.select(memories.c.seq).where(memories.c.tenant == ACTING).limit(bindparam("most")).subquery()
)
_some = (
    sa.select(jobs.c.id)
    .where(jobs.c.tenant == ACTING, jobs.c.status.in_(("queued", "running")),
           jobs.c.kind.in_(bindparam("kinds", expanding=True)))
    .limit(bindparam("most"))
)  # fmt: skip
_unfinished = sa.select(sa.func.count()).select_from(_some.subquery())
