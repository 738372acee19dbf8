"""LangGraph's long-term memory in codexmem: `CodexmemStore` is a `BaseStore`.

    from codexmem.client.adapters.langgraph import CodexmemStore

    graph = builder.compile(store=CodexmemStore())

An item is a note, `langgraph://namespace/…/key`, of a project of its own: agents in other projects are not told it
unasked. Every put is a version and a delete hides, so that both can be taken back. With a query, what bears on it comes
first, by words and, where the server has an embedder, by meaning, then the rest; without one, what was changed last.
`index` and `ttl` are not supported: the server indexes whole values, and keeps them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice, takewhile
from operator import ge, gt, le, lt
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from codexmem.client.adapters import keeping
from codexmem.client.blocking import Client
from codexmem.kernel.model.errors import Conflict, InvalidArgument, NotFound
from codexmem.notes.wire import Note, NotePlace

_Scored = tuple[str, float | None]  # an address, and how well it fits a query

DOMAIN = "langgraph"
MOST_LOOKED_AT = 10_000  # addresses below a namespace that one search without a query, or one listing, goes through


class CodexmemStore(BaseStore):
    """Items of LangGraph as notes; any number of threads and event loops may use one store.

    `domain` is the first part of every address, and the project unless one is given: stores with different domains know
    nothing of each other.
    """

    def __init__(self, client: Client | None = None, *, domain: str = DOMAIN, project: str | None = None) -> None:
        self._client = client or Client()
        self._domain = domain
        self._project = project or domain

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """What is asked is answered before anything is written; of several puts to one key, the last one stands."""
        answers: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            match op:
                case GetOp():
                    answers.append(self._get(op))
                case SearchOp():
                    answers.append(self._search(op))
                case ListNamespacesOp():
                    answers.append(self._namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    answers.append(None)
        for op in puts.values():
            self._put(op)
        return answers

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread: a store outlives event loops."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        note = keeping.read(self._client, self._uri((*op.namespace, op.key)))
        return None if note is None else self._item(note)

    def _put(self, op: PutOp) -> None:
        notes, uri = self._client.notes, self._uri((*op.namespace, op.key))
        if op.value is None:
            with contextlib.suppress(NotFound):
                notes.delete(uri)
            return
        content = keeping.written(op.value)
        try:
            notes.create(uri, content, project=self._project)
        except Conflict:
            notes.update(uri, content)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = self._asked(op) if op.query else self._newest(self._under(op.namespace_prefix))
        offset = op.offset
        if not op.filter:
            # What is skipped need not be read.
            found, offset = found[offset : offset + op.limit], 0
        notes = keeping.read_all(self._client, [uri for uri, _ in found])
        items = (self._found(note, score) for note, (_, score) in zip(notes, found, strict=True) if note is not None)
        fitting = (item for item in items if item is not None and _fits(item.value, op.filter or {}))
        return list(islice(fitting, offset, offset + op.limit))

    def _asked(self, op: SearchOp) -> list[_Scored]:
        """What bears on the query, then the rest without a score: to LangGraph a query ranks and leaves nothing out."""
        needed = None if op.filter else op.offset + op.limit
        found = dict(islice(self._ranked(op), needed))
        if needed is None or len(found) < needed:
            others = islice(keeping.notes_under(self._client, self._uri(op.namespace_prefix)), MOST_LOOKED_AT)
            found |= {uri: None for uri, _ in self._newest(others) if uri not in found}
        return list(found.items())

    def _ranked(self, op: SearchOp) -> Iterator[_Scored]:
        beginning = _folder(self._uri(op.namespace_prefix))
        size = min(keeping.PAGE, max(50, op.offset + op.limit))
        for note in self._client.notes.all(op.query, domain=self._domain, limit=size):
            if note.uri.startswith(beginning):
                yield note.uri, note.score

    def _newest(self, places: Iterable[NotePlace]) -> list[_Scored]:
        return [(uri, None) for _, uri in sorted((-(each.updated_ms or 0), each.uri) for each in places)]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        found = {keeping.names(each.uri)[:-1] for each in self._under(_common_beginning(conditions))}
        matching = {each[: op.max_depth] for each in found if all(_meets(each, one) for one in conditions)}
        return sorted(matching)[op.offset : op.offset + op.limit]

    def _under(self, prefix: tuple[str, ...]) -> list[NotePlace]:
        found = list(islice(keeping.notes_under(self._client, self._uri(prefix)), MOST_LOOKED_AT + 1))
        if len(found) > MOST_LOOKED_AT:
            raise InvalidArgument(
                f"more than {MOST_LOOKED_AT:,} items lie below {self._uri(prefix)}",
                hint="search with a query, or name a longer namespace",
            )
        return found

    def _uri(self, names: tuple[str, ...]) -> str:
        return keeping.address(self._domain, names)

    def _item(self, note: Note) -> Item | None:
        value = keeping.value_of(note)
        if not isinstance(value, dict):
            return None
        *namespace, key = keeping.names(note.uri)
        return Item(value=value, key=key, namespace=tuple(namespace), created_at=_time(note.created_ms),
                    updated_at=_time(note.updated_ms))  # fmt: skip

    def _found(self, note: Note, score: float | None) -> SearchItem | None:
        item = self._item(note)
        if item is None:
            return None
        return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def _folder(uri: str) -> str:
    return uri if uri.endswith("/") else f"{uri}/"


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _common_beginning(conditions: Iterable[MatchCondition]) -> tuple[str, ...]:
    """The longest names that every wanted namespace begins with."""
    beginnings = [tuple(takewhile(lambda name: name != "*", one.path)) for one in conditions
                  if one.match_type == "prefix"]  # fmt: skip
    return max(beginnings, key=len, default=())


def _meets(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type == "suffix":
        namespace = namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", name) for wanted, name in zip(path, namespace, strict=False))


_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def _fits(value: Any, wanted: Mapping[str, object]) -> bool:
    """Whether a value has these fields; a field may be a value, fields within it, or operators such as `$gt`."""
    return isinstance(value, dict) and all(_agrees(value.get(name), one) for name, one in wanted.items())


def _agrees(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(value == (list(wanted) if isinstance(wanted, tuple) else wanted))
    if any(str(name).startswith("$") for name in wanted):
        return all(_compares(value, operator, operand) for operator, operand in wanted.items())
    return _fits(value, wanted)


def _compares(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return bool(value == operand)
    if operator == "$ne":
        return bool(value != operand)
    if operator not in _ORDERS:
        raise ValueError(f"Unsupported operator: {operator}")
    alike = all(isinstance(each, int | float) for each in (value, operand)) or (
        isinstance(value, str) and isinstance(operand, str)
    )
    return alike and _ORDERS[operator](value, operand)
