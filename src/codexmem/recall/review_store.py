"""Pairs of memories that a person should look at, which of them are open, and what has been written since a number.

A pair is open while nobody has decided to keep both and both memories stand. One that was merged, superseded or hidden
is thereby settled, and an undo opens it again, without a word here: what counts is how the memories stand.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.life import UNPROVEN
from codexmem.kernel.model.memory import VISIBLE, Kind, Mark, Status
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, memory_facets, memory_findings
from codexmem.recall.review_model import COUNTED, FindingCursor, FindingKey, ReviewCounts, StoredFinding

_VISIBLE = [status.value for status in VISIBLE]


class FindingTable:
    """Reads and writes `memory_findings` of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._add = db.engine.insert(memory_findings).on_conflict_do_nothing().returning(memory_findings.c.seq)

    def newest_number(self) -> int:
        """The number of the last memory that was written; 0 in an empty store. One look into the key."""
        with self._db.reading() as tx:
            return tx.run(_newest).scalar() or 0

    def written_after(self, seq: int, limit: int) -> list[tuple[int, Kind]]:
        """Numbers and kinds of the next memories above a number; reads so many rows of the key and no others."""
        with self._db.reading() as tx:
            return [(row.seq, Kind(row.kind)) for row in tx.run(_after, seq=seq, limit=limit)]

    def add(self, finding: StoredFinding) -> bool:
        """Note a pair; False if it was found before, whatever was decided then."""
        with self._db.transaction() as tx:
            return tx.run(
                self._add, reason=finding.key.reason, seq=finding.key.seq, other=finding.key.other,
                project=finding.project, score=finding.score, found_ms=finding.found_ms, decided=finding.decided,
                decided_ms=None if finding.decided is None else finding.found_ms,
            ).first() is not None  # fmt: skip

    def open_pairs(
        self, projects: Sequence[str] | None, reasons: Sequence[str], limit: int, after: FindingCursor | None = None
    ) -> list[StoredFinding]:
        """Open pairs of these projects, or of all, the last found first; costs a page and what was settled lately."""
        with self._db.reading() as tx:
            values = _values(projects) | {"reasons": list(reasons), "limit": limit}
            if after is not None:
                values |= {"after_ms": after.found_ms, "after_seq": after.seq, "after_other": after.other}
            return [_finding(row) for row in tx.run(_open(projects is not None, after is not None), **values)]

    def get(self, key: FindingKey) -> StoredFinding | None:
        """One pair, open or not."""
        with self._db.reading() as tx:
            row = tx.run(_one, reason=key.reason, seq=key.seq, other=key.other).first()
            return _finding(row) if row is not None else None

    def decide(self, key: FindingKey, decided: str | None, now_ms: int) -> bool:
        """Note what was decided about a pair, or with None that it is open again; False if it stood so."""
        with self._db.transaction() as tx:
            done = tx.run(
                _decide if decided is not None else _reopen, of_reason=key.reason, of_seq=key.seq, of_other=key.other,
                decided=decided, decided_ms=None if decided is None else now_ms,
            )  # fmt: skip
            return bool(done.rowcount)

    def settle(self, before_ms: int, limit: int) -> int:
        """Close pairs found before a time of which a memory stands no longer, so that the queue need not skip them."""
        with self._db.transaction() as tx:
            found = tx.run(_settled, before_ms=before_ms, limit=limit, statuses=_VISIBLE).all()
            rows = [{"of_reason": each.reason, "of_seq": each.seq, "of_other": each.other, "decided": "settled",
                     "decided_ms": before_ms} for each in found]  # fmt: skip
            tx.run_many(_decide, rows)
            return len(rows)

    def counts(self, projects: Sequence[str] | None) -> ReviewCounts:
        """How much is open in these projects, or in all; each count stops at `COUNTED`."""
        scoped = projects is not None
        with self._db.reading() as tx:
            found = {row.reason: int(row.total) for row in tx.run(_counted(scoped), **_values(projects))}
            marked = tx.run(_marked(scoped), **_values(projects)).scalar_one()
            asked = tx.run(_candidates(scoped), **_values(projects, visible=False)).scalar_one()
        return ReviewCounts(int(marked), found.get("duplicate", 0), found.get("contradiction", 0), int(asked))


def _values(projects: Sequence[str] | None, *, visible: bool = True) -> dict[str, Any]:
    scope = {} if projects is None else {"projects": list(projects)}
    return scope | ({"statuses": _VISIBLE} if visible else {})


