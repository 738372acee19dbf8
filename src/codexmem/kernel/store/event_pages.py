"""Looking back over the log a page at a time, and summing it up by time.

Everything here reads one index, newest first, and no further than it is told: a page costs its own length, a sum at
most the number of events that the caller allows. Time and number together are the place in a list, because many events
share a millisecond.
"""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.event import Event
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.events import to_event
from codexmem.kernel.store.schema import events

_END = 2**62


@dataclass(frozen=True, slots=True)
class EventSpan:
    """A stretch of time, its beginning included and its end not."""

    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class EventTimings:
    """The events of one bucket, and how long those took that say so."""

    from_ms: int
    count: int
    timed: int
    took_us: int  # all of these together


class EventPages:
    """Reads the acting tenant's log."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def one(self, seq: int, type: str) -> Event | None:
        """The event of this number, if it is of this type."""
        with self._db.reading() as tx:
            row = tx.run(_one, seq=seq, type=type).mappings().first()
        return to_event(row) if row is not None else None

    def of_type(self, type: str, span: EventSpan, *, below: Event | None, limit: int) -> list[Event]:
        """Events of one type, newest first; `below` is the last one of the page before."""
        at, seq, to_ms = _END, _END, span.to_ms
        if below is not None:
            # The end as well: SQLite finds its beginning in the index by that, and not by a pair.
            at, seq, to_ms = below.at_ms, below.seq, min(span.to_ms, below.at_ms + 1)
        with self._db.reading() as tx:
            found = tx.run(_of_type, type=type, from_ms=span.from_ms, to_ms=to_ms, at=at, seq=seq, limit=limit)
            return [to_event(row) for row in found.mappings()]

    def of_subject(self, subject: str, type: str, span: EventSpan, *, below: Event | None, limit: int) -> list[Event]:
        """Events of one type about one subject, the latest numbers first."""
        seq = below.seq if below is not None else _END
        with self._db.reading() as tx:
            found = tx.run(
                _of_subject, subject=subject, type=type, from_ms=span.from_ms, to_ms=span.to_ms, seq=seq, limit=limit
            )
            return [to_event(row) for row in found.mappings()]

    def measured(self, type: str, span: EventSpan, *, width_ms: int, most: int) -> list[EventTimings]:
        """Buckets that are not empty, oldest first, of the `most` newest events of the type."""
        with self._db.reading() as tx:
            found = tx.run(
                _measured, type=type, from_ms=span.from_ms, to_ms=span.to_ms, width=width_ms, most=most
            ).all()  # fmt: skip
        return [_bucket_of(row, span.from_ms, width_ms) for row in found]


def _bucket_of(row: Any, from_ms: int, width_ms: int) -> EventTimings:
    return EventTimings(from_ms + row.bucket * width_ms, row.total, row.timed, int(row.took or 0))


_e = events.c
_big = sa.BigInteger
_within = (
    _e.tenant == ACTING,
    _e.type == bindparam("type"),
    _e.at_ms >= bindparam("from_ms"),
    _e.at_ms < bindparam("to_ms"),
)
_one = sa.select(events).where(_e.tenant == ACTING, _e.seq == bindparam("seq"), _e.type == bindparam("type"))
_of_type = (
    sa.select(events)
    .where(
        *_within,
        sa.tuple_(_e.at_ms, _e.seq) < sa.tuple_(sa.cast(bindparam("at"), _big), sa.cast(bindparam("seq"), _big)),
    )
    .order_by(_e.at_ms.desc(), _e.seq.desc())
    .limit(bindparam("limit"))
)
_of_subject = (
    sa.select(events)
    .where(*_within, _e.subject == bindparam("subject"), _e.seq < bindparam("seq"))
    .order_by(_e.seq.desc())
    .limit(bindparam("limit"))
)
_newest = (
    sa.select(_e.at_ms, _e.took_us)
    .where(*_within)
    .order_by(_e.at_ms.desc(), _e.seq.desc())
    .limit(bindparam("most"))
    .subquery()
)
# Integer division means the same on both engines; CAST of a float does not.
_bucket = ((_newest.c.at_ms - sa.cast(bindparam("from_ms"), _big)) // sa.cast(bindparam("width"), _big)).label("bucket")
_measured = (
    sa.select(
        _bucket,
        sa.func.count().label("total"),
        sa.func.count(_newest.c.took_us).label("timed"),
        sa.func.sum(_newest.c.took_us).label("took"),
    )
    .group_by(_bucket)
    .order_by(_bucket)
)
