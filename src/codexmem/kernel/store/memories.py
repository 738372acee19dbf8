"""The current state of memories: insert, save, find, list, erase.

A save names the version it saw and fails if that is no longer the newest; the lookup tables (URIs, facets, links)
change with the state in the same transaction and by the difference only. Versions are written by `store.history`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model import audience
from codexmem.kernel.model.errors import Conflict
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, State, Status
from codexmem.kernel.model.query import Handle, Id, Seq, Uri
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.store import rows
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.schema import memories, memory_facets, memory_links, memory_uris, memory_visibility

_CHUNK = 500  # bound parameters per IN list


@dataclass(frozen=True, slots=True)
class PrivateMemory:
    """What others may know of a private memory."""

    seq: int
    owner: str
    kind: Kind
    since_ms: int


class MemoryTable:
    """Reads and writes `memories` and its lookup tables."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # No row comes back where the address is taken.
        self._add_uri = db.engine.insert(memory_uris).on_conflict_do_nothing().returning(memory_uris.c.seq)

    def insert(
        self, draft: MemoryDraft, *, id: str, source: str | None, now_ms: int, owner: str | None = None
    ) -> Memory:
        """Store a new memory at version 1."""
        created = draft.created_ms if draft.created_ms is not None else now_ms
        with self._db.transaction() as tx:
            seq = tx.add_numbered(memories, {
                "id": id, "kind": draft.kind.value, "session": draft.session, "origin": draft.origin.value,
                "source": source, "version": 1, "created_ms": created, "updated_ms": now_ms, "owner": owner,
                **rows.state_columns(draft.state),
            })  # fmt: skip
            memory = Memory(
                seq=seq, id=id, kind=draft.kind, state=draft.state, version=1, origin=draft.origin,
                created_ms=created, updated_ms=now_ms, session=draft.session, source=source, owner=owner,
            )  # fmt: skip
            self._index(tx, memory, before=None)
            return memory

    def save(self, before: Memory, after: Memory) -> bool:
        """Replace the state that was seen; False, and nothing changed, if somebody else wrote in between."""
        with self._db.transaction() as tx:
            won = tx.run(
                _save, seen_seq=before.seq, seen_version=before.version, version=after.version,
                updated_ms=after.updated_ms, **rows.state_columns(after.state),
            ).rowcount  # fmt: skip
            if won:
                self._index(tx, after, before=before.state)
            return bool(won)

    def hold(self, name: str) -> None:
        """Let nobody else hold this name until the caller's transaction ends: for looking first and writing then."""
        with self._db.transaction() as tx:
            tx.engine.lock_lane(tx.connection, tx.tenant, name)

    def find(self, handle: Handle, kinds: frozenset[Kind]) -> Memory | None:
        """The memory of these kinds that answers to the handle, whatever its status."""
        with self._db.reading() as tx:
            row = tx.run(_BY_HANDLE[type(handle)], value=handle.value).mappings().first()
        memory = rows.memory(row) if row is not None and row["kind"] in kinds else None
        return memory if memory is not None and audience.admits(memory) else None

    def many(self, seqs: Iterable[int], kinds: frozenset[Kind]) -> dict[int, Memory]:
        """Those of these numbers that exist and are of these kinds."""
        wanted = list(dict.fromkeys(seqs))
        found: dict[int, Memory] = {}
        with self._db.reading() as tx:
            for start in range(0, len(wanted), _CHUNK):
                chunk = tx.run(_by_seqs, seqs=wanted[start : start + _CHUNK]).mappings()
                memories = (rows.memory(row) for row in chunk if row["kind"] in kinds)
                found.update((each.seq, each) for each in memories if audience.admits(each))
        return found

    def named(self, ids: Sequence[str], kinds: frozenset[Kind]) -> dict[str, Memory]:
        """Those of these ids that name memories of these kinds, whatever their status."""
        found: dict[str, Memory] = {}
        with self._db.reading() as tx:
            for start in range(0, len(ids), _CHUNK):
                chunk = tx.run(_by_ids, ids=list(ids[start : start + _CHUNK])).mappings()
                memories = (rows.memory(row) for row in chunk if row["kind"] in kinds)
                found.update((each.id, each) for each in memories if audience.admits(each))
        return found

    def statuses(self, ids: Sequence[str]) -> dict[str, Status]:
        """Those of these ids that are taken, and how the memories of that name stand."""
        found: dict[str, Status] = {}
        with self._db.reading() as tx:
            for start in range(0, len(ids), _CHUNK):
                chunk = tx.run(_statuses, ids=list(ids[start : start + _CHUNK]))
                found.update((row.id, Status(row.status)) for row in chunk)
        return found

    def taken_uris(self, uris: Sequence[str], seq: int) -> set[str]:
        """Those of these addresses that belong to another memory."""
        if not uris:
            return set()
        with self._db.reading() as tx:
            return set(tx.run(_taken, uris=list(uris), seq=seq).scalars())

    def release_uris(self, seqs: Sequence[int]) -> None:
        """Give back every address of these memories; whoever calls this saves new states for all of them."""
        with self._db.transaction() as tx:
            for start in range(0, len(seqs), _CHUNK):
                tx.run(_release, seqs=list(seqs[start : start + _CHUNK]))

    def is_taken(self, id: str) -> bool:
        """Whether the id is that of a memory which only some may see, perhaps not whoever asks."""
        with self._db.reading() as tx:
            return tx.run(_visibility_of, id=id).first() is not None

    def private(self, owner: str | None, limit: int, below: int) -> list[PrivateMemory]:
        """What is private to one member, or to each, below a number and newest first: that it is there, no more."""
        with self._db.reading() as tx:
            found = tx.run(_private, owner=owner, below=below, limit=limit)
            return [PrivateMemory(row.seq, row.owner, Kind(row.kind), row.since_ms) for row in found]

    def private_counts(self) -> dict[str, int]:
        """How many memories are private to each member."""
        with self._db.reading() as tx:
            return {row.owner: row.memories for row in tx.run(_private_counts)}

    def linked_to(self, seq: int, limit: int) -> list[tuple[str, int]]:
        """Which memories point to this one, and how."""
        with self._db.reading() as tx:
            return [(row.relation, row.from_seq) for row in tx.run(_links_to, seq=seq, limit=limit)]

    def pointed_to(self, seqs: Sequence[int], relation: str) -> set[int]:
        """Those of these memories that another one points to in this way."""
        found: set[int] = set()
        with self._db.reading() as tx:
            for start in range(0, len(seqs), _CHUNK):
                found.update(tx.run(_pointed_to, seqs=list(seqs[start : start + _CHUNK]), relation=relation).scalars())
        return found

    def count(self, seqs: Sequence[int], *, shown: int = 0, used: int = 0, valid: int = 0, invalid: int = 0) -> None:
        """Add to the running counters; no version is written."""
        with self._db.transaction() as tx:
            for start in range(0, len(seqs), _CHUNK):
                tx.run(_count, seqs=list(seqs[start : start + _CHUNK]), shown_more=shown, used_more=used,
                       valid_more=valid, invalid_more=invalid)  # fmt: skip

    def numbers_of(self, *, limit: int, project: str | None = None, session: str | None = None,
                   source: str | None = None) -> list[int]:  # fmt: skip
        """Numbers of the memories of one project, session or source, of every kind and status, some at a time."""
        with self._db.reading() as tx:
            if source is not None:
                return list(tx.run(_of_source, value=source, limit=limit).scalars())
            if session is not None:
                return list(tx.run(_of_session, value=session, limit=limit).scalars())
            return list(tx.run(_of_project, value=project, kinds=[k.value for k in Kind], limit=limit).scalars())

    def erase(self, seqs: Sequence[int]) -> int:
        """Remove memories with their versions, addresses, facets and links; returns how many there were."""
        with self._db.transaction() as tx:
            return sum(
                tx.run(_erase, seqs=list(seqs[start : start + _CHUNK])).rowcount
                for start in range(0, len(seqs), _CHUNK)
            )

    def _index(self, tx: Transaction, memory: Memory, before: State | None) -> None:
        after = memory.state
        if after.visibility is not (before.visibility if before is not None else Visibility.PROJECT):
            self._show(tx, memory, before)
        moved = before is not None and before.project != after.project
        facets, old_facets = after.facets(), before.facets() if before else frozenset()
        kept = frozenset() if moved else old_facets & facets
        _drop(tx, _drop_facet, memory.seq, ({"facet": f, "value": v} for f, v in old_facets - kept))
        tx.add(memory_facets, *(
            {"facet": f, "value": v, "created_ms": memory.created_ms, "seq": memory.seq, "project": after.project}
            for f, v in sorted(facets - kept)
        ))  # fmt: skip
        if after.uris or (before is not None and before.uris):
            self._name(tx, memory)
        old_links = frozenset(before.links) if before else frozenset()
        _drop(
            tx, _drop_link, memory.seq, ({"relation": r, "to_seq": to} for r, to in old_links - frozenset(after.links))
        )
        added = [link for link in after.links if link not in old_links]
        # A restored link may point at something forgotten since: then it stays a mention that leads nowhere.
        there = set(tx.run(_existing, seqs=[to for _, to in added]).scalars()) if added else set()
        tx.add(memory_links, *({"from_seq": memory.seq, "to_seq": t, "relation": r} for r, t in added if t in there))

    def _show(self, tx: Transaction, memory: Memory, before: State | None) -> None:
        """Say who may see it, before anything else of it is written."""
        visibility = memory.state.visibility
        if before is not None and before.visibility is not Visibility.PROJECT:
            tx.run(_drop_visibility, seq=memory.seq)
        if visibility is not Visibility.PROJECT:
            tx.add(memory_visibility, {
                "seq": memory.seq, "id": memory.id, "kind": memory.kind.value, "since_ms": memory.updated_ms,
                "owner": (memory.owner or "") if visibility is Visibility.MINE else None,
            })  # fmt: skip

    def _name(self, tx: Transaction, memory: Memory) -> None:
        # Asked of the table, not of the old state: a rollback gives all names back before it takes any.
        have = set(tx.run(_names, seq=memory.seq).scalars())
        _drop(tx, _drop_uri, memory.seq, ({"uri": uri} for uri in have - set(memory.state.uris)))
        for uri in memory.state.uris:
            if uri not in have and tx.run(self._add_uri, uri=uri, seq=memory.seq).first() is None:
                raise Conflict(f"{uri} already names another memory", hint="choose another URI, or read that one first")


