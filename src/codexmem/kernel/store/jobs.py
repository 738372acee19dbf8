"""The queue's table, as one tenant's code sees it: enqueue, end, cancel, retry, look.

A job is enqueued in the transaction that causes it. Of each lane only the first unfinished job is `ready`; when it
ends, the next one becomes ready and goes behind the other lanes' jobs, so that one busy session cannot starve the rest.
Every move of a running job names the worker and the attempt that own it: a worker whose lease ran out changes nothing.
Handing jobs of all tenants to workers is `kernel/store/dispatch.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model import spans
from codexmem.kernel.model.job import Job, JobStatus, NewJob
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.schema import jobs

FIELDS = [f.name for f in fields(Job)]
_CHUNK = 500


class Jobs:
    """Reads and writes the acting tenant's jobs."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # The partial unique index decides whether the same work is already waiting.
        self._enqueue = db.engine.insert(jobs).on_conflict_do_nothing().returning(jobs.c.id)

    def enqueue(self, job: NewJob, *, now_ms: int) -> int | None:
        """Store the job; None if one with its dedupe key is already waiting or running."""
        with self._db.transaction() as tx:
            found: int | None = tx.run(
                self._enqueue, **tx.number(jobs), kind=job.kind, status=JobStatus.QUEUED.value,
                payload=_with_cause(job), subject=job.subject, lane=job.lane, ready=_enter_lane(tx, job.lane),
                dedupe_key=job.dedupe_key, priority=job.priority, max_attempts=job.max_attempts, created_ms=now_ms,
                run_at_ms=now_ms + job.delay_ms if job.place_ms is None else min(job.place_ms, now_ms),
            ).scalar()  # fmt: skip
            return found

    def join(self, job_id: int, *, hurry_ms: int | None) -> bool:
        """Hold a job that waits for its first attempt, so that more can be given to it; False if it waits no longer.

        With `hurry_ms` it is due then. Until the caller's transaction ends no worker can take it. The caller takes no
        lane afterwards: whoever ends a job holds its lane and may wait for this row.
        """
        with self._db.transaction() as tx:
            return bool(tx.run(_join, of_id=job_id, due=hurry_ms).rowcount)

    def hurry(self, job_id: int, lane: str, *, now_ms: int) -> None:
        """Make a job due that waits for its first attempt; the caller may enqueue into its lane afterwards."""
        with self._db.transaction() as tx:
            _lock_lane(tx, lane)
            tx.run(_join, of_id=job_id, due=now_ms)

    def finish(self, job: Job, status: JobStatus, *, now_ms: int, result: Mapping[str, object] | None = None,
               error: str | None = None, error_class: str | None = None) -> bool:  # fmt: skip
        """End a job that this worker still owns, in the caller's transaction; False if it no longer does."""
        with self._db.transaction() as tx:
            _lock_lane(tx, job.lane)
            won = tx.run(
                _finish, **_fence(job), status=status.value, result=result, error=error, error_class=error_class,
                ended_ms=now_ms,
            ).rowcount  # fmt: skip
            if won:
                _advance(tx, job.lane, now_ms)
            return bool(won)

    def postpone(self, job: Job, *, run_at_ms: int, error: str | None, error_class: str | None, refund: bool) -> bool:
        """Give a job back to be tried later; False if it is no longer this worker's, or is to be canceled.

        It keeps its place at the head of its lane. `refund` does not count the attempt (the worker is shutting down).
        """
        with self._db.transaction() as tx:
            return bool(tx.run(
                _postpone, **_fence(job), run_at_ms=run_at_ms, error=error, error_class=error_class,
                attempts=job.attempts - (1 if refund else 0),
            ).rowcount)  # fmt: skip

    def take_away(
        self, job: Job, *, now_ms: int, retry_at_ms: int | None, error: str, error_class: str
    ) -> JobStatus | None:
        """Free a job of its vanished worker: queued again, or failed without `retry_at_ms`; canceled if asked for.

        Returns where it stands now, None if the lease was renewed or someone else was faster.
        """
        with self._db.transaction() as tx:
            _lock_lane(tx, job.lane)
            target = JobStatus.FAILED if retry_at_ms is None else JobStatus.QUEUED
            row = tx.run(
                _take_away, **_fence(job), of_lease=job.lease_until_ms, target=target.value, now=now_ms,
                run_at_ms=job.run_at_ms if retry_at_ms is None else retry_at_ms, error=error, error_class=error_class,
            ).first()  # fmt: skip
            if row is None:
                return None
            if row.status != JobStatus.QUEUED.value:
                _advance(tx, job.lane, now_ms)
            return JobStatus(row.status)

    def cancel(self, job_id: int, *, now_ms: int) -> JobStatus | None:
        """Cancel a waiting job at once, ask a running one to stop; returns where it stands, None if there is none."""
        with self._db.transaction() as tx:
            seen = tx.run(_get, id=job_id).mappings().first()
            if seen is None:
                return None
            _lock_lane(tx, seen["lane"])
            row = tx.run(_cancel, of_id=job_id, now=now_ms).first()
            if row is None:
                return JobStatus(tx.run(_get, id=job_id).mappings().one()["status"])
            if row.status == JobStatus.CANCELED.value:
                _advance(tx, seen["lane"], now_ms)
            return JobStatus(row.status)

    def cancel_many(self, job_ids: Sequence[int], *, now_ms: int) -> dict[int, JobStatus]:
        """The same for jobs without lanes, a thousand in two statements; those that have ended stay as they are.

        Returns where each stands that is still kept. Rows are locked in the order of numbers, as heartbeats do.
        """
        found: dict[int, JobStatus] = {}
        with self._db.transaction() as tx:
            for start in range(0, len(job_ids), _CHUNK):
                chunk = sorted(job_ids)[start : start + _CHUNK]
                tx.run(_lock_many, ids=chunk)
                tx.run(_cancel_many, ids=chunk, now=now_ms)
                found |= {row.id: JobStatus(row.status) for row in tx.run(_statuses, ids=chunk)}
        return found

    def hold(self, job: Job) -> bool:
        """Keep others from a job that this worker owns until the transaction ends; False if it no longer does."""
        with self._db.transaction() as tx:
            return tx.run(_hold, **_fence(job)).first() is not None

    def retry_failed(self, *, subject: str | None, limit: int, now_ms: int) -> int:
        """Queue failed jobs again with fresh attempts; those whose work is already waiting stay as they are."""
        return self.retry_beyond(0, subject=subject, limit=limit, now_ms=now_ms)[0]

    def retry_beyond(self, after: int, *, subject: str | None, limit: int, now_ms: int) -> tuple[int, int | None]:
        """The same for numbers above `after`; returns how many, and the last number looked at, None when at the end."""
        named = {"subject": subject} if subject else {}
        with self._db.transaction() as tx:
            found = tx.run(_failed_of if subject else _failed, after=after, limit=limit, **named).all()
            count = sum(self._requeue(tx, row.id, row.lane, now_ms) for row in found)
            return count, found[-1].id if len(found) == limit else None

    def _requeue(self, tx: Transaction, job_id: int, lane: str | None, now_ms: int) -> int:
        # Another transaction may enqueue the same work at this moment; then its job is as good as ours.
        tx.connection.exec_driver_sql("SAVEPOINT requeue")
        try:
            won = tx.run(_requeue, of_id=job_id, ready=_enter_lane(tx, lane), run_at_ms=now_ms).rowcount
        except sa.exc.IntegrityError:
            tx.connection.exec_driver_sql("ROLLBACK TO SAVEPOINT requeue")
            won = 0
        tx.connection.exec_driver_sql("RELEASE SAVEPOINT requeue")
        return won

    def get(self, job_id: int) -> Job | None:
        """One job of the acting tenant."""
        with self._db.reading() as tx:
            row = tx.run(_get, id=job_id).mappings().first()
        return to_job(row) if row is not None else None

    def many(self, job_ids: Sequence[int]) -> list[Job]:
        """Those of these jobs that are still kept, in order; for a few."""
        if not job_ids:
            return []
        with self._db.reading() as tx:
            return [to_job(row) for row in tx.run(_many, ids=list(job_ids)).mappings()]

    def newest(self, status: JobStatus, *, below: int | None, limit: int) -> list[Job]:
        """Jobs of one status, newest first."""
        with self._db.reading() as tx:
            found = tx.run(_newest, status=status.value, below=below if below is not None else 2**62, limit=limit)
            return [to_job(row) for row in found.mappings()]

    def of_subject(self, subject: str, *, limit: int) -> list[Job]:
        """The newest jobs about one subject."""
        with self._db.reading() as tx:
            return [to_job(row) for row in tx.run(_of_subject, subject=subject, limit=limit).mappings()]

    def counts(self) -> dict[JobStatus, int]:
        """How many jobs of the acting tenant stand where."""
        with self._db.reading() as tx:
            found = {row.status: row.total for row in tx.run(_counts)}
        return {status: found.get(status.value, 0) for status in JobStatus}

    def prune(self, *, ended_before_ms: int, limit: int) -> int:
        """Remove completed and canceled jobs of long ago; failed ones stay until someone looks at them.

        Looks at the `limit` oldest of each and no further, so that it costs the same however many are kept.
        """
        with self._db.transaction() as tx:
            return sum(
                tx.run(_prune, status=status.value, before=ended_before_ms, limit=limit).rowcount
                for status in (JobStatus.COMPLETED, JobStatus.CANCELED)
            )


