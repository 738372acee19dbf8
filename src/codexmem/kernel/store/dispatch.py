"""The queue's table, as workers see it: jobs of all tenants, handed out under leases.

A job can be claimed when it is queued, ready and due, and is taken from its worker when it is running and its lease is
not current: between them every unfinished job is either somebody's or claimable at a known time. A claim asks the index
for the due jobs of one priority after the other, so it costs the same with ten jobs waiting as with a hundred thousand,
and delayed jobs are never read past. Ending a job is the tenant's own business (`kernel/store/jobs.py`).

Where a store has many tenants they take turns within a priority: a claim goes on behind the tenant that was served
last, takes one job of each tenant that has one due, and more of each only where threads are left. Finding the next
tenant is one seek in `jobs_turn`: a claim costs with the tenants that it passes, at most `_PASSED` of them, and never
with their backlogs. Which tenant was last is this process's own memory: several workers each go round by themselves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.errors import Conflict
from codexmem.kernel.model.job import MAX_LEASE_MS, PATIENT, Job, JobStatus
from codexmem.kernel.store.database import Database, Transaction
from codexmem.kernel.store.jobs import FIELDS, to_job
from codexmem.kernel.store.schema import jobs

_ABOVE_ALL = 2**31 - 1
_PASSED = 200  # tenants that one claim passes within a priority because their first job is not due yet

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Due:
    """When the next job may start."""

    run_at_ms: int
    seen_ms: int  # a time that has certainly been, by the table: a clock that shows less has been set back


class Dispatch:
    """Claims, leases and looks across tenants; never called inside a transaction."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._due = db.engine.skip_locked(_due)
        self._due_of = db.engine.skip_locked(_due.where(_j.tenant == bindparam("of_tenant")))
        self._takes_turns = db.engine.ambient_tenant is None
        self._served: dict[int, str] = {}  # the tenant whose turn was last, by priority

    def claim(self, worker: str, *, limit: int, lease_ms: int, now_ms: int, patient: int | None = None) -> list[Job]:
        """Take up to so many ready jobs of any tenant, of patient ones up to their own number, if there is one.

        They are this worker's until the lease runs out.
        """
        values = {"worker": worker, "lease_until": now_ms + min(lease_ms, MAX_LEASE_MS), "now": now_ms}
        keys: list[Key] = []
        try:
            with self._db.dispatching() as tx:
                keys = self._claimable(tx, limit, limit if patient is None else patient, now_ms)
                return _take(tx, keys, values)
        except Conflict:
            # A lane has a running job beside a ready one, which no transaction of ours leaves behind. It must not keep
            # the other lanes waiting: claim them one by one.
            return [job for key in keys for job in self._take_one(key, values)]

    def _claimable(self, tx: Transaction, limit: int, patient: int, now_ms: int) -> list[Key]:
        keys: list[Key] = []
        for head in _heads(tx):
            wanted = limit - len(keys)
            if head.priority == PATIENT:
                wanted = min(wanted, patient)
            if head.run_at_ms <= now_ms and wanted:
                values = {"priority": head.priority, "now": now_ms, "limit": wanted}
                turns = self._turns(tx, head.priority, wanted, now_ms) if self._takes_turns else []
                for place, tenant in enumerate(turns):
                    share = wanted // len(turns) + (place < wanted % len(turns))
                    of_tenant = {**values, "of_tenant": tenant, "limit": share}
                    keys += [(row.tenant, row.id) for row in tx.connection.execute(self._due_of, of_tenant)]
                if not turns:
                    keys += [(row.tenant, row.id) for row in tx.connection.execute(self._due, values)]
            if len(keys) >= limit:
                break
        return keys

    def _turns(self, tx: Transaction, priority: int, wanted: int, now_ms: int) -> list[str]:
        """Tenants with a due job of this priority, at most so many, from the one behind the last that was served.

        Empty where the first ones that were passed have nothing due: then the oldest due job of all is next, so that
        nothing waits for ever, and the next claim looks further on.
        """
        last = self._served.get(priority, "")
        tx.connection.execute(_by_index)
        values = {"priority": priority, "now": now_ms, "limit": wanted, "passed": _PASSED}
        rows = tx.connection.execute(_walk, {**values, "after": last}).all()
        found = [row.tenant for row in rows if row.due]
        if len(rows) < _PASSED and len(found) < wanted and last:
            again = tx.connection.execute(_walk, {**values, "after": "", "limit": wanted - len(found)}).all()
            # Which of them stand before the last one is the database's to say: its locale may sort otherwise.
            seen = {row.tenant for row in rows}
            before = [row for row in again if row.tenant not in seen]
            found += [row.tenant for row in before if row.due]
            rows = before or rows
        if rows:
            self._served[priority] = found[-1] if found else rows[-1].tenant
        return found

    def _take_one(self, key: Key, values: dict[str, object]) -> list[Job]:
        try:
            with self._db.dispatching() as tx:
                return _take(tx, [key], values)
        except Conflict:
            return []

    def first_at(self, priority: int) -> int | None:
        """The place of the first job of this priority that waits for a worker, of any tenant; None if none does."""
        with self._db.dispatching() as tx:
            return next((head.run_at_ms for head in _heads(tx) if head.priority == priority), None)

    def next_due(self, *, patient: bool = True) -> Due | None:
        """When the first job of any tenant may start, among all or all but patient ones; None if nothing waits."""
        with self._db.dispatching() as tx:
            heads = [head for head in _heads(tx) if patient or head.priority != PATIENT]
            if not heads:
                return None
            first = min(heads, key=lambda head: head.run_at_ms)
            ended = tx.connection.execute(_last_end, {"of_tenant": first.tenant}).scalar()
        return Due(first.run_at_ms, max(first.created_ms, first.started_ms or 0, ended or 0))

    def heartbeat(self, worker: str, held: Sequence[Job], *, lease_ms: int, now_ms: int) -> dict[Key, bool]:
        """Renew these jobs' leases; returns those the worker still owns, and whether each is to be canceled.

        Only what is named is renewed: a job that the worker lost track of must run out, not be held for ever.
        """
        if not held:
            return {}
        owned: dict[Key, bool] = {}
        values = {"of_worker": worker, "lease_until": now_ms + min(lease_ms, MAX_LEASE_MS)}
        with self._db.dispatching() as tx:
            for job in sorted(held, key=lambda each: (each.tenant, each.id)):
                row = tx.connection.execute(_renew, {"of_tenant": job.tenant, "of_id": job.id, **values}).first()
                if row is not None:
                    owned[job.tenant, job.id] = row.cancel_requested
        return owned

    def expired(self, *, now_ms: int, limit: int) -> list[Job]:
        """Running jobs whose lease is not current: run out, or further ahead than any lease is given."""
        with self._db.dispatching() as tx:
            values = {"now": now_ms, "latest": now_ms + 2 * MAX_LEASE_MS, "limit": limit}
            return [to_job(row) for row in tx.connection.execute(_expired, values).mappings()]