def _finding(row: Any) -> StoredFinding:
    key = FindingKey(row.reason, row.seq, row.other)
    return StoredFinding(key, row.project, row.score, row.found_ms, row.decided)


_f, _m = memory_findings.c, memories.c
_newer, _older = memories.alias("newer"), memories.alias("older")
_newest = sa.select(sa.func.max(_m.seq)).where(_m.tenant == ACTING)
_after = (
    sa.select(_m.seq, _m.kind)
    .where(_m.tenant == ACTING, _m.seq > bindparam("seq"))
    .order_by(_m.seq)
    .limit(bindparam("limit"))
)
_key = (_f.tenant == ACTING, _f.reason == bindparam("of_reason"), _f.seq == bindparam("of_seq"),
        _f.other == bindparam("of_other"))  # fmt: skip
_one = sa.select(memory_findings).where(
    _f.tenant == ACTING, _f.reason == bindparam("reason"), _f.seq == bindparam("seq"), _f.other == bindparam("other")
)
_change = sa.update(memory_findings).values(decided=bindparam("decided"), decided_ms=bindparam("decided_ms"))
_decide = _change.where(*_key, _f.decided.is_(None))
_reopen = _change.where(*_key, _f.decided.is_not(None))
_in_projects = _f.project.in_(bindparam("projects", expanding=True))
_statuses: sa.BindParameter[str] = bindparam("statuses", expanding=True)


def _standing() -> sa.Select[Any]:
    return (
        sa.select(memory_findings)
        .join(_newer, sa.and_(_newer.c.tenant == _f.tenant, _newer.c.seq == _f.seq))
        .join(_older, sa.and_(_older.c.tenant == _f.tenant, _older.c.seq == _f.other))
        .where(
            _f.tenant == ACTING, _f.decided.is_(None), _newer.c.status.in_(_statuses), _older.c.status.in_(_statuses)
        )
    )


def _open(scoped: bool, resumes: bool) -> sa.Select[Any]:
    selection = _standing().where(_f.reason.in_(bindparam("reasons", expanding=True)))
    if scoped:
        selection = selection.where(_in_projects)
    if resumes:
        seen = [bindparam(name, type_=sa.BigInteger) for name in ("after_ms", "after_seq", "after_other")]
        selection = selection.where(sa.tuple_(_f.found_ms, _f.seq, _f.other) < sa.tuple_(*seen))
    return selection.order_by(_f.found_ms.desc(), _f.seq.desc(), _f.other.desc()).limit(bindparam("limit"))


def _counted(scoped: bool) -> sa.Select[Any]:
    selection = _standing().with_only_columns(_f.reason)
    some = (selection.where(_in_projects) if scoped else selection).limit(COUNTED).subquery()
    return sa.select(some.c.reason, sa.func.count().label("total")).group_by(some.c.reason)


def _marked(scoped: bool) -> sa.Select[Any]:
    label = memory_facets.c
    selection = (
        sa.select(label.seq)
        .join(memories, sa.and_(_m.tenant == label.tenant, _m.seq == label.seq))
        .where(label.tenant == ACTING, label.facet == "mark", label.value == Mark.PROPOSED.value,
               _m.status.in_(_statuses))
    )  # fmt: skip
    if scoped:
        selection = selection.where(label.project.in_(bindparam("projects", expanding=True)))
    return sa.select(sa.func.count()).select_from(selection.limit(COUNTED).subquery())


def _candidates(scoped: bool) -> sa.Select[Any]:
    selection = sa.select(_m.seq).where(
        _m.tenant == ACTING, _m.kind.in_(sorted(UNPROVEN)), _m.status == Status.CANDIDATE.value
    )
    if scoped:
        selection = selection.where(_m.project.in_(bindparam("projects", expanding=True)))
    return sa.select(sa.func.count()).select_from(selection.limit(COUNTED).subquery())


_settled = (
    sa.select(_f.reason, _f.seq, _f.other)
    .join(_newer, sa.and_(_newer.c.tenant == _f.tenant, _newer.c.seq == _f.seq))
    .join(_older, sa.and_(_older.c.tenant == _f.tenant, _older.c.seq == _f.other))
    .where(
        _f.tenant == ACTING, _f.decided.is_(None), _f.found_ms < bindparam("before_ms"),
        sa.or_(_newer.c.status.not_in(_statuses), _older.c.status.not_in(_statuses)),
    )
    .limit(bindparam("limit"))
)  # fmt: skip
