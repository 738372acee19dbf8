"""Batches and runs in their tables, and their moves.

Every move is one UPDATE that names where it comes from, so an illegal one changes no row. Whoever changes more than one
row takes them in the order job, batch, run; a journal takes the run alone. A batch counts how its runs ended, under the
lock of its own row, so that of several that end at once exactly one is the last. Pages go by (created_ms, id) or by a
run's place in its batch; each reads an index in the order of the page and no further than its own length.

What lists of the lab show beside their rows: one statement for a page, whatever its length.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.schema import batches, feedback, runs
from codexmem.lab.model import Batch, BatchStatus, Run, RunStatus, sources

LOOKED_THROUGH = 2_000  # requests that one page of a search by text reads, at most
MOST_COUNTED = 100_000  # of one status; counting stops there

Item = TypeVar("Item", Batch, Run)

_BATCH = [f.name for f in fields(Batch)]
_RUN = [f.name for f in fields(Run)]


@dataclass(frozen=True, slots=True)
class RunCursor:
    """Where a page of batches or runs ended."""

    created_ms: int
    id: str


@dataclass(frozen=True, slots=True)
class Held:
    """A run whose row is held for writing to its journal or trace."""

    steps: int
    at_ms: int  # not before its newest event


class RunTable:
    """Reads and writes the acting tenant's `batches` and `runs`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, batch: Batch, searched: str, made: Sequence[Run]) -> None:
        """Store a new batch with its runs."""
        row = {name: getattr(batch, name) for name in _BATCH} | {"status": batch.status.value, "searched": searched}
        with self._db.transaction() as tx:
            tx.add(batches, row)
            tx.add(runs, *(
                {name: getattr(run, name) for name in _RUN} | {"status": run.status.value, "traced_ms": run.created_ms}
                for run in made
            ))  # fmt: skip

    def batch(self, batch_id: str) -> Batch | None:
        """One batch."""
        with self._db.reading() as tx:
            row = tx.run(_get_batch, id=batch_id).mappings().first()
        return to_batch(row) if row is not None else None

    def batch_of(self, run_id: str) -> str | None:
        """The batch that a run belongs to; that never changes."""
        with self._db.reading() as tx:
            found: str | None = tx.run(_batch_of, id=run_id).scalar()
            return found

    def run(self, run_id: str) -> Run | None:
        """One run."""
        with self._db.reading() as tx:
            row = tx.run(_get_run, id=run_id).mappings().first()
        return to_run(row) if row is not None else None

    def output(self, run_id: str) -> dict[str, object] | None:
        """What a run has answered."""
        with self._db.reading() as tx:
            found: dict[str, object] | None = tx.run(_output, id=run_id).scalar()
            return found

    def runs_of(self, batch_id: str, *, statuses: Sequence[RunStatus], after: int, limit: int) -> list[Run]:
        """Runs of a batch by their places in it, of these statuses or of all."""
        with self._db.reading() as tx:
            found = tx.run(_of_batch, batch=batch_id, after=after, limit=limit,
                           statuses=[each.value for each in statuses or RunStatus])  # fmt: skip
            return [to_run(row) for row in found.mappings()]

    def runs_page(
        self, *, statuses: Sequence[RunStatus], below: RunCursor | None, limit: int
    ) -> tuple[list[Run], RunCursor | None]:
        """Runs, newest first, of these statuses or of all; and where the next page starts."""
        with self._db.reading() as tx:
            return _merged((
                _cut([to_run(row) for row in tx.run(
                    _runs_of_status if named else _runs_page, **named, **_below(below), limit=limit + 1
                ).mappings()], limit)
                for named in _each(statuses)
            ), limit)  # fmt: skip

    def batches_page(
        self, *, statuses: Sequence[BatchStatus], below: RunCursor | None, limit: int
    ) -> tuple[list[Batch], RunCursor | None]:
        """Batches, likewise."""
        with self._db.reading() as tx:
            return _merged((
                _cut([to_batch(row) for row in tx.run(
                    _batches_of_status if named else _batches_page, **named, **_below(below), limit=limit + 1
                ).mappings()], limit)
                for named in _each(statuses)
            ), limit)  # fmt: skip

    def batches_with(
        self, text: str, *, statuses: Sequence[BatchStatus], below: RunCursor | None, limit: int
    ) -> tuple[list[Batch], RunCursor | None]:
        """Batches whose request holds this case-folded text, among the next so many; and where to look on, if at all.

        Looks through at most LOOKED_THROUGH requests of each status, newest first, however few of them match.
        """
        pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        with self._db.reading() as tx:
            return _merged((self._matching(tx, pattern, named, below, limit) for named in _each(statuses)), limit)

    def _matching(self, tx: Transaction, pattern: str, named: dict[str, str], below: RunCursor | None,
                  limit: int) -> tuple[list[Batch], RunCursor | None]:  # fmt: skip
        values = {**_below(below), "looked": LOOKED_THROUGH, **named}
        rows = tx.run(_with_of_status if named else _with, **values, pattern=pattern, limit=limit + 1).mappings()
        found, after = _cut([to_batch(row) for row in rows], limit)
        if after is None:
            last = tx.run(_last_looked_of_status if named else _last_looked, **values).first()
            after = RunCursor(last.created_ms, last.id) if last is not None else None
        return found, after

    def hold_batch(self, batch_id: str) -> Batch:
        """Keep other endings of its runs waiting until the transaction ends."""
        with self._db.transaction() as tx:
            return to_batch(tx.run(_hold_batch, id=batch_id).mappings().one())

    def begin(self, run_id: str, holder: str, *, now_ms: int) -> Run | None:
        """Give the run to this attempt, and to no other; None if it has ended or is to be canceled."""
        with self._db.transaction() as tx:
            row = tx.run(_begin, of_id=run_id, of_holder=holder, now=now_ms).mappings().first()
            return to_run(row) if row is not None else None

    def begin_batch(self, batch_id: str, *, now_ms: int) -> None:
        """Its first run has begun."""
        with self._db.transaction() as tx:
            tx.run(_begin_batch, of_id=batch_id, now=now_ms)

    def requeue(self, run_id: str) -> bool:
        """The run waits for another worker."""
        with self._db.transaction() as tx:
            return bool(tx.run(_requeue, of_id=run_id).rowcount)

    def rejoin(self, run_id: str, job_id: int) -> None:
        """Another job is to execute the run."""
        with self._db.transaction() as tx:
            tx.run(_rejoin, of_id=run_id, job_id=job_id)

    def end(self, run_id: str, target: RunStatus, *, now_ms: int, error: str | None = None,
            output: Mapping[str, object] | None = None, event_id: str | None = None,
            extra: Mapping[str, object] | None = None) -> bool:  # fmt: skip
        """End a run; False if it has ended before, or may not end so: one to be canceled can only be canceled."""
        values = {"error": error, "output": output, "event_id": event_id, "extra": extra or {}}
        with self._db.transaction() as tx:
            return bool(tx.run(_END[target], of_id=run_id, now=now_ms, **values).rowcount)

    def end_queued(self, batch_id: str, *, cancel_id: str, reason: str, now_ms: int) -> tuple[list[str], int]:
        """Cancel every run of a batch that no worker executes; returns which, and a time not before their events."""
        with self._db.transaction() as tx:
            found = tx.run(_end_queued, of_batch=batch_id, cancel=cancel_id, reason=reason, now=now_ms).all()
        return sorted(row.id for row in found), max([now_ms, *(row.traced_ms for row in found)])

    def mark(self, run_ids: Sequence[str], *, cancel_id: str, reason: str) -> None:
        """These runs are to be canceled, if nobody said so before; for as many as a batch may have."""
        with self._db.transaction() as tx:
            tx.run_many(_mark_run, [{"of_id": run_id, "cancel": cancel_id, "reason": reason} for run_id in run_ids])

    def mark_batch(self, batch_id: str, *, cancel_id: str, reason: str) -> None:
        """The batch is to be canceled."""
        with self._db.transaction() as tx:
            tx.run(_mark_batch, of_id=batch_id, cancel=cancel_id, reason=reason)

    def count_ended(self, batch_id: str, target: RunStatus, count: int, *, error: str | None = None) -> Batch:
        """So many more of its runs have ended so; the caller holds the batch."""
        added = {each.value: count if each is target else 0 for each in _COUNTED}
        with self._db.transaction() as tx:
            return to_batch(tx.run(_count_ended, of_id=batch_id, why=error, **added).mappings().one())

    def end_batch(self, batch_id: str, status: BatchStatus, *, now_ms: int) -> None:
        """All its runs have ended."""
        with self._db.transaction() as tx:
            tx.run(_end_batch, of_id=batch_id, status=status.value, now=now_ms)

    def hold(self, run_id: str, *, now_ms: int) -> Held | None:
        """Keep other writers of its trace waiting until the transaction ends; None if there is no such run."""
        with self._db.transaction() as tx:
            row = tx.run(_hold, of_id=run_id, now=now_ms).first()
            return Held(row.steps, row.traced_ms) if row is not None else None

    def hold_as(self, run_id: str, holder: str, *, steps: int, now_ms: int) -> Held | None:
        """The same for the attempt that executes the run, with so many steps more; None if it no longer does."""
        with self._db.transaction() as tx:
            row = tx.run(_hold_as, of_id=run_id, of_holder=holder, more=steps, now=now_ms).first()
            return Held(row.steps, row.traced_ms) if row is not None else None

    def counts(self) -> tuple[dict[RunStatus, int], dict[BatchStatus, int]]:
        """How many runs and batches stand where, each counted up to MOST_COUNTED."""
        with self._db.reading() as tx:
            of_runs = {each: int(tx.run(_count_runs, status=each.value).scalar_one()) for each in RunStatus}
            of_batches = {each: int(tx.run(_count_batches, status=each.value).scalar_one()) for each in BatchStatus}
        return of_runs, of_batches