def _heads(tx: Transaction) -> Iterator[Any]:
    """The first ready job of each priority, highest first; one seek in the index for each."""
    below = _ABOVE_ALL
    while (head := tx.connection.execute(_head, {"below": below}).first()) is not None:
        yield head
        below = head.priority


def _take(tx: Transaction, keys: list[Key], values: dict[str, object]) -> list[Job]:
    # One statement per job, by its whole key: with several keys at once the planner, whose figures about a queue are
    # always out of date, prefers to read everything that waits.
    rows = (
        tx.connection.execute(_claim, {"of_tenant": tenant, "of_id": job_id, **values}).mappings().first()
        for tenant, job_id in keys
    )
    return [to_job(row) for row in rows if row is not None]


_j = jobs.c
_columns = [_j[name] for name in FIELDS]
# Conditions are written out, because the planner recognises a partial index only by its very words.
_ready = sa.text("status = 'queued' AND ready")
_running = sa.text("status = 'running'")
_head = (
    sa.select(_j.priority, _j.run_at_ms, _j.tenant, _j.created_ms, _j.started_ms)
    .where(_ready, _j.priority < bindparam("below"))
    .order_by(_j.priority.desc(), _j.run_at_ms, _j.id)
    .limit(1)
)
_due = (
    sa.select(_j.tenant, _j.id)
    .where(_ready, _j.priority == bindparam("priority"), _j.run_at_ms <= bindparam("now"))
    .order_by(_j.run_at_ms, _j.id)
    .limit(bindparam("limit"))
)
# The first waiting job of each tenant behind `after`, by seeks; ends with the tenant that makes `limit` due ones. The
# planner knows nothing true about a queue and would sort a backlog rather than seek, so it is told not to.
_by_index = sa.text(
    "SELECT set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true), "
    "set_config('enable_bitmapscan', 'off', true)"
)
_walk = sa.text("""
    WITH RECURSIVE walk AS (
        (SELECT tenant, run_at_ms <= :now AS due, 1 AS passed,
                CASE WHEN run_at_ms <= :now THEN 1 ELSE 0 END AS found
           FROM jobs WHERE status = 'queued' AND ready AND priority = :priority AND tenant > :after
          ORDER BY priority, tenant, run_at_ms, id LIMIT 1)
        UNION ALL
        SELECT next.tenant, next.due, walk.passed + 1, walk.found + CASE WHEN next.due THEN 1 ELSE 0 END
          FROM walk CROSS JOIN LATERAL (
              SELECT tenant, run_at_ms <= :now AS due
                FROM jobs WHERE status = 'queued' AND ready AND priority = :priority AND tenant > walk.tenant
               ORDER BY priority, tenant, run_at_ms, id LIMIT 1) AS next
         WHERE walk.passed < :passed AND walk.found < :limit
    )
    SELECT tenant, due FROM walk
""")
_one = sa.and_(_j.tenant == bindparam("of_tenant"), _j.id == bindparam("of_id"))
_claim = (
    sa.update(jobs)
    .where(_one, _j.worker.is_(None), _j.ended_ms.is_(None))  # queued, in words that tempt into no partial index
    .values(status=JobStatus.RUNNING.value, worker=bindparam("worker"), lease_until_ms=bindparam("lease_until"),
            started_ms=bindparam("now"), attempts=_j.attempts + 1)
    .returning(*_columns)
)  # fmt: skip
_renew = (
    sa.update(jobs)
    .where(_one, _j.ended_ms.is_(None), _j.worker == bindparam("of_worker"))
    .values(lease_until_ms=bindparam("lease_until"))
    .returning(_j.cancel_requested)
)
_expired = (
    sa.select(*_columns)
    .where(_running, sa.or_(_j.lease_until_ms < bindparam("now"), _j.lease_until_ms > bindparam("latest")))
    .order_by(_j.lease_until_ms)
    .limit(bindparam("limit"))
)
_last_end = (
    sa.select(_j.ended_ms)
    .where(_j.tenant == bindparam("of_tenant"), _j.status == JobStatus.COMPLETED.value)
    .order_by(_j.id.desc())
    .limit(1)
)
