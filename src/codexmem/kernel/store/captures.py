"""Captured events: kept once each, read by the job that extracts them, faded when their time is over."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.capture import Capture, CapturedEvent, HookReport
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import captured_events


@dataclass(frozen=True, slots=True)
class Occurrence:
    """That something was captured, without what it said."""

    seq: int
    session: int
    turn: int
    kind: Capture
    tool: str
    at_ms: int
    job: int | None  # what extracts it
    kept: bool  # whether what it said is still here


class Captures:
    """Reads and writes `captured_events`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._add = db.engine.insert(captured_events).on_conflict_do_nothing().returning(captured_events.c.seq)

    def add(self, report: HookReport, kind: Capture, key: str, *, session: int, turn: int, at_ms: int, now_ms: int,
            job: int | None = None) -> int | None:  # fmt: skip
        """Keep the event; None if it was captured before."""
        with self._db.transaction() as tx:
            seq: int | None = tx.run(
                self._add, **tx.number(captured_events), session=session, turn=turn, kind=kind.value, key=key,
                delivery=report.event or None, tool=report.tool, body=_body(report), job=job, at_ms=at_ms,
                created_ms=now_ms,
            ).scalar()  # fmt: skip
            return seq

    def delivered(self, event: str) -> tuple[int, int] | None:
        """Session and turn of a delivery that was captured before."""
        with self._db.reading() as tx:
            row = tx.run(_delivered, event=event).first()
        return (row.session, row.turn) if row is not None else None

    def delivered_of(self, events: Sequence[str]) -> frozenset[str]:
        """Those of these deliveries that were captured before; for a page of them."""
        if not events:
            return frozenset()
        with self._db.reading() as tx:
            return frozenset(tx.run(_delivered_of, events=list(events)).scalars())

    def prompt_delivery(self, session: int, turn: int) -> str | None:
        """The delivery that began a turn, if its sender named it."""
        with self._db.reading() as tx:
            found: str | None = tx.run(_prompt_delivery, session=session, turn=turn).scalar()
            return found

    def hand_to(self, seq: int, job: int) -> None:
        """Say which job extracts the event."""
        with self._db.transaction() as tx:
            tx.run(_hand_to, of_seq=seq, of_job=job)

    def of_job(self, job: int, *, limit: int = 500) -> list[CapturedEvent]:
        """What a job is to extract, in order."""
        with self._db.reading() as tx:
            return [_event(row) for row in tx.run(_of_job, job=job, limit=limit)]

    def occurrences(self, seqs: Sequence[int]) -> list[Occurrence]:
        """Those of these events that are known, in order; for a few."""
        if not seqs:
            return []
        with self._db.reading() as tx:
            return [
                Occurrence(
                    row.seq, row.session, row.turn, Capture(row.kind), row.tool, row.at_ms, row.job, bool(row.kept)
                )
                for row in tx.run(_occurrences, seqs=list(seqs))
            ]

    def of_turn(self, session: int, turn: int, kind: Capture, *, limit: int) -> list[CapturedEvent]:
        """The last events of one kind in a turn, in order."""
        with self._db.reading() as tx:
            found = tx.run(_of_turn, session=session, turn=turn, kind=kind.value, limit=limit)
            return [_event(row) for row in found][::-1]

    def of_session(self, session: int, *, after: int = 0, limit: int) -> list[CapturedEvent]:
        """A page of everything captured in a session."""
        with self._db.reading() as tx:
            return [_event(row) for row in tx.run(_of_session, session=session, after=after, limit=limit)]

    def newest(self, *, below: int, since_ms: int, limit: int) -> list[CapturedEvent]:
        """A page of what was captured since a moment and is still here, the newest first."""
        with self._db.reading() as tx:
            return [_event(row) for row in tx.run(_latest, below=below, since_ms=since_ms, limit=limit)]

    def one(self, session: int, seq: int) -> CapturedEvent | None:
        """One event of a session, as it was captured."""
        with self._db.reading() as tx:
            row = tx.run(_one, session=session, seq=seq).first()
        return _event(row) if row is not None else None

    def fade(self, *, before_ms: int, limit: int) -> int:
        """Blank the bodies of some events captured before; that they were captured stays known."""
        with self._db.transaction() as tx:
            return tx.run(_fade, before_ms=before_ms, limit=limit).rowcount

    def blank(self, seqs: Sequence[int]) -> None:
        """Blank these events' bodies: what came of them is forgotten."""
        with self._db.transaction() as tx:
            tx.run(_blank, seqs=list(seqs))

    def erase(self, sessions: Sequence[int], *, limit: int) -> int:
        """Remove some events of these sessions."""
        with self._db.transaction() as tx:
            return tx.run(_erase, sessions=list(sessions), limit=limit).rowcount


