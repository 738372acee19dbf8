"""How much of one tenant's work waits, runs or has failed, counted in an index and only so far.

Somebody watches this figure live, so it must cost the same whether a hundred jobs wait or a million. What waits is
counted by kind, because some jobs (chores, for instance) always wait for their time; what failed is counted whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.job import JobStatus, QueueDepth
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import jobs

MOST = 10_000  # counting stops here: so many, or more
_FIRST = 1_000  # jobs that are looked at for the one that has waited longest


@dataclass(frozen=True, slots=True)
class ReadyJob:
    """A job that could have been started by now."""

    id: int
    kind: str
    since_ms: int


def measure(db: Database, kinds: Sequence[str], *, most: int = MOST) -> QueueDepth:
    """Look once, for the acting tenant: jobs of these kinds that wait and run, and all that have failed."""
    with db.reading() as tx:
        queued, running = (
            int(tx.run(_of_kinds, status=status.value, kinds=list(kinds), most=most).scalar_one())
            for status in (JobStatus.QUEUED, JobStatus.RUNNING)
        )
        failed = int(tx.run(_all, status=JobStatus.FAILED.value, most=most).scalar_one())
    return QueueDepth(queued, running, failed)


def by_status(db: Database, kind: str, *, most: int = MOST) -> dict[JobStatus, int]:
    """Jobs of one kind in each status, counted among the newest of that status and only so far."""
    with db.reading() as tx:
        return {
            status: int(tx.run(_of_kind, status=status.value, kind=kind, most=most).scalar_one())
            for status in JobStatus
        }


def whole(db: Database, kinds: Sequence[str], *, most: int = MOST) -> dict[JobStatus, int]:
    """Jobs in each status, counted only so far: what waits and runs as `measure` counts it, and all that have ended."""
    now = measure(db, kinds, most=most)
    counts = {JobStatus.QUEUED: now.queued, JobStatus.RUNNING: now.running, JobStatus.FAILED: now.failed}
    with db.reading() as tx:
        for status in (JobStatus.COMPLETED, JobStatus.CANCELED):
            counts[status] = int(tx.run(_all, status=status.value, most=most).scalar_one())
    return counts


def everywhere(db: Database, *, most: int = MOST) -> dict[JobStatus, int]:
    """Jobs of all tenants that wait and run, counted only so far; how many have ended no index could tell."""
    with db.dispatching() as tx:
        return {
            status: int(tx.connection.execute(statement, {"most": most}).scalar_one())
            for status, statement in _EVERYWHERE.items()
        }


def oldest(db: Database, *, now_ms: int) -> ReadyJob | None:
    """The job that has been due longest, among the first of those that wait; None if none is due."""
    with db.reading() as tx:
        row = tx.run(_oldest, status=JobStatus.QUEUED.value, now=now_ms, first=_FIRST).first()
    return ReadyJob(row.id, row.kind, row.run_at_ms) if row is not None else None


_some = sa.select(jobs.c.id).where(jobs.c.tenant == ACTING, jobs.c.status == bindparam("status"))
_some_of_kinds = _some.where(jobs.c.kind.in_(bindparam("kinds", expanding=True)))
_all = sa.select(sa.func.count()).select_from(_some.limit(bindparam("most")).subquery())
_of_kinds = sa.select(sa.func.count()).select_from(_some_of_kinds.limit(bindparam("most")).subquery())
_newest = (
    sa.select(jobs.c.kind)
    .where(jobs.c.tenant == ACTING, jobs.c.status == bindparam("status"))
    .order_by(jobs.c.id.desc())
    .limit(bindparam("most"))
    .subquery()
)
_of_kind = sa.select(sa.func.count()).select_from(_newest).where(_newest.c.kind == bindparam("kind"))
_first = (
    sa.select(jobs.c.id, jobs.c.kind, jobs.c.run_at_ms)
    .where(jobs.c.tenant == ACTING, jobs.c.status == bindparam("status"))
    .order_by(jobs.c.id)
    .limit(bindparam("first"))
    .subquery()
)
_oldest = (
    sa.select(_first).where(_first.c.run_at_ms <= bindparam("now")).order_by(_first.c.run_at_ms, _first.c.id).limit(1)
)
# Each condition is spelled as in a partial index, which holds nothing else.
_EVERYWHERE = {
    status: sa.select(sa.func.count()).select_from(
        sa.select(sa.literal(1)).select_from(jobs).where(sa.text(f"status = '{status.value}'"))
        .limit(bindparam("most")).subquery()
    )
    for status in (JobStatus.QUEUED, JobStatus.RUNNING)
}  # fmt: skip