def to_batch(row: Any) -> Batch:
    """A row of `batches`."""
    return Batch(**{name: row[name] for name in _BATCH} | {"status": BatchStatus(row["status"])})


def to_run(row: Any) -> Run:
    """A row of `runs`."""
    return Run(**{name: row[name] for name in _RUN} | {"status": RunStatus(row["status"])})


def _each(statuses: Sequence[StrEnum]) -> list[dict[str, str]]:
    """One selection per status, because an index is in the order of a page for one status at a time."""
    return [{"status": each.value} for each in dict.fromkeys(statuses)] or [{}]


def _cut(found: list[Item], limit: int) -> tuple[list[Item], RunCursor | None]:
    """A page, of which one item more was read to know whether there is a next one."""
    return found[:limit], RunCursor(found[limit - 1].created_ms, found[limit - 1].id) if len(found) > limit else None


def _merged(branches: Iterable[tuple[list[Item], RunCursor | None]], limit: int) -> tuple[list[Item], RunCursor | None]:
    """One page of several lists, each of which is known down to its place only; below the highest of these, nothing."""
    read = list(branches)
    floor = max(((after.created_ms, after.id) for _, after in read if after is not None), default=None)
    items = sorted((item for found, _ in read for item in found), key=lambda each: (each.created_ms, each.id))[::-1]
    kept = [each for each in items if floor is None or (each.created_ms, each.id) >= floor]
    page, after = _cut(kept, limit)
    return page, after or (RunCursor(*floor) if floor is not None else None)


