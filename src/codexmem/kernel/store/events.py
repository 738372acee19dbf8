"""The append-only log in its table.

`seq` numbers an event, `position` orders commits: on PostgreSQL two writers may draw 5 and 6 and commit 6 first, so a
reader that only remembered "6" would never see 5. Readers therefore go by (position, seq) and never past the horizon
below which every transaction is decided. On SQLite the position is constant and numbers alone are in order.
Positions are numbers of one PostgreSQL cluster: whoever moves rows to another cluster must set them to 0.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.event import AUDIT, Event, LogPosition, NewEvent
from codexmem.kernel.model.visibility import Visibility, present_viewer
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import events

_CHUNK = 500


class EventTable:
    """Reads and writes `events`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def append(self, event: NewEvent, *, id: str, at_ms: int) -> None:
        """Log it with the transaction that it describes; its position is the column's default."""
        with self._db.transaction() as tx:
            # Who appends need not be able to read it again, so nothing comes back.
            tx.add(events, {
                **tx.number(events), "id": id, "at_ms": at_ms, "type": event.type.value, "subject": event.subject,
                "project": event.project, "payload": event.payload, "took_us": event.took_us,
                "outline": event.outline, "owner": event.owner or _private_to(event),
            })  # fmt: skip

    def after(self, place: LogPosition, *, limit: int) -> list[Event]:
        """What was committed after this place, in an order that never changes; only decided transactions.

        Payloads of the traces of runs are left out: a model's whole conversation is read by those who ask for it.
        """
        with self._db.reading() as tx:
            horizon = tx.engine.horizon(tx.connection)
            found = tx.run(_after, position=place.position, seq=place.seq, horizon=horizon, limit=limit)
            return [to_event(row) for row in found.mappings()]

    def place_of(self, seq: int) -> LogPosition:
        """Where a reader stands who remembers only the number of the last event that it saw.

        Exact while that event is stored, and always on SQLite. On PostgreSQL, once it has been pruned, its position is
        gone: the place is then before everything numbered later, so that nothing stored is skipped, but events written
        at the same moment may come again. A number that was never given means the end of the log.
        """
        with self._db.reading() as tx:
            horizon = tx.engine.horizon(tx.connection)
            exact = tx.run(_exactly, seq=seq).first()
            if exact is not None:
                return LogPosition(exact.position, exact.seq)
            later = tx.run(_first_later, seq=seq).first()
            if later is None:
                return self.end()
            if later.position < horizon:
                return LogPosition(later.position, later.seq - 1)
            return LogPosition(horizon, 0)  # an undecided transaction may yet commit an event before `later`

    def stored(self, seq: int) -> LogPosition | None:
        """The place of the event with this number, if it is stored."""
        with self._db.reading() as tx:
            row = tx.run(_exactly, seq=seq).first()
        return LogPosition(row.position, row.seq) if row is not None else None

    def end(self) -> LogPosition:
        """The place after the newest decided event."""
        with self._db.reading() as tx:
            row = tx.run(_end, horizon=tx.engine.horizon(tx.connection)).first()
        return LogPosition(row.position, row.seq) if row is not None else LogPosition(0, 0)

    def of_subject(self, subject: str, *, after_seq: int, limit: int, types: Sequence[str] = ()) -> list[Event]:
        """A trace: the events of one subject in order."""
        with self._db.reading() as tx:
            found = tx.run(_of_subject_types if types else _of_subject, subject=subject, seq=after_seq, limit=limit,
                           **({"types": list(types)} if types else {}))  # fmt: skip
            return [to_event(row) for row in found.mappings()]

    def of_type(self, type: str, *, from_ms: int, to_ms: int, limit: int) -> list[Event]:
        """The newest events of one type within a time."""
        with self._db.reading() as tx:
            found = tx.run(_of_type, type=type, from_ms=from_ms, to_ms=to_ms, limit=limit)
            return [to_event(row) for row in found.mappings()]

    def buckets(self, type: str, *, from_ms: int, to_ms: int, width_ms: int) -> list[tuple[int, int]]:
        """(start of bucket, how many) for buckets that are not empty."""
        with self._db.reading() as tx:
            found = tx.run(_buckets, type=type, from_ms=from_ms, to_ms=to_ms, width=width_ms)
            return [(from_ms + row.bucket * width_ms, row.total) for row in found]

    def counts(self, types: Sequence[str], *, from_ms: int, to_ms: int) -> dict[str, int]:
        """How many events of each type within a time; types without any are left out."""
        with self._db.reading() as tx:
            return {row.type: row.total for row in tx.run(_count, types=list(types), from_ms=from_ms, to_ms=to_ms)}

    def prune(self, type: str, *, before_ms: int, limit: int) -> int:
        """Remove the oldest events of a type, at most so many at a time; returns how many went."""
        with self._db.transaction() as tx:
            return tx.run(_prune, type=type, before_ms=before_ms, limit=limit).rowcount

    def scrub(self, subjects: Sequence[str]) -> None:
        """Blank the payloads of events about things that are forgotten; that they happened stays."""
        with self._db.transaction() as tx:
            for start in range(0, len(subjects), _CHUNK):
                tx.run(_scrub, subjects=list(subjects[start : start + _CHUNK]))

    def blank(self, seqs: Sequence[int]) -> None:
        """Blank the payloads of these events; that they happened stays."""
        with self._db.transaction() as tx:
            for start in range(0, len(seqs), _CHUNK):
                tx.run(_blank, seqs=list(seqs[start : start + _CHUNK]))