def to_job(row: Any) -> Job:
    """A row of `jobs`."""
    return Job(**{name: row[name] for name in FIELDS} | {"status": JobStatus(row["status"])})


def _with_cause(job: NewJob) -> Mapping[str, object]:
    """The payload, with the span that enqueues it where that is recorded."""
    recorder = spans.recorder()
    cause = recorder.cause() if recorder is not None else None
    return job.payload if cause is None else {**job.payload, spans.CAUSE: cause}


def _fence(job: Job) -> dict[str, object]:
    return {"of_id": job.id, "of_worker": job.worker, "of_attempts": job.attempts}


def _lock_lane(tx: Transaction, lane: str | None) -> None:
    # Always before a row of the lane is changed: whoever enqueues holds the lane and may wait for a row whose dedupe
    # key it repeats, so taking them in the other order would be a deadlock.
    if lane is not None:
        tx.engine.lock_lane(tx.connection, tx.tenant, lane)


def _enter_lane(tx: Transaction, lane: str | None) -> bool:
    """Whether a job that joins the lane now may run at once."""
    _lock_lane(tx, lane)
    return lane is None or tx.run(_lane_busy, lane=lane).first() is None


def _advance(tx: Transaction, lane: str | None, now_ms: int) -> None:
    """A job of the lane has ended: let the next one run, behind those that are already waiting."""
    if lane is not None:
        tx.run(_advance_lane, of_lane=lane, now=now_ms)


