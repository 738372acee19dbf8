"""What is asked of notes and of no other kind: by name, by last change, and how many there are of what.

Names and changes are read from indexes and bounded. Figures read every note, so whoever shows them keeps them a while.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.memory import Kind, Status
from codexmem.kernel.model.note import NoteFigures
from codexmem.kernel.store.array_param import asked_texts
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import events, memories, memory_facets, memory_uris

_CHUNK = 500
_LABELS = 100  # that are borne and looked at, the longest first: they say the most
_DOMAINS = 200
_MOST_READ = 5
_WRITES = (EventType.MEMORY_WRITTEN, EventType.MEMORY_ERASED)


class Noted:
    """Reads notes of the acting tenant."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def labelled(self, facet: str, values: Sequence[str], limit: int) -> list[tuple[str, int]]:
        """Which memories bear these labels: label and number, of each label the newest and so many at most.

        Of thousands of labels that may be asked for, few are borne; which, is one look into an index for each.
        """
        found: list[tuple[str, int]] = []
        with self._db.reading() as tx:
            borne = tx.run(_borne, facet=facet, values=list(dict.fromkeys(values))).scalars().all()
            for value in sorted(borne, key=len, reverse=True)[:_LABELS]:
                rows = tx.run(_labelled, facet=facet, value=value, limit=limit)
                found += [(value, seq) for seq in rows.scalars()]
        return found

    def owners(self, uris: Sequence[str]) -> dict[str, int]:
        """Whose addresses these are, where they are somebody's."""
        found: dict[str, int] = {}
        with self._db.reading() as tx:
            for start in range(0, len(uris), _CHUNK):
                found.update((row.uri, row.seq) for row in tx.run(_owners, uris=list(uris[start : start + _CHUNK])))
        return found

    def changed(self, limit: int, statuses: frozenset[Status]) -> list[int]:
        """Numbers of the notes that were changed last, the latest first."""
        with self._db.reading() as tx:
            return list(tx.run(_changed, statuses=sorted(s.value for s in statuses), limit=limit).scalars())

    def last_write(self) -> tuple[int, ...]:
        """The numbers of the last events that tell of memories written or erased: another answer, other figures."""
        with self._db.reading() as tx:
            return tuple(tx.run(_last_of_type, type=each.value).scalar() or 0 for each in _WRITES)

    def figures(self) -> NoteFigures:
        """Counts over every note."""
        with self._db.reading() as tx:
            by_status = tx.run(_by_status).all()
            domains = {row.value: row.notes for row in tx.run(_by_domain)}
            most = tuple((row.seq, row.used) for row in tx.run(_most_read))
        standing = [row for row in by_status if row.status != Status.DELETED.value]
        return NoteFigures(
            statuses={row.status: row.notes for row in by_status},
            domains=domains,
            reads=sum(int(row.reads) for row in standing),
            read=sum(int(row.ever) for row in standing),
            most_read=most,
        )


_f, _m = memory_facets.c, memories.c
_NOTE = _m.kind == sa.literal_column(f"'{Kind.NOTE.value}'")  # spelled out, or a partial index would not be chosen
_wanted = asked_texts("values")
_borne = sa.select(_wanted.c.value).where(
    sa.exists().where(_f.tenant == ACTING, _f.facet == bindparam("facet"), _f.value == _wanted.c.value)
)
_labelled = (
    sa.select(_f.seq)
    .where(_f.tenant == ACTING, _f.facet == bindparam("facet"), _f.value == bindparam("value"))
    .order_by(_f.created_ms.desc(), _f.seq.desc())
    .limit(bindparam("limit"))
)
_owners = sa.select(memory_uris.c.uri, memory_uris.c.seq).where(
    memory_uris.c.tenant == ACTING, memory_uris.c.uri.in_(bindparam("uris", expanding=True))
)
_changed = (
    sa.select(_m.seq)
    .where(_m.tenant == ACTING, _NOTE, _m.status.in_(bindparam("statuses", expanding=True)))
    .order_by(_m.updated_ms.desc(), _m.seq.desc())
    .limit(bindparam("limit"))
)
_last_of_type = (
    sa.select(events.c.seq)
    .where(events.c.tenant == ACTING, events.c.type == bindparam("type"))
    .order_by(events.c.at_ms.desc(), events.c.seq.desc())
    .limit(1)
)
_by_status = (
    sa.select(
        _m.status,
        sa.func.count().label("notes"),
        sa.func.sum(_m.used).label("reads"),
        sa.func.sum(sa.case((_m.used > 0, 1), else_=0)).label("ever"),
    )
    .where(_m.tenant == ACTING, _NOTE)
    .group_by(_m.status)
)
_standing = (_m.tenant == ACTING, _NOTE, _m.status != sa.literal_column(f"'{Status.DELETED.value}'"))
_by_domain = (
    sa.select(_f.value, sa.func.count().label("notes"))
    .join(memories, sa.and_(_m.tenant == _f.tenant, _m.seq == _f.seq))
    .where(_f.tenant == ACTING, _f.facet == sa.literal_column("'domain'"), *_standing)
    .group_by(_f.value)
    .order_by(sa.func.count().desc(), _f.value)
    .limit(_DOMAINS)
)
_most_read = (
    sa.select(_m.seq, _m.used).where(*_standing, _m.used > 0).order_by(_m.used.desc(), _m.seq).limit(_MOST_READ)
)
