"""Sessions: found or begun by the agent's own name, and held while something of theirs is captured.

Touching a session locks its row until the transaction ends, so that its turns and events are numbered one at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.errors import Forbidden
from codexmem.kernel.model.session import Session, SessionStatus
from codexmem.kernel.model.visibility import Visibility, present_viewer
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.schema import sessions

_FIELDS = [f.name for f in fields(Session)]


@dataclass(frozen=True, slots=True)
class Gathering:
    """The waiting job that events of a session join, and how many it has."""

    job: int | None
    events: int


@dataclass(frozen=True, slots=True)
class TouchedSession:
    """A session that something is being captured for."""

    session: Session
    gathering: Gathering
    new: bool = False


class Sessions:
    """Reads and writes `sessions`."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._begin = db.engine.insert(sessions).on_conflict_do_nothing().returning(sessions.c.id)

    def touch(self, key: str, *, project: str, platform: str, cwd: str, now_ms: int,
              rules_only: bool = False) -> TouchedSession:  # fmt: skip
        """The session of this name, begun if it is new; what it did not know yet is filled in.

        Once only rules may read it, that stays so.
        """
        said = {"project": project, "platform": platform, "cwd": cwd, "rules_only": rules_only}
        viewer = present_viewer()
        shown = viewer.writes.value if viewer.writes is not Visibility.PROJECT else None
        with self._db.transaction() as tx:
            found = self._touch(tx, key, said, now_ms)
            if found is not None:
                return found
            begun = tx.run(
                self._begin, **tx.number(sessions), key=key, **said,
                status=SessionStatus.ACTIVE.value, turn=0, private=False, gathered=0, started_ms=now_ms, last_ms=now_ms,
                owner=viewer.owner or None, visibility=shown,
            ).first()  # fmt: skip
            found = self._touch(tx, key, said, now_ms)
            if found is None:  # neither ours nor that of whoever was faster
                raise Forbidden("this session belongs to somebody else, or to a project that is not this member's")
            return replace(found, new=begun is not None)

    def _touch(self, tx: Transaction, key: str, said: Mapping[str, object], now_ms: int) -> TouchedSession | None:
        row = tx.run(_touch, of_key=key, **said, now=now_ms).mappings().first()
        return TouchedSession(_session(row), Gathering(row["gathering"], row["gathered"])) if row is not None else None

    def assign(self, session: Session, project: str) -> Session:
        """Put the session into a project."""
        with self._db.transaction() as tx:
            return _session(tx.run(_assign, of_id=session.id, project=project).mappings().one())

    def begin_turn(self, session: Session, *, private: bool) -> Session:
        """One more prompt; a completed session that is spoken to again is active again."""
        with self._db.transaction() as tx:
            return _session(tx.run(_begin_turn, of_id=session.id, private=private).mappings().one())

    def reach(self, session: Session, turn: int) -> None:
        """So many prompts of the session are known; the next one comes after them."""
        with self._db.transaction() as tx:
            tx.run(_reach, of_id=session.id, to_turn=turn)

    def complete(self, key: str, *, now_ms: int) -> TouchedSession | None:
        """Mark an active session completed; None if there is none."""
        with self._db.transaction() as tx:
            row = tx.run(_complete, of_key=key, now=now_ms).mappings().first()
            return (
                TouchedSession(_session(row), Gathering(row["gathering"], row["gathered"])) if row is not None else None
            )

    def gather(self, session: Session, what: Gathering) -> None:
        """From now on events join this job, or none."""
        with self._db.transaction() as tx:
            tx.run(_gather, of_id=session.id, job=what.job, events=what.events)

    def hold(self, session_id: int) -> bool:
        """Keep the session from being forgotten until the transaction ends; False if it already was."""
        with self._db.transaction() as tx:
            return bool(tx.run(_hold, of_id=session_id).rowcount)

    def get(self, session_id: int) -> Session | None:
        """One session by its number."""
        with self._db.reading() as tx:
            row = tx.run(_get, id=session_id).mappings().first()
        return _session(row) if row is not None else None

    def named(self, key: str) -> Session | None:
        """One session by the agent's name for it."""
        with self._db.reading() as tx:
            row = tx.run(_named, key=key).mappings().first()
        return _session(row) if row is not None else None

    def known(self, keys: Sequence[str]) -> dict[str, Session]:
        """Those of these names that are sessions' names; for a page of them."""
        if not keys:
            return {}
        with self._db.reading() as tx:
            return {row["key"]: _session(row) for row in tx.run(_known, keys=list(dict.fromkeys(keys))).mappings()}

    def newest(self, *, project: str | None = None, below: tuple[int, int] | None = None, limit: int) -> list[Session]:
        """Sessions by last activity, newest first; `below` is (last_ms, id) of the last one of the page before."""
        last_ms, last_id = below or (2**62, 2**62)
        with self._db.reading() as tx:
            given = {"last_ms": last_ms, "last_id": last_id, "limit": limit}
            found = tx.run(_newest, **given) if project is None else tx.run(_newest_of, **given, project=project)
            return [_session(row) for row in found.mappings()]

    def any_rules_only(self, project: str) -> bool:
        """Whether the project has a session that only rules may read; one look at an index."""
        with self._db.reading() as tx:
            return tx.run(_any_rules_only, project=project).first() is not None

    def counts(self) -> tuple[int, int]:
        """How many sessions there are, and how many of them are active."""
        with self._db.reading() as tx:
            row = tx.run(_counts).one()
            return row.total, row.active

    def numbers_of(self, *, project: str, limit: int) -> list[int]:
        """Some sessions of a project."""
        with self._db.reading() as tx:
            return list(tx.run(_of_project, project=project, limit=limit).scalars())

    def erase(self, ids: list[int]) -> None:
        """Remove sessions that are forgotten."""
        with self._db.transaction() as tx:
            tx.run(_erase, ids=ids)