_j = jobs.c
_columns = [_j[name] for name in FIELDS]
# Statuses are written out where a partial index must be recognised: the planner does not look into parameters. Where
# the whole key is known they are not: figures about a queue are always out of date, and a partial index that looks
# empty would be read from end to end. There, who has ended has an end, and who runs has a worker.
_queued, _running = (sa.text(f"jobs.{condition}") for condition in ("status = 'queued'", "status = 'running'"))
_owned = (
    _j.tenant == ACTING, _j.id == bindparam("of_id"), _j.worker == bindparam("of_worker"),
    _j.attempts == bindparam("of_attempts"), _j.ended_ms.is_(None),
)  # fmt: skip
# A job that waits for its turn in a lane holds the lane as much as the one that runs. Two looks, one index each.
_in_lane = sa.select(_j.id).where(_j.tenant == ACTING, _j.lane == bindparam("lane"))
_lane_busy = sa.union_all(_in_lane.where(_queued), _in_lane.where(_running)).limit(1)
_due = sa.cast(bindparam("due"), sa.BigInteger)
_join = (
    sa.update(jobs)
    .where(_j.tenant == ACTING, _j.id == bindparam("of_id"), _j.status == JobStatus.QUEUED.value, _j.attempts == 0)
    .values(run_at_ms=sa.func.coalesce(_due, _j.run_at_ms))
)
_finish = (
    sa.update(jobs)
    .where(*_owned)
    .values(status=bindparam("status"), result=bindparam("result"), error=bindparam("error"),
            error_class=bindparam("error_class"), ended_ms=bindparam("ended_ms"), lease_until_ms=None)
)  # fmt: skip
_postpone = (
    sa.update(jobs)
    .where(*_owned, sa.not_(_j.cancel_requested))
    .values(status=JobStatus.QUEUED.value, run_at_ms=bindparam("run_at_ms"), error=bindparam("error"),
            error_class=bindparam("error_class"), attempts=bindparam("attempts"), worker=None, lease_until_ms=None)
)  # fmt: skip
_now = sa.cast(bindparam("now"), sa.BigInteger)
_target = sa.case((_j.cancel_requested, JobStatus.CANCELED.value), else_=sa.cast(bindparam("target"), sa.Text))
_take_away = (
    sa.update(jobs)
    .where(*_owned, _j.lease_until_ms == bindparam("of_lease"))
    .values(
        status=_target,
        ended_ms=sa.case((_target != JobStatus.QUEUED.value, _now), else_=sa.null()),
        error=bindparam("error"), error_class=bindparam("error_class"), run_at_ms=bindparam("run_at_ms"),
        worker=None, lease_until_ms=None,
    )
    .returning(_j.status)
)  # fmt: skip
_is_queued = _j.status == JobStatus.QUEUED.value
_cancel = (
    sa.update(jobs)
    .where(_j.tenant == ACTING, _j.id == bindparam("of_id"), _j.ended_ms.is_(None))
    .values(
        cancel_requested=True,
        ended_ms=sa.case((_is_queued, _now), else_=_j.ended_ms),
        status=sa.case((_is_queued, JobStatus.CANCELED.value), else_=_j.status),
    )
    .returning(_j.status)
)
_these = (_j.tenant == ACTING, _j.id.in_(bindparam("ids", expanding=True)))
_lock_many = sa.select(_j.id).where(*_these).order_by(_j.id).with_for_update()
_cancel_many = (
    sa.update(jobs)
    .where(*_these, _j.ended_ms.is_(None), _j.lane.is_(None))
    .values(
        cancel_requested=True,
        ended_ms=sa.case((_is_queued, _now), else_=_j.ended_ms),
        status=sa.case((_is_queued, JobStatus.CANCELED.value), else_=_j.status),
    )
)
_statuses = sa.select(_j.id, _j.status).where(*_these)
_hold = sa.select(_j.id).where(*_owned).with_for_update()
_first = jobs.alias("first")
_first_of_lane = (
    sa.select(_first.c.id)
    .where(_first.c.tenant == ACTING, _first.c.lane == bindparam("of_lane"), sa.text("first.status = 'queued'"))
    .order_by(_first.c.id)
    .limit(1)
)
_head = jobs.alias("head")
_lane_runs = sa.exists().where(
    _head.c.tenant == ACTING, _head.c.lane == bindparam("of_lane"), sa.text("head.status = 'running'")
)
# Not while another job of the lane runs: the one that ended may have been canceled before its turn.
_advance_lane = (
    sa.update(jobs)
    .where(_j.tenant == ACTING, _j.id == _first_of_lane.scalar_subquery(), sa.not_(_j.ready), ~_lane_runs)
    .values(ready=True, run_at_ms=sa.case((_j.run_at_ms > bindparam("now"), _j.run_at_ms), else_=bindparam("now")))
)
_newest = (
    sa.select(*_columns)
    .where(_j.tenant == ACTING, _j.status == bindparam("status"), _j.id < bindparam("below"))
    .order_by(_j.id.desc())
    .limit(bindparam("limit"))
)
_twin = jobs.alias("twin")
_has_twin = sa.exists().where(
    _twin.c.tenant == _j.tenant, _twin.c.dedupe_key == _j.dedupe_key, sa.text("twin.status IN ('queued', 'running')")
)
_failed = (
    sa.select(_j.id, _j.lane)
    .where(_j.tenant == ACTING, _j.status == JobStatus.FAILED.value, _j.id > bindparam("after"), ~_has_twin)
    .order_by(_j.id)
    .limit(bindparam("limit"))
)
_failed_of = _failed.where(_j.subject == bindparam("subject"))
_requeue = (
    sa.update(jobs)
    .where(_j.tenant == ACTING, _j.id == bindparam("of_id"), _j.status == JobStatus.FAILED.value, ~_has_twin)
    .values(status=JobStatus.QUEUED.value, attempts=0, ready=bindparam("ready"), run_at_ms=bindparam("run_at_ms"),
            error=None, error_class=None, ended_ms=None, worker=None, cancel_requested=False)
)  # fmt: skip
_get = sa.select(*_columns).where(_j.tenant == ACTING, _j.id == bindparam("id"))
_many = sa.select(*_columns).where(_j.tenant == ACTING, _j.id.in_(bindparam("ids", expanding=True))).order_by(_j.id)
_of_subject = (
    sa.select(*_columns)
    .where(_j.tenant == ACTING, _j.subject == bindparam("subject"))
    .order_by(_j.id.desc())
    .limit(bindparam("limit"))
)
_counts = sa.select(_j.status, sa.func.count().label("total")).where(_j.tenant == ACTING).group_by(_j.status)
_oldest = (
    sa.select(_j.id, _j.ended_ms)
    .where(_j.tenant == ACTING, _j.status == bindparam("status"))
    .order_by(_j.id)
    .limit(bindparam("limit"))
    .subquery()
)
_prune = sa.delete(jobs).where(
    _j.tenant == ACTING, _j.id.in_(sa.select(_oldest.c.id).where(_oldest.c.ended_ms < bindparam("before")))
)