def _drop(tx: Transaction, statement: sa.Executable, seq: int, gone: Iterable[dict[str, object]]) -> None:
    tx.run_many(statement, [{"of_seq": seq, **{f"gone_{k}": v for k, v in row.items()}} for row in gone])


def _numbers(*conditions: sa.ColumnElement[bool]) -> sa.Select[tuple[int]]:
    return sa.select(memories.c.seq).where(memories.c.tenant == ACTING, *conditions).limit(bindparam("limit"))


_save = (
    sa.update(memories)
    .where(memories.c.tenant == ACTING, memories.c.seq == bindparam("seen_seq"),
           memories.c.version == bindparam("seen_version"))
    .values({column: bindparam(column) for column in (
        "project", "status", "type", "title", "content", "priority", "confidence", "attrs", "uris", "links", "marks",
        "visibility", "version", "updated_ms")})
)  # fmt: skip
_by_seq = sa.select(memories).where(memories.c.tenant == ACTING, memories.c.seq == bindparam("value"))
_by_id = sa.select(memories).where(memories.c.tenant == ACTING, memories.c.id == bindparam("value"))
_by_uri = (
    sa.select(memories)
    .join(memory_uris, sa.and_(memory_uris.c.tenant == memories.c.tenant, memory_uris.c.seq == memories.c.seq))
    .where(memory_uris.c.tenant == ACTING, memory_uris.c.uri == bindparam("value"))
)
_BY_HANDLE: dict[type[Handle], sa.Select[Any]] = {Seq: _by_seq, Id: _by_id, Uri: _by_uri}
_by_seqs = sa.select(memories).where(memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True)))
_by_ids = sa.select(memories).where(memories.c.tenant == ACTING, memories.c.id.in_(bindparam("ids", expanding=True)))
_statuses = sa.select(memories.c.id, memories.c.status).where(
    memories.c.tenant == ACTING, memories.c.id.in_(bindparam("ids", expanding=True))
)
_taken = sa.select(memory_uris.c.uri).where(
    memory_uris.c.tenant == ACTING, memory_uris.c.uri.in_(bindparam("uris", expanding=True)),
    memory_uris.c.seq != bindparam("seq"),
)  # fmt: skip
_names = sa.select(memory_uris.c.uri).where(memory_uris.c.tenant == ACTING, memory_uris.c.seq == bindparam("seq"))
_release = sa.delete(memory_uris).where(
    memory_uris.c.tenant == ACTING, memory_uris.c.seq.in_(bindparam("seqs", expanding=True))
)
_w = memory_visibility.c
_drop_visibility = sa.delete(memory_visibility).where(_w.tenant == ACTING, _w.seq == bindparam("seq"))
_visibility_of = sa.select(_w.seq).where(_w.tenant == ACTING, _w.id == bindparam("id"))
_private = (
    sa.select(_w.seq, _w.owner, _w.kind, _w.since_ms)
    .where(_w.tenant == ACTING, _w.owner.is_not(None), _w.seq < bindparam("below"),
           sa.or_(_w.owner == sa.cast(bindparam("owner"), sa.Text), sa.cast(bindparam("owner"), sa.Text).is_(None)))
    .order_by(_w.seq.desc())
    .limit(bindparam("limit"))
)  # fmt: skip
_private_counts = (
    sa.select(_w.owner, sa.func.count().label("memories"))
    .where(_w.tenant == ACTING, _w.owner.is_not(None))
    .group_by(_w.owner)
)
_links_to = (
    sa.select(memory_links.c.relation, memory_links.c.from_seq)
    .where(memory_links.c.tenant == ACTING, memory_links.c.to_seq == bindparam("seq"))
    .order_by(memory_links.c.from_seq, memory_links.c.relation)
    .limit(bindparam("limit"))
)
_pointed_to = sa.select(memory_links.c.to_seq).where(
    memory_links.c.tenant == ACTING,
    memory_links.c.to_seq.in_(bindparam("seqs", expanding=True)),
    memory_links.c.relation == bindparam("relation"),
)
_count = (
    sa.update(memories)
    .where(memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True)))
    .values({name: memories.c[name] + bindparam(f"{name}_more") for name in ("shown", "used", "valid", "invalid")})
)
_of_source = _numbers(memories.c.source == bindparam("value"))
_of_session = _numbers(memories.c.session == bindparam("value"))
_of_project = _numbers(
    memories.c.kind.in_(bindparam("kinds", expanding=True)), memories.c.project == bindparam("value")
)
_erase = sa.delete(memories).where(memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True)))
_drop_facet = sa.delete(memory_facets).where(
    memory_facets.c.tenant == ACTING, memory_facets.c.seq == bindparam("of_seq"),
    memory_facets.c.facet == bindparam("gone_facet"), memory_facets.c.value == bindparam("gone_value"),
)  # fmt: skip
_drop_uri = sa.delete(memory_uris).where(
    memory_uris.c.tenant == ACTING,
    memory_uris.c.seq == bindparam("of_seq"),
    memory_uris.c.uri == bindparam("gone_uri"),
)
_drop_link = sa.delete(memory_links).where(
    memory_links.c.tenant == ACTING, memory_links.c.from_seq == bindparam("of_seq"),
    memory_links.c.relation == bindparam("gone_relation"), memory_links.c.to_seq == bindparam("gone_to_seq"),
)  # fmt: skip
_existing = sa.select(memories.c.seq).where(
    memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True))
)