def _below(place: RunCursor | None) -> dict[str, object]:
    return {"ms": place.created_ms if place else 2**62, "id": place.id if place else ""}


_b, _r = batches.c, runs.c
_big = sa.BigInteger
_COUNTED = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELED)
_batch_columns = [_b[name] for name in _BATCH]
_run_columns = [_r[name] for name in _RUN]
_get_batch = sa.select(*_batch_columns).where(_b.tenant == ACTING, _b.id == bindparam("id"))
_hold_batch = _get_batch.with_for_update(key_share=True)
_get_run = sa.select(*_run_columns).where(_r.tenant == ACTING, _r.id == bindparam("id"))
_batch_of = sa.select(_r.batch_id).where(_r.tenant == ACTING, _r.id == bindparam("id"))
_output = sa.select(_r.output).where(_r.tenant == ACTING, _r.id == bindparam("id"))
_of_batch = (
    sa.select(*_run_columns)
    .where(_r.tenant == ACTING, _r.batch_id == bindparam("batch"), _r.run_index > bindparam("after"),
           _r.status.in_(bindparam("statuses", expanding=True)))
    .order_by(_r.run_index)
    .limit(bindparam("limit"))
)  # fmt: skip


def _newest(table: sa.Table, columns: Sequence[Any]) -> sa.Select[Any]:
    c = table.c
    # The end as well: SQLite finds its beginning in the index by that, and not by a pair.
    ms, seen = sa.cast(bindparam("ms"), _big), sa.cast(bindparam("id"), sa.Text)
    return (
        sa.select(*columns)
        .where(c.tenant == ACTING, c.created_ms <= ms, sa.tuple_(c.created_ms, c.id) < sa.tuple_(ms, seen))
        .order_by(c.created_ms.desc(), c.id.desc())
    )


