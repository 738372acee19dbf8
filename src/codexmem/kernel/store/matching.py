"""Which memories pass a filter, asked by number.

An index that ranks without knowing every field of a filter asks here: which of its candidates pass, or, where the
filter leaves only a few, which those few are.
"""

import functools
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.array_param import asked
from codexmem.kernel.store.database import ACTING, Transaction
from codexmem.kernel.store.schema import memories, memory_facets

_RANGES: dict[str, sa.ColumnElement[bool]] = {
    "project": memories.c.project == bindparam("project"),
    "session": memories.c.session == bindparam("session"),
    "created_from_ms": memories.c.created_ms >= bindparam("created_from_ms"),
    "created_to_ms": memories.c.created_ms <= bindparam("created_to_ms"),
    "priority_min": memories.c.priority >= bindparam("priority_min"),
    "priority_max": memories.c.priority <= bindparam("priority_max"),
}


def passing(tx: Transaction, seqs: Iterable[int], wanted: Filter) -> set[int]:
    """Those of these memories that pass."""
    statement, values = _statement(wanted, by_number=True)
    return set(tx.run(statement, seqs=list(seqs), **values).scalars().all())


def few(tx: Transaction, wanted: Filter, limit: int) -> list[int] | None:
    """All that pass, if the filter names something an index can narrow by and no more than `limit` pass; else None."""
    if not (wanted.facets or wanted.session is not None or wanted.created_from_ms is not None):
        return None
    statement, values = _statement(wanted, by_number=False)
    found: Sequence[int] = tx.run(statement, limit=limit + 1, **values).scalars().all()
    return None if len(found) > limit else list(dict.fromkeys(found))


def _statement(wanted: Filter, *, by_number: bool) -> tuple[sa.Select[tuple[int]], dict[str, object]]:
    values: dict[str, object] = {
        "kinds": sorted(kind.value for kind in wanted.kinds),
        "statuses": sorted(status.value for status in wanted.statuses),
    }
    ranges = tuple(name for name in _RANGES if getattr(wanted, name) is not None)
    values |= {name: getattr(wanted, name) for name in ranges}
    for number, (facet, labels) in enumerate(wanted.facets):
        values |= {f"facet_{number}": facet, f"values_{number}": sorted(labels)}
    return _shape(ranges, len(wanted.facets), by_number), values


@functools.cache
def _shape(ranges: tuple[str, ...], facets: int, by_number: bool) -> sa.Select[tuple[int]]:
    statement = sa.select(memories.c.seq).where(
        memories.c.tenant == ACTING,
        memories.c.kind.in_(bindparam("kinds", expanding=True)),
        memories.c.status.in_(bindparam("statuses", expanding=True)),
        *(_RANGES[name] for name in ranges),
    )
    for number in range(facets):
        label = memory_facets.alias()
        statement = statement.where(
            memories.c.seq.in_(
                sa.select(label.c.seq).where(
                    label.c.tenant == ACTING,
                    label.c.facet == bindparam(f"facet_{number}"),
                    label.c.value.in_(bindparam(f"values_{number}", expanding=True)),
                    *([label.c.project == bindparam("project")] if "project" in ranges else []),
                    *([label.c.seq == memories.c.seq] if by_number else []),
                )
            )
        )
    if by_number:
        numbers = asked("seqs")
        return sa.select(numbers.c.value).where(sa.exists(statement.where(memories.c.seq == numbers.c.value)))
    return statement.limit(bindparam("limit"))
