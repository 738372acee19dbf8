"""Counting for the page of a project: days, labels, readings, questions to models and what agents were given.

Every statement begins at an index of the project or of a type of event and reads a stretch of time, or the newest rows
up to a bound; what lies beyond is said with `whole`.
"""

from collections import Counter, defaultdict
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import DeltaStatus
from codexmem.kernel.model.life import Act
from codexmem.kernel.model.memory import REMEMBERED, VISIBLE, Kind, is_manual_session
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import (
    deltas,
    events,
    memories,
    memory_facets,
    memory_tellings,
    memory_versions,
    sessions,
)
from codexmem.recall.brief_model import DAY_MS, LEARNED, DaySpan, LearnedDay, ReadingCounts, ToldCounts

T = TypeVar("T")
MOST_LABELLED = 2_000  # memories of a kind whose labels, or readings, are looked at
MOST_EVENTS = 10_000  # events of a type
MOST_TOLD = 5_000  # pairs of a session and a memory
_VISIBLE = [status.value for status in VISIBLE]
_REMEMBERED = [kind.value for kind in sorted(REMEMBERED)]
_CHUNK = 500  # values that one statement is given
_LEARNED = [kind.value for kind in sorted(LEARNED)]
_FACETS = ("file", "concept", "type")
# Acts by which somebody says that a memory was not right as it stood.
_CORRECTIONS = [act.value for act in (Act.EDIT, Act.HIDE, Act.DEPRECATE, Act.SUPERSEDE, Act.MERGE, Act.SPLIT)]


class BriefTable:
    """Counts what the acting tenant has of one project."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def days(self, project: str, span: DaySpan) -> list[LearnedDay]:
        """Days on which something was learned, oldest first; reads the project's memories of the span and no others."""
        found: dict[int, LearnedDay] = {}
        worked: dict[int, set[str]] = defaultdict(set)
        with self._db.reading() as tx:
            rows = tx.run(
                _by_day, kinds=_REMEMBERED, project=project, from_ms=span.from_ms, to_ms=span.to_ms, statuses=_VISIBLE,
                offset=span.offset_ms,
            ).all()  # fmt: skip
        for row in rows:
            if row.session is not None and not is_manual_session(row.session):
                worked[row.day].add(row.session)
            if row.kind == Kind.PROMPT:
                continue
            day = found.setdefault(row.day, LearnedDay(row.day))
            day.memories += row.total
            name = row.type or row.kind
            day.types[name] = day.types.get(name, 0) + row.total
        for number, day in found.items():
            day.sessions = len(worked[number])
        return [found[number] for number in sorted(found)]

    def labels(self, project: str, from_ms: int, to_ms: int) -> tuple[dict[str, Counter[str]], bool]:
        """How many memories have each label, agent and origin, and whether all of the time were looked at.

        Costs the labels of the newest `MOST_LABELLED` memories of each kind, some hundreds at a time: an engine that is
        given them as one join may begin at the labels of the whole store.
        """
        counted: dict[str, Counter[str]] = {name: Counter() for name in (*_FACETS, "agent", "origin")}
        whole = True
        with self._db.reading() as tx:
            for kind in _LEARNED:
                rows = tx.run(
                    _newest_rows, kind=kind, project=project, from_ms=from_ms, to_ms=to_ms, statuses=_VISIBLE,
                    most=MOST_LABELLED,
                ).all()  # fmt: skip
                whole = whole and len(rows) < MOST_LABELLED
                counted["origin"].update(row.origin for row in rows)
                for some in _chunks([row.seq for row in rows]):
                    for row in tx.run(_labels, seqs=some):
                        if row.facet in _FACETS:
                            counted[row.facet][row.value] += row.total
                made = Counter(row.session for row in rows if row.session is not None)
                for keys in _chunks(list(made)):
                    for row in tx.run(_agents, keys=keys):
                        counted["agent"][row.platform] += made[row.key]
        return counted, whole

    def readings(self, project: str, told: int) -> ReadingCounts:
        """How many were never told, and how many so often without use; looks at the newest of each kind."""
        never = unused = 0
        whole = True
        with self._db.reading() as tx:
            for kind in _LEARNED:
                row = tx.run(
                    _readings, kind=kind, project=project, from_ms=0, to_ms=2**62, statuses=_VISIBLE,
                    most=MOST_LABELLED, told=told,
                ).one()  # fmt: skip
                never, unused = never + int(row.never or 0), unused + int(row.unused or 0)
                whole = whole and row.total < MOST_LABELLED
        return ReadingCounts(never, unused, whole)

    def logged(self, type: EventType, from_ms: int, to_ms: int) -> tuple[list[tuple[int, str, dict[str, Any]]], bool]:
        """When, for which project and what: the newest events of a type, and whether these are all.

        Costs the events of that time, `MOST_EVENTS` at most.
        """
        with self._db.reading() as tx:
            rows = tx.run(_logged, type=type.value, from_ms=from_ms, to_ms=to_ms, most=MOST_EVENTS + 1).all()
        found = [(row.at_ms, row.project, row.payload or {}) for row in rows[:MOST_EVENTS]]
        return found, len(rows) <= MOST_EVENTS

    def told(self, project: str, from_ms: int) -> ToldCounts:
        """What became of the project's memories that sessions were first told since.

        Costs the newest `MOST_TOLD` pairs of a session and a memory, and the versions of these memories.
        """
        told = used = corrected = 0
        with self._db.reading() as tx:
            pairs = tx.run(_pairs, from_ms=from_ms, most=MOST_TOLD).all()
            first = {row.seq: row.first_ms for row in pairs}  # the latest first, so that the earliest stays
            for seqs in _chunks(list(first)):
                here = {row.seq: row for row in tx.run(_told, seqs=seqs, project=project)}
                told += len(here)
                used += sum(row.used > 0 for row in here.values())
                changes = tx.run(_corrections, seqs=list(here), causes=_CORRECTIONS, applied=DeltaStatus.APPLIED.value)
                corrected += len({
                    each.seq for each in changes
                    # The memory that takes the place of another is changed by the same act, and was right.
                    if each.created_ms >= first[each.seq]
                    and (each.cause == Act.EDIT or here[each.seq].status not in _VISIBLE)
                })  # fmt: skip
        return ToldCounts(told, used, corrected, len(pairs) < MOST_TOLD)


