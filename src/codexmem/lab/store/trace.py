"""Pages of the trace of one run, oldest first.

A trace never goes back in time (`runs.traced_ms`), so (at_ms, seq) is the order in which its events were committed, and
a reader who remembers a place misses nothing. A page of all types reads one index; of several types, one index once per
type, and merges. It costs its own length times the number of types, however long the trace is, and payloads are read
for the events of the page alone, up to a total size.

The journals of runs in their table: each step once, in order, with its result. Rows are added, never changed.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.event import Event, LogPosition
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import events, run_steps
from codexmem.kernel.store.schema.system import OF_A_RUN

_LAST = 2**62


@dataclass(frozen=True, slots=True)
class Moment:
    """A place in a trace: everything up to here has been seen."""

    at_ms: int
    seq: int


@dataclass(frozen=True, slots=True)
class TracePage:
    """Some events of a trace, and where the next page starts."""

    items: tuple[Event, ...]
    after: Moment | None  # None when there is no more

    @property
    def more(self) -> bool:
        """Whether there is a next page."""
        return self.after is not None


class TraceTable:
    """Reads the events of runs."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def page(self, subject: str, *, types: Sequence[str], from_ms: int, to_ms: int, after: Moment | None, limit: int,
             payload_chars: int | None) -> TracePage:  # fmt: skip
        """Events from `from_ms` on and before `to_ms`, after a place; with payloads of so many characters in all.

        An event whose payload would go beyond that ends the page before it, unless it is the first.
        """
        values = {"subject": subject, **_start(from_ms, after), "to_ms": to_ms, "limit": limit + 1}
        with self._db.reading() as tx:
            read = [
                [(row.at_ms, row.seq) for row in tx.run(_of_type, type=each, **values)]
                for each in dict.fromkeys(types)
            ] or [[(row.at_ms, row.seq) for row in tx.run(_all, **values)]]  # fmt: skip
            found = list(heapq.merge(*read))[: limit + 1]
            chosen = [seq for _, seq in found[:limit]]
            if payload_chars is None:
                rows = tx.run(_metadata, seqs=chosen).mappings().all()
            else:
                sizes = {row.seq: row.size or 0 for row in tx.run(_sizes, seqs=chosen)}
                chosen = _within(chosen, sizes, payload_chars)
                rows = tx.run(_whole, seqs=chosen).mappings().all()
        by_seq = {row["seq"]: _event(row) for row in rows}
        items = tuple(by_seq[seq] for seq in chosen)
        more = len(items) < len(found)
        return TracePage(items, Moment(items[-1].at_ms, items[-1].seq) if more and items else None)

    def event(self, subject: str, event_id: str) -> Event | None:
        """One event with its payload."""
        with self._db.reading() as tx:
            row = tx.run(_one, subject=subject, id=event_id).mappings().first()
        return _event(row) if row is not None else None


def _start(from_ms: int, after: Moment | None) -> dict[str, int]:
    """Where to begin, said twice: SQLite finds the place in its index by the time, PostgreSQL by the pair.

    PostgreSQL begins at the pair even where the time is later, and would read everything between.
    """
    if after is None or after.at_ms < from_ms:
        return {"from_ms": from_ms, "at": from_ms - 1, "seq": _LAST}
    return {"from_ms": after.at_ms, "at": after.at_ms, "seq": after.seq}


def _within(seqs: Sequence[int], sizes: dict[int, int], most: int) -> list[int]:
    """As many from the beginning as fit, at least one."""
    kept: list[int] = []
    for seq in seqs:
        most -= sizes[seq]
        if most < 0 and kept:
            break
        kept.append(seq)
    return kept


def _event(row: Any) -> Event:
    return Event(
        place=LogPosition(0, row["seq"]), id=row["id"], at_ms=row["at_ms"], type=row["type"], subject=row["subject"],
        project="", payload=row.get("payload"), took_us=row["took_us"], outline=row["outline"],
    )  # fmt: skip


_e = events.c
_big = sa.BigInteger
# In the very words of the partial indexes, or no planner would use them.
_of_a_run = sa.text(OF_A_RUN)
_from, _at, _seq = (sa.cast(bindparam(name), _big) for name in ("from_ms", "at", "seq"))
_all = (
    sa.select(_e.at_ms, _e.seq)
    .where(
        _e.tenant == ACTING, _e.subject == bindparam("subject"), _of_a_run, _e.at_ms >= _from,
        _e.at_ms < bindparam("to_ms"), sa.tuple_(_e.at_ms, _e.seq) > sa.tuple_(_at, _seq),
    )
    .order_by(_e.at_ms, _e.seq)
    .limit(bindparam("limit"))
)  # fmt: skip
_of_type = _all.where(_e.type == bindparam("type"))
_bare = [_e.seq, _e.id, _e.at_ms, _e.type, _e.subject, _e.took_us, _e.outline]
_these = (_e.tenant == ACTING, _e.seq.in_(bindparam("seqs", expanding=True)))
_metadata = sa.select(*_bare).where(*_these)
_whole = sa.select(*_bare, _e.payload).where(*_these)
_sizes = sa.select(_e.seq, sa.func.length(_e.payload, type_=sa.Integer).label("size")).where(*_these)
_one = sa.select(*_bare, _e.payload).where(
    _e.tenant == ACTING, _e.subject == bindparam("subject"), _of_a_run, _e.id == bindparam("id")
)


class Steps:
    """Reads and writes `run_steps`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, run_id: str, number: int, key: str, result: dict[str, object], *, at_ms: int) -> None:
        """Record a step; a Conflict if the run has one of this key or number."""
        with self._db.transaction() as tx:
            tx.add(run_steps, {"run_id": run_id, "number": number, "key": key, "result": result, "at_ms": at_ms})

    def result(self, run_id: str, key: str) -> dict[str, object] | None:
        """What a step gave; None if it was not done."""
        with self._db.reading() as tx:
            found: dict[str, object] | None = tx.run(_result, run=run_id, key=key).scalar()
            return found

    def keys(self, run_id: str, *, after: int, limit: int) -> list[tuple[int, str]]:
        """Numbers and keys of a run's steps, in order."""
        with self._db.reading() as tx:
            return [(row.number, row.key) for row in tx.run(_keys, run=run_id, after=after, limit=limit)]


_s = run_steps.c
_result = sa.select(_s.result).where(_s.tenant == ACTING, _s.run_id == bindparam("run"), _s.key == bindparam("key"))
_keys = (
    sa.select(_s.number, _s.key)
    .where(_s.tenant == ACTING, _s.run_id == bindparam("run"), _s.number > bindparam("after"))
    .order_by(_s.number)
    .limit(bindparam("limit"))
)
