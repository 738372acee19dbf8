"""Learnings over all runs: their jobs, their deltas, and what was written after them.

Pages go by a job's number or a delta's (created_ms, id), newest first; each reads an index of learnings alone, in the
order of the page and no further than its own length, or, for deltas of one status, a bounded number.

How many lessons there are, counted in an index and only so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.history import Delta, DeltaStatus, Op
from codexmem.kernel.model.job import Job, JobStatus
from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.store import rows
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.jobs import FIELDS, to_job
from codexmem.kernel.store.schema import deltas, jobs, memories, memory_facets, memory_versions
from codexmem.kernel.store.schema.system import LEARNINGS, OF_A_RUN

LOOKED_THROUGH = 2_000  # deltas that one page of those of a status reads, at most
MOST_LATER = 500  # writes after a delta that are told, of all its lessons together

Below = tuple[int, str]  # time and id of the last delta of the page before


@dataclass(frozen=True, slots=True)
class LaterWrite:
    """A version that came after those of a delta."""

    seq: int
    version: int
    op: Op
    actor: str
    created_ms: int
    delta: str | None


class LearningTable:
    """Reads jobs and deltas of the acting tenant's learnings."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def jobs(self, *, status: JobStatus | None, below: int | None, limit: int) -> list[Job]:
        """Jobs that learn, newest first."""
        place = {"below": below if below is not None else 2**62, "limit": limit}
        with self._db.reading() as tx:
            found = tx.run(_jobs, **place) if status is None else tx.run(_jobs_of, **place, status=status.value)
            return [to_job(row) for row in found.mappings()]

    def deltas(self, *, subject: str | None, status: DeltaStatus | None, below: Below | None,
               limit: int) -> tuple[list[Delta], Below | None]:  # fmt: skip
        """Deltas of runs, or of one, newest first; and where the next page starts.

        Of one status a page looks through a bounded number and may be short although there is a next one.
        """
        created_ms, delta_id = below or (2**62, "")
        place = {"ms": created_ms, "id": delta_id, **({"subject": subject} if subject else {})}
        listing = _OF_ONE if subject else _OF_RUNS
        with self._db.reading() as tx:
            if status is None:
                found = tx.run(listing.all, **place, limit=limit + 1)
            else:
                found = tx.run(listing.some, **place, limit=limit + 1, status=status.value, looked=LOOKED_THROUGH)
            page = [rows.delta(row) for row in found.mappings()]
            if len(page) > limit:
                return page[:limit], (page[limit - 1].created_ms, page[limit - 1].id)
            last = tx.run(listing.last, **place, looked=LOOKED_THROUGH).first() if status is not None else None
        return page, (last.created_ms, last.id) if last is not None else None

    def ops(self, delta_ids: Sequence[str]) -> dict[str, dict[Op, int]]:
        """What each of these deltas did, by kind of write."""
        found: dict[str, dict[Op, int]] = {}
        if not delta_ids:
            return found
        with self._db.reading() as tx:
            for row in tx.run(_ops, ids=list(delta_ids)):
                found.setdefault(row.delta_id, {})[Op(row.op)] = int(row.total)
        return found

    def later(self, delta_id: str, *, limit: int = MOST_LATER) -> list[LaterWrite]:
        """Writes to a delta's lessons that came after its own, the newest of each lesson first."""
        with self._db.reading() as tx:
            return [
                LaterWrite(row.seq, row.version, Op(row.op), row.actor, row.created_ms, row.delta_id)
                for row in tx.run(_later, delta=delta_id, limit=limit)
            ]


_j, _d, _v = jobs.c, deltas.c, memory_versions.c
# In the very words of the partial indexes, or no planner would use them.
_jobs = (
    sa.select(*(_j[name] for name in FIELDS))
    .where(_j.tenant == ACTING, sa.text(f"jobs.{LEARNINGS}"), _j.id < bindparam("below"))
    .order_by(_j.id.desc())
    .limit(bindparam("limit"))
)
_jobs_of = _jobs.where(_j.status == bindparam("status"))
_ms, _id = sa.cast(bindparam("ms"), sa.BigInteger), sa.cast(bindparam("id"), sa.Text)
_newest = (
    sa.select(deltas)
    # The end as well: SQLite finds its beginning in the index by that, and not by a pair.
    .where(_d.tenant == ACTING, _d.created_ms <= _ms, sa.tuple_(_d.created_ms, _d.id) < sa.tuple_(_ms, _id))
    .order_by(_d.created_ms.desc(), _d.id.desc())
)


class _Listing:
    """The statements of one list: a page, a page of one status, and the last delta that such a page looked at."""

    def __init__(self, which: sa.ColumnElement[bool] | sa.TextClause) -> None:
        newest = _newest.where(which)
        near = newest.limit(bindparam("looked")).subquery()
        self.all = newest.limit(bindparam("limit"))
        self.some = (
            sa.select(near)
            .where(near.c.status == bindparam("status"))
            .order_by(near.c.created_ms.desc(), near.c.id.desc())
            .limit(bindparam("limit"))
        )
        self.last = newest.offset(bindparam("looked") - 1).limit(1)


_OF_RUNS, _OF_ONE = _Listing(sa.text(OF_A_RUN)), _Listing(_d.subject == bindparam("subject"))
_ops = (
    sa.select(_v.delta_id, _v.op, sa.func.count().label("total"))
    .where(_v.tenant == ACTING, _v.delta_id.in_(bindparam("ids", expanding=True)))
    .group_by(_v.delta_id, _v.op)
)
_own = (
    sa.select(_v.seq, sa.func.max(_v.version).label("last"))
    .where(_v.tenant == ACTING, _v.delta_id == bindparam("delta"))
    .group_by(_v.seq)
    .subquery()
)
_later = (
    sa.select(_v.seq, _v.version, _v.op, _v.actor, _v.created_ms, _v.delta_id)
    .join_from(_own, memory_versions, sa.and_(_v.seq == _own.c.seq, _v.version > _own.c.last))
    .where(_v.tenant == ACTING)
    .order_by(_v.seq, _v.version.desc())
    .limit(bindparam("limit"))
)


MOST = 10_000  # counting stops here: so many, or more


def count_active(db: Database, roles: frozenset[str] = frozenset(), *, most: int = MOST) -> int:
    """Active lessons of the acting tenant, all or those for one of these roles."""
    with db.reading() as tx:
        if not roles:
            return int(tx.run(_all, most=most).scalar_one())
        return int(tx.run(_for_roles, roles=sorted(roles), most=most).scalar_one())


_m, _f = memories.c, memory_facets.c
_active = (_m.kind == Kind.LESSON.value, _m.status == Status.ACTIVE.value)
_all = sa.select(sa.func.count()).select_from(
    sa.select(_m.seq).where(_m.tenant == ACTING, *_active).limit(bindparam("most")).subquery()
)
_for_roles = sa.select(sa.func.count()).select_from(
    sa.select(_m.seq)
    .join(memory_facets, sa.and_(_f.tenant == _m.tenant, _f.seq == _m.seq))
    .where(_f.tenant == ACTING, _f.facet == "role", _f.value.in_(bindparam("roles", expanding=True)), *_active)
    .limit(bindparam("most"))
    .subquery()
)