def _chunks(values: list[T]) -> list[list[T]]:
    return [values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK)]


_m, _f, _s, _e, _t, _v, _d = (
    table.c for table in (memories, memory_facets, sessions, events, memory_tellings, memory_versions, deltas)
)
_big = sa.BigInteger
_of_project = (
    _m.tenant == ACTING,
    _m.project == bindparam("project"),
    _m.created_ms >= bindparam("from_ms"),
    _m.created_ms <= bindparam("to_ms"),
    _m.status.in_(bindparam("statuses", expanding=True)),
)
# Integer division means the same on both engines.
_day = ((_m.created_ms + sa.cast(bindparam("offset"), _big)) // sa.literal_column(str(DAY_MS), _big)).label("day")
_by_day = (
    sa.select(_day, _m.kind, _m.type, _m.session, sa.func.count().label("total"))
    .where(*_of_project, _m.kind.in_(bindparam("kinds", expanding=True)))
    .group_by(sa.text("day"), _m.kind, _m.type, _m.session)
)

_newest_rows = (
    sa.select(_m.seq, _m.origin, _m.session, _m.shown, _m.used, _m.valid)
    .where(*_of_project, _m.kind == bindparam("kind"))
    .order_by(_m.created_ms.desc(), _m.seq.desc())
    .limit(bindparam("most"))
)
_newest = _newest_rows.subquery()
_labels = (
    sa.select(_f.facet, _f.value, sa.func.count().label("total"))
    # Other facets are left out by the reader: by a list of facets SQLite would read the labels of the whole store.
    .where(_f.tenant == ACTING, _f.seq.in_(bindparam("seqs", expanding=True)))
    .group_by(_f.facet, _f.value)
)
_agents = sa.select(_s.key, _s.platform).where(
    _s.tenant == ACTING, _s.key.in_(bindparam("keys", expanding=True)), _s.platform != ""
)


def _counted(*conditions: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((sa.and_(*conditions), 1), else_=0))


_readings = sa.select(
    sa.func.count().label("total"),
    _counted(_newest.c.shown == 0, _newest.c.used == 0).label("never"),
    _counted(_newest.c.shown >= bindparam("told"), _newest.c.used == 0, _newest.c.valid == 0).label("unused"),
)

_logged = (
    sa.select(_e.at_ms, _e.project, _e.payload)
    .where(_e.tenant == ACTING, _e.type == bindparam("type"), _e.at_ms >= bindparam("from_ms"),
           _e.at_ms <= bindparam("to_ms"))
    .order_by(_e.at_ms.desc(), _e.seq.desc())
    .limit(bindparam("most"))
)  # fmt: skip

_pairs = (
    sa.select(_t.seq, _t.first_ms)
    .where(_t.tenant == ACTING, _t.first_ms >= bindparam("from_ms"))
    .order_by(_t.first_ms.desc())
    .limit(bindparam("most"))
)
_told = sa.select(_m.seq, _m.used, _m.status).where(
    _m.tenant == ACTING, _m.seq.in_(bindparam("seqs", expanding=True)), _m.project == bindparam("project")
)
_corrections = (
    sa.select(_v.seq, _v.created_ms, _d.cause)
    .join(deltas, sa.and_(_d.tenant == ACTING, _d.id == _v.delta_id))
    .where(_v.tenant == ACTING, _v.seq.in_(bindparam("seqs", expanding=True)), _d.status == bindparam("applied"),
           _d.cause.in_(bindparam("causes", expanding=True)))
)  # fmt: skip