def _body(report: HookReport) -> dict[str, object]:
    body = {"input": report.input, "response": report.response, "cwd": report.cwd, "message": report.message,
            "agent": report.agent, "files": list(report.files)}  # fmt: skip
    return {name: value for name, value in body.items() if value not in (None, "", [])}


def _event(row: Any) -> CapturedEvent:
    body = dict(row.body or {})
    return CapturedEvent(
        row.seq, row.session, row.turn, Capture(row.kind), row.at_ms, tool=row.tool, job=row.job,
        kept=row.body is not None, files=tuple(body.pop("files", ())), **body,
    )  # fmt: skip


_c = captured_events.c
_columns = (_c.seq, _c.session, _c.turn, _c.kind, _c.tool, _c.body, _c.job, _c.at_ms)
_delivered = sa.select(_c.session, _c.turn).where(
    _c.tenant == ACTING, _c.delivery == bindparam("event"), sa.text("captured_events.delivery IS NOT NULL")
)
_delivered_of = sa.select(_c.delivery).where(
    _c.tenant == ACTING, _c.delivery.in_(bindparam("events", expanding=True)),
    sa.text("captured_events.delivery IS NOT NULL"),
)  # fmt: skip
_prompt_delivery = (
    sa.select(_c.delivery)
    .where(
        _c.tenant == ACTING, _c.session == bindparam("session"), _c.turn == bindparam("turn"),
        _c.kind == Capture.PROMPT.value,
    )
    .limit(1)
)  # fmt: skip
_hand_to = (
    sa.update(captured_events)
    .where(_c.tenant == ACTING, _c.seq == bindparam("of_seq"))
    .values(job=sa.cast(bindparam("of_job"), sa.BigInteger))
)
_of_job = (
    sa.select(*_columns)
    .where(_c.tenant == ACTING, _c.job == bindparam("job"), sa.text("captured_events.job IS NOT NULL"))
    .order_by(_c.seq)
    .limit(bindparam("limit"))
)
_occurrences = (
    sa.select(_c.seq, _c.session, _c.turn, _c.kind, _c.tool, _c.at_ms, _c.job, _c.body.is_not(None).label("kept"))
    .where(_c.tenant == ACTING, _c.seq.in_(bindparam("seqs", expanding=True)))
    .order_by(_c.seq)
)
_of_turn = (
    sa.select(*_columns)
    .where(
        _c.tenant == ACTING, _c.session == bindparam("session"), _c.turn == bindparam("turn"),
        _c.kind == bindparam("kind"),
    )
    .order_by(_c.seq.desc())
    .limit(bindparam("limit"))
)  # fmt: skip
_of_session = (
    sa.select(*_columns)
    .where(_c.tenant == ACTING, _c.session == bindparam("session"), _c.seq > bindparam("after"))
    .order_by(_c.seq)
    .limit(bindparam("limit"))
)
_latest = (
    sa.select(*_columns)
    .where(
        _c.tenant == ACTING, _c.seq < bindparam("below"), _c.created_ms >= bindparam("since_ms"),
        sa.text("captured_events.body IS NOT NULL"),
    )
    .order_by(_c.seq.desc())
    .limit(bindparam("limit"))
)  # fmt: skip
_one = sa.select(*_columns).where(_c.tenant == ACTING, _c.session == bindparam("session"), _c.seq == bindparam("seq"))
_old = (
    sa.select(_c.seq)
    .where(
        _c.tenant == ACTING, _c.created_ms < bindparam("before_ms"), sa.text("captured_events.body IS NOT NULL")
    )
    .order_by(_c.created_ms)
    .limit(bindparam("limit"))
)  # fmt: skip
_fade = sa.update(captured_events).where(_c.tenant == ACTING, _c.seq.in_(_old)).values(body=sa.null())
_blank = (
    sa.update(captured_events)
    .where(_c.tenant == ACTING, _c.seq.in_(bindparam("seqs", expanding=True)))
    .values(body=sa.null())
)
_theirs = (
    sa.select(_c.seq)
    .where(_c.tenant == ACTING, _c.session.in_(bindparam("sessions", expanding=True)))
    .limit(bindparam("limit"))
)
_erase = sa.delete(captured_events).where(_c.tenant == ACTING, _c.seq.in_(_theirs))