def _private_to(event: NewEvent) -> str | None:
    """Whose it is: what happens while somebody keeps things to himself is his; the audit is everybody's."""
    viewer = present_viewer()
    return viewer.owner or None if viewer.writes is Visibility.MINE and event.type not in AUDIT else None


def to_event(row: Any) -> Event:
    """A row of `events`."""
    return Event(
        place=LogPosition(row["position"], row["seq"]), id=row["id"], at_ms=row["at_ms"], type=row["type"],
        subject=row["subject"], project=row["project"], payload=row["payload"],
    )  # fmt: skip


_e = events.c
_big = sa.BigInteger
_told = sa.case((sa.func.substr(_e.subject, 1, 4) != "run:", _e.payload), else_=None).label("payload")
_after = (
    sa.select(*(each for each in _e if each is not _e.payload), _told)
    .where(
        _e.tenant == ACTING,
        sa.tuple_(_e.position, _e.seq)
        > sa.tuple_(sa.cast(bindparam("position"), _big), sa.cast(bindparam("seq"), _big)),
        _e.position < bindparam("horizon"),
    )
    .order_by(_e.position, _e.seq)
    .limit(bindparam("limit"))
)
_exactly = sa.select(_e.position, _e.seq).where(_e.tenant == ACTING, _e.seq == bindparam("seq"))
_first_later = (
    sa.select(_e.position, _e.seq)
    .where(_e.tenant == ACTING, _e.seq > bindparam("seq"))
    .order_by(_e.position, _e.seq)
    .limit(1)
)
_end = (
    sa.select(_e.position, _e.seq)
    .where(_e.tenant == ACTING, _e.position < bindparam("horizon"))
    .order_by(_e.position.desc(), _e.seq.desc())
    .limit(1)
)
_of_subject = (
    sa.select(events)
    .where(_e.tenant == ACTING, _e.subject == bindparam("subject"), _e.seq > bindparam("seq"))
    .order_by(_e.seq)
    .limit(bindparam("limit"))
)
_of_subject_types = _of_subject.where(_e.type.in_(bindparam("types", expanding=True)))
_within = (
    _e.tenant == ACTING,
    _e.type == bindparam("type"),
    _e.at_ms >= bindparam("from_ms"),
    _e.at_ms < bindparam("to_ms"),
)
_of_type = sa.select(events).where(*_within).order_by(_e.at_ms.desc(), _e.seq.desc()).limit(bindparam("limit"))
# Integer division means the same on both engines; CAST of a float does not.
_bucket = ((_e.at_ms - sa.cast(bindparam("from_ms"), _big)) // sa.cast(bindparam("width"), _big)).label("bucket")
_buckets = sa.select(_bucket, sa.func.count().label("total")).where(*_within).group_by(_bucket).order_by(_bucket)
_count = (
    sa.select(_e.type, sa.func.count().label("total"))
    .where(_e.tenant == ACTING, _e.type.in_(bindparam("types", expanding=True)),
           _e.at_ms >= bindparam("from_ms"), _e.at_ms < bindparam("to_ms"))
    .group_by(_e.type)
)  # fmt: skip
_oldest = (
    sa.select(_e.seq)
    .where(_e.tenant == ACTING, _e.type == bindparam("type"), _e.at_ms < bindparam("before_ms"))
    .order_by(_e.at_ms, _e.seq)
    .limit(bindparam("limit"))
)
_prune = sa.delete(events).where(_e.tenant == ACTING, _e.seq.in_(_oldest.scalar_subquery()))
_scrub = (
    sa.update(events)
    .where(_e.tenant == ACTING, _e.subject.in_(bindparam("subjects", expanding=True)))
    .values(payload=None, outline=None)
)
_blank = (
    sa.update(events)
    .where(_e.tenant == ACTING, _e.seq.in_(bindparam("seqs", expanding=True)))
    .values(payload=None, outline=None)
)
