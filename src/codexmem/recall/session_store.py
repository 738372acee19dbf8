"""What a list tells of each session: how it began and what came of it.

Both are read from the session's own part of an index, and no further than a bound, however long a session lasts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import VISIBLE, Kind, Status
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, sessions

MOST = 1_000  # memories of a session that are counted
_BEGINNING = 20  # memories of a session among which its first prompt is looked for
_TITLE = 400  # characters


@dataclass(frozen=True, slots=True)
class SessionOutline:
    """One session at a glance."""

    asked: str  # how the first prompt begins; empty where it is private, gone or far from the beginning
    observations: int
    summaries: int
    whole: bool  # False if only the first memories were counted
    hidden: int = 0  # memories of it that were undone or deleted, and can be brought back


class SessionOutlines:
    """Reads memories of sessions of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def of(self, numbers: Sequence[int]) -> dict[int, SessionOutline]:
        """One outline for each of these sessions; for a page of them."""
        if not numbers:
            return {}
        statuses = [status.value for status in VISIBLE]
        with self._db.reading() as tx:
            found = tx.run(_outlines, numbers=list(numbers), statuses=statuses)
            return {row.id: _outline(row) for row in found}


def _outline(row: Any) -> SessionOutline:
    return SessionOutline(row.asked or "", row.observations, row.summaries, row.looked < MOST, row.hidden)


_m, _s = memories.c, sessions.c
_own = (_m.tenant == ACTING, _m.session == _s.key)
_visible: sa.BindParameter[str] = bindparam("statuses", expanding=True)


def _some() -> sa.Subquery:
    """The session's first memories, as far as they are counted."""
    return sa.select(_m.kind, _m.status).where(*_own).limit(MOST).correlate(sessions).subquery()


def _count(kind: Kind) -> sa.ScalarSelect[int]:
    some = _some()
    return (
        sa.select(sa.func.count())
        .select_from(some)
        .where(some.c.kind == kind.value, some.c.status.in_(_visible))
        .scalar_subquery()
    )


def _hidden() -> sa.ScalarSelect[int]:
    some = _some()
    hidden = sa.select(sa.func.count()).select_from(some).where(some.c.status == Status.DELETED.value)
    return hidden.scalar_subquery()


def _first_prompt() -> sa.ScalarSelect[str]:
    beginning = (
        sa.select(_m.kind, _m.status, _m.created_ms, _m.seq, sa.func.substr(_m.content, 1, _TITLE).label("said"))
        .where(*_own)
        .order_by(_m.created_ms, _m.seq)
        .limit(_BEGINNING)
        .correlate(sessions)
        .subquery()
    )
    return (
        sa.select(beginning.c.said)
        .where(beginning.c.kind == Kind.PROMPT.value, beginning.c.status.in_(_visible), beginning.c.said != "")
        .order_by(beginning.c.created_ms, beginning.c.seq)
        .limit(1)
        .scalar_subquery()
    )


_outlines = sa.select(
    _s.id,
    _first_prompt().label("asked"),
    _count(Kind.OBSERVATION).label("observations"),
    _count(Kind.SUMMARY).label("summaries"),
    _hidden().label("hidden"),
    sa.select(sa.func.count()).select_from(_some()).scalar_subquery().label("looked"),
).where(_s.tenant == ACTING, _s.id.in_(bindparam("numbers", expanding=True)))
