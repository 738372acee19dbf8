"""Whether the queue moves, as far as one look at its table can tell. Reads the heads of two indexes, never the
backlog.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.job import PATIENT
from codexmem.kernel.store.database import Database, Transaction
from codexmem.kernel.store.schema import jobs


@dataclass(frozen=True, slots=True)
class Pulse:
    """The next job to be claimed, and the latest sign of work."""

    head: tuple[str, int, int] | None  # tenant, number, since when it waits; None if nothing waits that could run
    waiting_since_ms: int | None  # since when the oldest head of a priority could have been claimed
    started_ms: int | None  # when the newest of the running jobs was claimed
    moved: bool = False  # whether the head of the look before was taken; a job put before it is no sign of work


def take(db: Database, *, now_ms: int, before: tuple[str, int, int] | None = None) -> Pulse:
    """Look once, across all tenants; `before` is the head of the look before."""
    # On SQLite a plain snapshot sees everything, and looking must not wait for a writer that hangs.
    with db.reading() if db.engine.ambient_tenant is not None else db.dispatching() as tx:
        due = [head for head in _heads(tx) if head.run_at_ms <= now_ms]
        started, lease = tx.connection.execute(_started).one()
        moved = before is not None and not tx.connection.execute(_still, dict(zip(_HEAD, before, strict=True))).all()
    # Jobs that take minutes are all that waits, and a living worker is at one: that is a queue, not a stall.
    if not due or (due[0].priority == PATIENT and (lease or 0) > now_ms):
        return Pulse(None, None, started, moved)
    waiting = min(head.run_at_ms for head in due if head.priority != PATIENT or head is due[0])
    return Pulse((due[0].tenant, due[0].id, due[0].run_at_ms), waiting, started, moved)


def _heads(tx: Transaction) -> Iterator[Any]:
    """The first ready job of each priority, highest first: delayed jobs are never read past."""
    below = _ABOVE_ALL
    while (head := tx.connection.execute(_head, {"below": below}).first()) is not None:
        yield head
        below = head.priority


_ABOVE_ALL = 2**31 - 1
_j = jobs.c
_head = (
    sa.select(_j.tenant, _j.id, _j.run_at_ms, _j.priority)
    .where(sa.text("status = 'queued' AND ready"), _j.priority < bindparam("below"))
    .order_by(_j.priority.desc(), _j.run_at_ms, _j.id)
    .limit(1)
)
# One that was tried and put back waits since another moment.
_HEAD = ("tenant", "id", "since")
_still = sa.select(_j.id).where(
    _j.tenant == bindparam("tenant"), _j.id == bindparam("id"), _j.run_at_ms == bindparam("since"),
    sa.text("status = 'queued'"),
)  # fmt: skip
_started = sa.select(sa.func.max(_j.started_ms), sa.func.max(_j.lease_until_ms)).where(sa.text("status = 'running'"))