_runs_page = _newest(runs, _run_columns).limit(bindparam("limit"))
_runs_of_status = _runs_page.where(_r.status == bindparam("status"))
_batches_page = _newest(batches, _batch_columns).limit(bindparam("limit"))
_batches_of_status = _batches_page.where(_b.status == bindparam("status"))


def _matching(looked: sa.Select[Any]) -> sa.Select[Any]:
    near = looked.limit(bindparam("looked")).subquery()
    return (
        sa.select(*(near.c[name] for name in _BATCH))
        .where(near.c.searched.like(bindparam("pattern"), escape="\\"))
        .order_by(near.c.created_ms.desc(), near.c.id.desc())
        .limit(bindparam("limit"))
    )


_looked = _newest(batches, [*_batch_columns, _b.searched])
_looked_of_status = _looked.where(_b.status == bindparam("status"))
_with, _with_of_status = _matching(_looked), _matching(_looked_of_status)
_last_looked = _newest(batches, [_b.created_ms, _b.id]).offset(bindparam("looked") - 1).limit(1)
_last_looked_of_status = _last_looked.where(_b.status == bindparam("status"))

_now = sa.cast(bindparam("now"), _big)
_of_run = (_r.tenant == ACTING, _r.id == bindparam("of_id"))
_from = {target: _r.status.in_([each.value for each in sources(target)]) for target in RunStatus}
_begin = (
    sa.update(runs)
    .where(*_of_run, sa.or_(_from[RunStatus.RUNNING], _r.status == RunStatus.RUNNING.value), _r.cancel_id.is_(None))
    .values(status=RunStatus.RUNNING.value, holder=bindparam("of_holder"),
            started_ms=sa.func.coalesce(_r.started_ms, _now))
    .returning(*_run_columns)
)  # fmt: skip
_begin_batch = (
    sa.update(batches)
    .where(_b.tenant == ACTING, _b.id == bindparam("of_id"), _b.status == BatchStatus.QUEUED.value)
    .values(status=BatchStatus.RUNNING.value, started_ms=_now)
)
_requeue = (
    sa.update(runs)
    .where(*_of_run, _from[RunStatus.QUEUED])
    .values(status=RunStatus.QUEUED.value, holder=None)
)  # fmt: skip
_rejoin = sa.update(runs).where(*_of_run).values(job_id=bindparam("job_id"))


def _end_as(target: RunStatus) -> sa.Update:
    wanted = _r.cancel_id.is_not(None) if target is RunStatus.CANCELED else _r.cancel_id.is_(None)
    return (
        sa.update(runs)
        .where(*_of_run, _from[target], wanted)
        .values(status=target.value, ended_ms=_now, holder=None, error=bindparam("error"), output=bindparam("output"),
                final_event_id=bindparam("event_id"), extra=bindparam("extra"))
    )  # fmt: skip


