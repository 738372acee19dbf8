"""The rows that remembering a memory leaves, built without the service: what bulk loads and bare inserts write.

Built from the store's own column names and row rules, so that a new column fails here instead of being forgotten.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from codexmem.kernel.model import ids
from codexmem.kernel.model.event import EventType
from codexmem.kernel.model.history import Op
from codexmem.kernel.model.memory import MemoryDraft
from codexmem.kernel.store import rows, schema

TABLES: tuple[sa.Table, ...] = (
    schema.memories,
    schema.memory_versions,
    schema.memory_uris,
    schema.memory_facets,
    schema.events,
)
_ZERO = {"indexed_version": 0, "shown": 0, "used": 0, "valid": 0, "invalid": 0}
# Per table: how to pick a row's values out of a dictionary, and which of them are JSON.
_SHAPES: dict[str, tuple[Callable[[dict[str, Any]], tuple[Any, ...]], frozenset[int]]] = {
    table.name: (
        operator.itemgetter(*(column.name for column in table.c)),
        frozenset(at for at, column in enumerate(table.c) if isinstance(column.type, schema.Json)),
    )
    for table in TABLES
}
_json = schema.Json().process_bind_param


def columns(table: sa.Table) -> list[str]:
    """The columns in the order in which `remembered` gives their values."""
    return [column.name for column in table.c]


def remembered(draft: MemoryDraft, *, tenant: str, seq: int, event: int, now_ms: int) -> list[list[tuple[Any, ...]]]:
    """For each of `TABLES` the rows that one `remember` of this draft inserts."""
    state, identity = draft.state, {"tenant": tenant, "seq": seq}
    head = identity | _ZERO | rows.state_columns(state) | {
        "id": draft.id or ids.mint(draft.kind), "kind": draft.kind.value, "session": draft.session,
        "origin": draft.origin.value, "source": None, "owner": None, "version": 1,
        "created_ms": now_ms, "updated_ms": now_ms,
    }  # fmt: skip
    version = identity | {
        "version": 1, "op": Op.ADD.value, "state": state.to_json(), "delta_id": None, "actor": "bench", "source": None,
        "note": "", "created_ms": now_ms,
    }  # fmt: skip
    label = identity | {"created_ms": now_ms, "project": state.project}
    told = {"seq": seq, "kind": draft.kind.value, "version": 1, "op": Op.ADD.value}
    happened = {
        "tenant": tenant, "seq": event, "position": 0, "id": ids.prefixed("evt"), "at_ms": now_ms,
        "type": EventType.MEMORY_WRITTEN.value, "subject": f"memory:{seq}", "project": state.project, "payload": told,
        "took_us": None, "outline": None, "owner": None,
    }  # fmt: skip
    return [
        [_values(schema.memories, head)],
        [_values(schema.memory_versions, version)],
        [_values(schema.memory_uris, identity | {"uri": uri}) for uri in state.uris],
        [_values(schema.memory_facets, label | {"facet": f, "value": v}) for f, v in sorted(state.facets())],
        [_values(schema.events, happened)],
    ]


def _values(table: sa.Table, values: dict[str, Any]) -> tuple[Any, ...]:
    pick, json_places = _SHAPES[table.name]
    row = pick(values)
    if not json_places:
        return row
    return tuple(_json(value, None) if at in json_places else value for at, value in enumerate(row))


def insert_statement(table: sa.Table, mark: str, leave_out: Sequence[str] = ()) -> str:
    """A plain INSERT with the driver's parameter mark."""
    names = [name for name in columns(table) if name not in leave_out]
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join([mark] * len(names))})"
