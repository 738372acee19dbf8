"""Pages of memories.

Every filter starts from an index that is already in the order of the page: a label (facet), a session, a project or a
status. Where the filter allows several values of the leading column, each value is read as a branch of its own, several
in one statement, and the branches are merged, so that a page costs its own length times the number of branches, however
large the store is.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy import bindparam
from sqlalchemy.sql import visitors

from codexmem.kernel.model import audience
from codexmem.kernel.model.memory import VISIBLE, Memory
from codexmem.kernel.model.query import Filter, PageRequest, RowCursor, RowOrder
from codexmem.kernel.store import rows
from codexmem.kernel.store.array_param import among
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.history import ONCE_CORE
from codexmem.kernel.store.schema import memories, memory_facets
from codexmem.kernel.store.schema.memories import PUT_AWAY

# What a filter may ask of a row, each under the name of the value it binds.
_CONDITIONS: dict[str, sa.ColumnElement[bool] | sa.TextClause] = {
    "kinds": memories.c.kind.in_(bindparam("kinds", expanding=True)),
    "statuses": memories.c.status.in_(bindparam("statuses", expanding=True)),
    "kind": memories.c.kind == bindparam("kind"),
    "status": memories.c.status == bindparam("status"),
    "project": memories.c.project == bindparam("project"),
    "session": memories.c.session == bindparam("session"),
    "created_from_ms": memories.c.created_ms >= bindparam("created_from_ms"),
    "created_to_ms": memories.c.created_ms <= bindparam("created_to_ms"),
    "priority_min": memories.c.priority >= bindparam("priority_min"),
    "priority_max": memories.c.priority <= bindparam("priority_max"),
    "origins": memories.c.origin.in_(bindparam("origins", expanding=True)),
    # In the words of the partial index, without which neither engine would read it.
    "put_away": sa.text(PUT_AWAY),
    "value": memory_facets.c.value == bindparam("value"),
    "labelled_project": memory_facets.c.project == bindparam("labelled_project"),
}
_marked = memory_facets.alias()
# Few rows have any mark, so that the others are known by one column of their own.
_CONDITIONS["without"] = sa.or_(
    memories.c.marks.is_(None),
    ~sa.exists(
        sa.select(sa.literal(1))
        .where(
            _marked.c.tenant == memories.c.tenant,
            _marked.c.facet == "mark",
            _marked.c.value.in_(bindparam("without", expanding=True)),
            _marked.c.created_ms == memories.c.created_ms,
            _marked.c.seq == memories.c.seq,
        )
        .correlate(memories)
    ),
)
_CONDITIONS["once_core"] = ONCE_CORE
_LEADING = frozenset({"kind", "status", "value", "session"})  # in which the branches of one statement differ
_TOGETHER = 16  # branches that one statement reads
_OPTIONAL = ("project", "session", "created_from_ms", "created_to_ms", "priority_min", "priority_max")


@dataclass(frozen=True, slots=True)
class Listing:
    """One page, and where the next one starts."""

    items: tuple[Memory, ...]
    after: RowCursor | None  # None when there is no more


class Lists:
    """Reads pages of `memories`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def page(self, wanted: Filter, page: PageRequest) -> Listing:
        """One page in creation order."""
        newest = page.order is RowOrder.NEWEST
        # One more row than the page holds, to know whether there is a next one.
        place: dict[str, object] = {"limit": page.offset + page.limit + 1}
        if page.after is not None:
            place |= {"after_ms": page.after.created_ms, "after_seq": page.after.seq}
            wanted = _narrowed(wanted, page.after, newest=newest)
        further = len(wanted.facets[1:])
        branches = list(_branches(wanted))
        shape = frozenset(_CONDITIONS.keys() & branches[0]) if branches else frozenset()
        with self._db.reading() as tx:
            # Places first, whole rows only for those that make the page. A memory with two of the wanted labels stands
            # in two branches.
            places = {
                (row.created_ms, row.seq)
                for together in _together(branches)
                for row in tx.run(
                    _union(shape, further, newest, page.after is not None, len(together)), **_bound(together), **place
                )
            }
            distinct = [RowCursor(*each) for each in sorted(places, reverse=newest)]
            chosen = distinct[page.offset : page.offset + page.limit]
            items = self._whole(tx, [cursor.seq for cursor in chosen])
        return Listing(tuple(items), chosen[-1] if len(distinct) > page.offset + page.limit else None)

    def of_sessions(self, sessions: Sequence[str], wanted: Filter, limit: int) -> dict[str, list[Memory]]:
        """The newest memories of each of a few sessions that pass the filter, so many of each at most."""
        branches = [branch for each in sessions for branch in _branches(replace(wanted, session=each))]
        shape = frozenset(_CONDITIONS.keys() & branches[0]) if branches else frozenset()
        with self._db.reading() as tx:
            places = [
                (row.created_ms, row.seq)
                for together in _together(branches)
                for row in tx.run(_union(shape, 0, True, False, len(together)), **_bound(together), limit=limit)
            ]
            items = self._whole(tx, [seq for _, seq in sorted(places, reverse=True)])
        found: dict[str, list[Memory]] = {each: [] for each in sessions}
        for memory in items:
            found[memory.session or ""].append(memory)
        return found

    def _whole(self, tx: Transaction, seqs: Sequence[int]) -> Iterable[Memory]:
        """These memories in this order, but for those that the one who asks may not see."""
        found = {row["seq"]: row for row in tx.run(_whole, seqs=seqs).mappings()} if seqs else {}
        return filter(audience.admits, (rows.memory(found[seq]) for seq in seqs))