_END = {target: _end_as(target) for target in _COUNTED}
_end_queued = (
    sa.update(runs)
    .where(_r.tenant == ACTING, _r.batch_id == bindparam("of_batch"), _r.status == RunStatus.QUEUED.value)
    .values(status=RunStatus.CANCELED.value, ended_ms=_now, holder=None,
            cancel_id=sa.func.coalesce(_r.cancel_id, bindparam("cancel", type_=sa.Text)),
            cancel_reason=sa.func.coalesce(_r.cancel_reason, bindparam("reason", type_=sa.Text)))
    .returning(_r.id, _r.traced_ms)
)  # fmt: skip
_mark_run = (
    sa.update(runs)
    .where(*_of_run, _r.cancel_id.is_(None), _r.ended_ms.is_(None))
    .values(cancel_id=bindparam("cancel"), cancel_reason=bindparam("reason"))
)
_mark_batch = (
    sa.update(batches)
    .where(_b.tenant == ACTING, _b.id == bindparam("of_id"), _b.cancel_id.is_(None), _b.ended_ms.is_(None))
    .values(cancel_id=bindparam("cancel"), cancel_reason=bindparam("reason"))
)
_count_ended = (
    sa.update(batches)
    .where(_b.tenant == ACTING, _b.id == bindparam("of_id"))
    .values({
        **{_b[f"{each.value}_runs"]: _b[f"{each.value}_runs"] + bindparam(each.value) for each in _COUNTED},
        _b.error: sa.func.coalesce(_b.error, bindparam("why", type_=sa.Text)),
    })
    .returning(*_batch_columns)
)  # fmt: skip
_end_batch = (
    sa.update(batches)
    .where(_b.tenant == ACTING, _b.id == bindparam("of_id"), _b.ended_ms.is_(None))
    .values(status=bindparam("status"), ended_ms=_now)
)
_hold = (
    sa.update(runs)
    .where(*_of_run)
    .values(traced_ms=sa.case((_r.traced_ms > _now, _r.traced_ms), else_=_now))
    .returning(_r.steps, _r.traced_ms)
)
_hold_as = (
    sa.update(runs)
    .where(*_of_run, _r.holder == bindparam("of_holder"), _r.status == RunStatus.RUNNING.value)
    .values(traced_ms=sa.case((_r.traced_ms > _now, _r.traced_ms), else_=_now), steps=_r.steps + bindparam("more"))
    .returning(_r.steps, _r.traced_ms)
)
_count_runs = sa.select(sa.func.count()).select_from(
    sa.select(_r.id).where(_r.tenant == ACTING, _r.status == bindparam("status")).limit(MOST_COUNTED).subquery()
)
_count_batches = sa.select(sa.func.count()).select_from(
    sa.select(_b.id).where(_b.tenant == ACTING, _b.status == bindparam("status")).limit(MOST_COUNTED).subquery()
)


MOST_RUNNING = 1_000  # runs at once that are looked at


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """That a run was judged, and how."""

    score: float | None
    updated_ms: int


class LabLists:
    """Reads `runs` and `feedback` for pages of batches and runs."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def running(self, batch_ids: Sequence[str]) -> dict[str, int]:
        """How many runs of each batch are being executed; reads those that are, of all batches, and no others."""
        if not batch_ids:
            return {}
        with self._db.reading() as tx:
            found = {row.batch_id: int(row.total) for row in tx.run(_running, status=RunStatus.RUNNING.value)}
        return {each: found[each] for each in batch_ids if each in found}

    def verdicts(self, run_ids: Sequence[str]) -> dict[str, RunVerdict]:
        """Those of these runs that were judged."""
        if not run_ids:
            return {}
        with self._db.reading() as tx:
            return {row.run_id: RunVerdict(row.score, row.updated_ms) for row in tx.run(_verdicts, runs=list(run_ids))}


_runs, _f = runs.c, feedback.c
# Not by batch: as many run as there are workers, and a batch may have a thousand runs that do not.
_executed = (
    sa.select(_runs.batch_id)
    .where(_runs.tenant == ACTING, _runs.status == bindparam("status"))
    .order_by(_runs.created_ms.desc(), _runs.id.desc())
    .limit(MOST_RUNNING)
    .subquery()
)
_running = sa.select(_executed.c.batch_id, sa.func.count().label("total")).group_by(_executed.c.batch_id)
_verdicts = sa.select(_f.run_id, _f.score, _f.updated_ms).where(
    _f.tenant == ACTING, _f.run_id.in_(bindparam("runs", expanding=True))
)
