"""What was learned about questions with answers, and which signals were heard already.

Learning reads a belief and writes it back, so it holds the row from the first look to the commit. Several rows are
always held in the order of their numbers: two learners of the same items cannot wait for each other in a circle.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.store.array_param import among, asked_texts
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, qa_beliefs, qa_signals
from codexmem.qa.model.belief import Belief

MOST = 10_000  # counting stops here: so many, or more


@dataclass(frozen=True, slots=True)
class Learned:
    """The row of one item."""

    belief: Belief
    spoken_ms: int  # when something last spoke for it
    due_ms: int | None = None  # when to look whether it has expired


@dataclass(frozen=True, slots=True)
class Named:
    """An item that an id of a project names."""

    seq: int
    created_ms: int


@dataclass(frozen=True, slots=True)
class Heard:
    """One signal of one message about one item."""

    seq: int
    signal: str
    message: str


class Beliefs:
    """Reads and writes `qa_beliefs` and `qa_signals`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._begin = db.engine.insert(qa_beliefs).on_conflict_do_nothing()
        self._hear = db.engine.insert(qa_signals).on_conflict_do_nothing().returning(qa_signals.c.seq)

    def named(self, project: str, ids: Sequence[str]) -> dict[str, Named]:
        """Those of these ids that items of the project have, deleted ones aside."""
        with self._db.reading() as tx:
            rows = tx.run(_named, ids=list(dict.fromkeys(ids)), project=project)
            return {row.id: Named(row.seq, row.created_ms) for row in rows}

    def of(self, seqs: Iterable[int]) -> dict[int, Learned]:
        """What was learned about those of these items about which something was."""
        wanted = list(dict.fromkeys(seqs))
        if not wanted:
            return {}
        with self._db.reading() as tx:
            return {row.seq: _learned(row) for row in tx.run(_of, seqs=wanted)}

    def hold(self, born_ms: Mapping[int, int]) -> dict[int, Learned]:
        """The rows of these items, by number and with the time each was made, held until the transaction ends."""
        seqs = sorted(born_ms)
        if not seqs:
            return {}
        with self._db.transaction() as tx:
            tx.run_many(self._begin, [
                {"seq": seq, "good": 0.0, "bad": 0.0, "at_ms": 0, "spoken_ms": born_ms[seq], "due_ms": None}
                for seq in seqs
            ])  # fmt: skip
            return {row.seq: _learned(row) for row in tx.run(_hold, seqs=seqs)}

    def put(self, seq: int, learned: Learned) -> None:
        """Replace a row that is held."""
        with self._db.transaction() as tx:
            tx.run(
                _put, of_seq=seq, good=learned.belief.good, bad=learned.belief.bad, at_ms=learned.belief.at_ms,
                spoken_ms=learned.spoken_ms, due_ms=learned.due_ms,
            )  # fmt: skip

    def counts(self, statuses: Sequence[Status], project: str | None, *, most: int = MOST) -> dict[Status, int]:
        """How many items there are of each of these statuses; of a project, among the newest `most` that it has."""
        with self._db.reading() as tx:
            if project is None:
                return {each: int(tx.run(_counted, status=each.value, most=most).scalar_one()) for each in statuses}
            found = {row.status: int(row.total) for row in tx.run(_counted_in, project=project, most=most)}
            return {each: found.get(each.value, 0) for each in statuses}

    def due(self, now_ms: int, limit: int) -> list[int]:
        """Numbers of items whose time may be over, the longest due first."""
        with self._db.reading() as tx:
            return list(tx.run(_due, now_ms=now_ms, limit=limit).scalars())

    def hear(self, heard: Heard, now_ms: int) -> bool:
        """Note a signal; False if it was heard before."""
        with self._db.transaction() as tx:
            row = tx.run(self._hear, seq=heard.seq, signal=heard.signal, message=heard.message, at_ms=now_ms).first()
            return row is not None

    def forget_signals(self, before_ms: int, limit: int) -> int:
        """Remove the oldest notes of signals, at most so many; what was learned from them stays."""
        with self._db.transaction() as tx:
            old = tx.run(_oldest, before_ms=before_ms, limit=limit).all()
            rows = [{"of_seq": row.seq, "of_signal": row.signal, "of_message": row.message} for row in old]
            tx.run_many(_forget, rows)
            return len(rows)


def _learned(row: Any) -> Learned:
    return Learned(Belief(row.good, row.bad, row.at_ms), row.spoken_ms, row.due_ms)


_b, _s, _m = qa_beliefs.c, qa_signals.c, memories.c
_asked = asked_texts("ids")
_named = (
    sa.select(_m.id, _m.seq, _m.created_ms)
    .join_from(_asked, memories, _m.id == _asked.c.value)
    .where(
        _m.tenant == ACTING, _m.kind == Kind.QA.value, _m.project == bindparam("project"),
        _m.status != Status.DELETED.value,
    )
)  # fmt: skip
_qa = (_m.tenant == ACTING, _m.kind == Kind.QA.value)
_counted = sa.select(sa.func.count()).select_from(
    sa.select(_m.seq).where(*_qa, _m.status == bindparam("status")).limit(bindparam("most")).subquery()
)
_newest = (
    sa.select(_m.status)
    .where(*_qa, _m.project == bindparam("project"))
    .order_by(_m.created_ms.desc(), _m.seq.desc())
    .limit(bindparam("most"))
    .subquery()
)
_counted_in = sa.select(_newest.c.status, sa.func.count().label("total")).group_by(_newest.c.status)
_of = sa.select(qa_beliefs).where(_b.tenant == ACTING, among(_b.seq, "seqs"))
# SQLite has one writer and no row locks; the clause is left out there.
_hold = _of.order_by(_b.seq).with_for_update()
_put = (
    sa.update(qa_beliefs)
    .where(_b.tenant == ACTING, _b.seq == bindparam("of_seq"))
    .values({name: bindparam(name) for name in ("good", "bad", "at_ms", "spoken_ms", "due_ms")})
)
_due = (
    sa.select(_b.seq)
    .where(_b.tenant == ACTING, _b.due_ms.is_not(None), _b.due_ms <= bindparam("now_ms"))
    .order_by(_b.due_ms, _b.seq)
    .limit(bindparam("limit"))
)
_oldest = (
    sa.select(_s.seq, _s.signal, _s.message)
    .where(_s.tenant == ACTING, _s.at_ms < bindparam("before_ms"))
    .order_by(_s.at_ms)
    .limit(bindparam("limit"))
)
_forget = sa.delete(qa_signals).where(
    _s.tenant == ACTING, _s.seq == bindparam("of_seq"), _s.signal == bindparam("of_signal"),
    _s.message == bindparam("of_message"),
)  # fmt: skip