def _session(row: Any) -> Session:
    visibility = Visibility(row["visibility"] or Visibility.PROJECT)
    return Session(
        **{name: row[name] for name in _FIELDS} | {"status": SessionStatus(row["status"]), "visibility": visibility}
    )


_s = sessions.c
_columns = [_s[name] for name in _FIELDS]


def _filled(name: str) -> sa.ColumnElement[str]:
    # What was said first stays: a later event knows less, not better.
    return sa.case((_s[name] == "", sa.cast(bindparam(name), sa.Text)), else_=_s[name])


_now = sa.cast(bindparam("now"), sa.BigInteger)
_touch = (
    sa.update(sessions)
    .where(_s.tenant == ACTING, _s.key == bindparam("of_key"))
    .values(
        last_ms=sa.case((_s.last_ms < _now, _now), else_=_s.last_ms),
        project=_filled("project"), platform=_filled("platform"), cwd=_filled("cwd"),
        rules_only=sa.or_(_s.rules_only, sa.cast(bindparam("rules_only"), sa.Boolean)),
    )
    .returning(*_columns, _s.gathering, _s.gathered)
)  # fmt: skip
_assign = (
    sa.update(sessions)
    .where(_s.tenant == ACTING, _s.id == bindparam("of_id"))
    .values(project=bindparam("project"))
    .returning(*_columns)
)
_begin_turn = (
    sa.update(sessions)
    .where(_s.tenant == ACTING, _s.id == bindparam("of_id"))
    .values(turn=_s.turn + 1, private=bindparam("private"), status=SessionStatus.ACTIVE.value, ended_ms=None)
    .returning(*_columns)
)
_reach = (
    sa.update(sessions)
    .where(_s.tenant == ACTING, _s.id == bindparam("of_id"), _s.turn < bindparam("to_turn"))
    .values(turn=bindparam("to_turn"))
)
_complete = (
    sa.update(sessions)
    .where(_s.tenant == ACTING, _s.key == bindparam("of_key"), _s.status == SessionStatus.ACTIVE.value)
    .values(status=SessionStatus.COMPLETED.value, ended_ms=_now)
    .returning(*_columns, _s.gathering, _s.gathered)
)
_hold = sa.update(sessions).where(_s.tenant == ACTING, _s.id == bindparam("of_id")).values(last_ms=_s.last_ms)
_gather = (
    sa.update(sessions)
    .where(_s.tenant == ACTING, _s.id == bindparam("of_id"))
    .values(gathering=bindparam("job"), gathered=bindparam("events"))
)
_get = sa.select(*_columns).where(_s.tenant == ACTING, _s.id == bindparam("id"))
_named = sa.select(*_columns).where(_s.tenant == ACTING, _s.key == bindparam("key"))
_known = sa.select(*_columns).where(_s.tenant == ACTING, _s.key.in_(bindparam("keys", expanding=True)))
_newest = (
    sa.select(*_columns)
    .where(
        _s.tenant == ACTING,
        sa.tuple_(_s.last_ms, _s.id)
        < sa.tuple_(bindparam("last_ms", type_=sa.BigInteger), bindparam("last_id", type_=sa.BigInteger)),
    )
    .order_by(_s.last_ms.desc(), _s.id.desc())
    .limit(bindparam("limit"))
)
_newest_of = _newest.where(_s.project == bindparam("project"))
_active = sa.select(sa.func.count()).where(_s.tenant == ACTING, sa.text("sessions.status = 'active'"))
_counts = sa.select(
    sa.select(sa.func.count()).where(_s.tenant == ACTING).scalar_subquery().label("total"),
    _active.scalar_subquery().label("active"),
)
_any_rules_only = (
    sa.select(_s.id)
    .where(_s.tenant == ACTING, _s.project == bindparam("project"), sa.text("sessions.rules_only"))
    .limit(1)
)
_of_project = sa.select(_s.id).where(_s.tenant == ACTING, _s.project == bindparam("project")).limit(bindparam("limit"))
_erase = sa.delete(sessions).where(_s.tenant == ACTING, _s.id.in_(bindparam("ids", expanding=True)))