_whole = sa.select(memories).where(memories.c.tenant == ACTING, among(memories.c.seq, "seqs"))


def _together(branches: Sequence[dict[str, object]]) -> Iterator[Sequence[dict[str, object]]]:
    return (branches[at : at + _TOGETHER] for at in range(0, len(branches), _TOGETHER))


def _narrowed(wanted: Filter, after: RowCursor, *, newest: bool) -> Filter:
    """The filter with a bound of time that the place has passed moved up to the place.

    SQLite begins to read at the bound if there is one, not at the place, and would read all that lies between.
    """
    if newest and wanted.created_to_ms is not None:
        return replace(wanted, created_to_ms=min(wanted.created_to_ms, after.created_ms))
    if not newest and wanted.created_from_ms is not None:
        return replace(wanted, created_from_ms=max(wanted.created_from_ms, after.created_ms))
    return wanted


def _branches(wanted: Filter) -> Iterator[dict[str, object]]:
    """The values of the selections whose union is the filter."""
    common = {name: value for name in _OPTIONAL if (value := getattr(wanted, name)) is not None}
    if wanted.without:
        common["without"] = sorted(mark.value for mark in wanted.without)
    if wanted.origins:
        common["origins"] = sorted(origin.value for origin in wanted.origins)
    if wanted.once_core:
        common["once_core"] = True
    kinds = sorted(kind.value for kind in wanted.kinds)
    statuses = sorted(status.value for status in wanted.statuses)
    if wanted.facets:
        (facet, labels), *further = wanted.facets
        for number, (name, values) in enumerate(further):
            common |= {f"facet_{number}": name, f"values_{number}": sorted(values)}
        if wanted.project is not None:
            common["labelled_project"] = common.pop("project")
        for label in sorted(labels):
            yield {**common, "kinds": kinds, "statuses": statuses, "facet": facet, "value": label}
    elif wanted.session is not None:
        yield {**common, "kinds": kinds, "statuses": statuses}
    elif wanted.project is not None and not wanted.statuses & VISIBLE:
        for kind in kinds:
            for status in statuses:
                yield {**common, "kind": kind, "status": status, "put_away": True}
    elif wanted.project is not None:
        for kind in kinds:
            yield {**common, "kind": kind, "statuses": statuses}
    else:
        for kind in kinds:
            for status in statuses:
                yield {**common, "kind": kind, "status": status}


def _bound(branches: Sequence[dict[str, object]]) -> dict[str, object]:
    """The values of branches that are read together, each under the names that `_union` gave it."""
    bound = dict(branches[0])
    for number, branch in enumerate(branches[1:], 1):
        bound |= {f"{name}_of_{number}": branch[name] for name in _LEADING & branch.keys()}
    return bound


@functools.cache
def _union(
    conditions: frozenset[str], further: int, newest: bool, resumes: bool, count: int
) -> sa.Select[Any] | sa.CompoundSelect[Any]:
    """The places in so many branches, each with leading values of its own."""
    branch = _branch(conditions, further, newest, resumes)
    if count == 1:
        return branch

    def numbered(number: int) -> sa.Select[Any]:
        def own(element: Any, **_: object) -> Any:
            named = isinstance(element, sa.BindParameter) and element.key in _LEADING
            return bindparam(f"{element.key}_of_{number}", type_=element.type) if named else None

        return cast("sa.Select[Any]", visitors.replacement_traverse(branch, {}, own)) if number else branch

    return sa.union_all(*(sa.select(numbered(number).subquery()) for number in range(count)))


@functools.cache
def _branch(conditions: frozenset[str], further: int, newest: bool, resumes: bool) -> sa.Select[Any]:
    """The selection with these conditions; built once per shape, of which a program uses a handful."""
    selection = sa.select(memories.c.created_ms, memories.c.seq).where(
        memories.c.tenant == ACTING, *(_CONDITIONS[name] for name in sorted(conditions))
    )
    order_by: tuple[Any, Any] = (memories.c.created_ms, memories.c.seq)
    if "value" in conditions:
        order_by = (memory_facets.c.created_ms, memory_facets.c.seq)
        selection = selection.join(
            memory_facets, sa.and_(memory_facets.c.tenant == memories.c.tenant, memory_facets.c.seq == memories.c.seq)
        ).where(memory_facets.c.tenant == ACTING, memory_facets.c.facet == bindparam("facet"))
    for number in range(further):
        label = memory_facets.alias()
        # Bound to the row's own entry of the primary key, and kept apart by OFFSET 0: pulled up into a join, it would
        # read every row of both labels.
        has = (
            sa.select(sa.literal(1))
            .where(
                label.c.tenant == memories.c.tenant,
                label.c.facet == bindparam(f"facet_{number}"),
                label.c.value.in_(bindparam(f"values_{number}", expanding=True)),
                label.c.created_ms == memories.c.created_ms,
                label.c.seq == memories.c.seq,
            )
            .correlate(memories)
            .offset(0)
        )
        selection = selection.where(sa.exists(has))
    if resumes:
        place = sa.tuple_(*order_by)
        seen = sa.tuple_(bindparam("after_ms", type_=sa.BigInteger), bindparam("after_seq", type_=sa.BigInteger))
        selection = selection.where(place < seen if newest else place > seen)
    columns = [column.desc() if newest else column.asc() for column in order_by]
    return selection.order_by(*columns).limit(bindparam("limit"))
