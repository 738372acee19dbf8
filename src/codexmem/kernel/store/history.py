"""Versions and deltas in their tables. Rows are added and, when a memory is erased, removed; never changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.history import Delta, DeltaStatus, MemoryVersion
from codexmem.kernel.model.memory import Kind, Mark, State
from codexmem.kernel.model.note import CORE
from codexmem.kernel.store import rows
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import deltas, memories, memory_versions
from codexmem.kernel.store.schema.columns import encoded

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class TouchedMemory:
    """What a delta or a source did to one memory: the first version it wrote, and how many."""

    seq: int
    first: int
    writes: int


class VersionTable:
    """Reads and writes `memory_versions` and `deltas`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, version: MemoryVersion) -> None:
        """Record one write."""
        with self._db.transaction() as tx:
            tx.add(memory_versions, {
                "seq": version.seq, "version": version.version, "op": version.op.value,
                "state": version.state.to_json(), "delta_id": version.delta, "actor": version.actor,
                "source": version.source, "note": version.note, "created_ms": version.created_ms,
            })  # fmt: skip

    def get(self, kind: Kind, seq: int, version: int) -> MemoryVersion | None:
        """One version of a memory of this kind."""
        with self._db.reading() as tx:
            row = tx.run(_one, seq=seq, version=version).mappings().first()
        return rows.version(kind, row) if row is not None else None

    def many(self, wanted: Mapping[int, tuple[Kind, int]]) -> dict[int, MemoryVersion]:
        """One version of each of these memories; those that are kept no longer are left out."""
        found: dict[int, MemoryVersion] = {}
        pairs = [(seq, number) for seq, (_, number) in wanted.items()]
        with self._db.reading() as tx:
            for start in range(0, len(pairs), _CHUNK):
                for row in tx.run(_these, pairs=pairs[start : start + _CHUNK]).mappings():
                    found[row["seq"]] = rows.version(wanted[row["seq"]][0], row)
        return found

    def agreed(self, kinds: Mapping[int, Kind]) -> dict[int, State]:
        """Of each of these memories the newest state that was not proposed; absent where there is none."""
        last: dict[int, tuple[Kind, int]] = {}
        seqs = list(kinds)
        with self._db.reading() as tx:
            for start in range(0, len(seqs), _CHUNK):
                for row in tx.run(_agreed, seqs=seqs[start : start + _CHUNK]):
                    last[row.seq] = (kinds[row.seq], row.version)
        return {seq: version.state for seq, version in self.many(last).items()}

    def before(self, firsts: Mapping[int, tuple[Kind, int]]) -> dict[int, State]:
        """For each memory the state before a version of it; absent where that version was its first.

        Versions of a forgotten source are gone, so the state before may lie further back than one number.
        """
        later = [(seq, first) for seq, (_, first) in firsts.items() if first > 1]
        found: dict[int, State] = {}
        with self._db.reading() as tx:
            for start in range(0, len(later), _CHUNK):
                pairs = [(seq, first - 1) for seq, first in later[start : start + _CHUNK]]
                for row in tx.run(_pairs, pairs=pairs):
                    found[row.seq] = State.from_json(firsts[row.seq][0], row.state)
            for seq, first in later:
                if seq not in found:
                    further = self.newest(firsts[seq][0], seq, limit=1, below=first)
                    found.update((version.seq, version.state) for version in further)
        return found

    def newest(self, kind: Kind, seq: int, *, limit: int, below: int | None) -> list[MemoryVersion]:
        """Versions from the newest back, those below a number when given."""
        with self._db.reading() as tx:
            found = tx.run(_newest, seq=seq, below=below if below is not None else 2**31 - 1, limit=limit)
            return [rows.version(kind, row) for row in found.mappings()]

    def open_delta(self, delta: Delta) -> None:
        """Name a group of versions about to be written."""
        with self._db.transaction() as tx:
            tx.run(
                _open, id=delta.id, subject=delta.subject, cause=delta.cause, actor=delta.actor,
                status=delta.status.value, reverts=delta.reverts, created_ms=delta.created_ms,
            )  # fmt: skip

    def delta(self, delta_id: str) -> Delta | None:
        """One delta by its id."""
        with self._db.reading() as tx:
            row = tx.run(_delta, id=delta_id).mappings().first()
        return rows.delta(row) if row is not None else None

    def deltas(self, delta_ids: Sequence[str]) -> list[Delta]:
        """Those of these deltas that exist, oldest first; for a few."""
        if not delta_ids:
            return []
        with self._db.reading() as tx:
            return [rows.delta(row) for row in tx.run(_deltas, ids=list(delta_ids)).mappings()]

    def deltas_of(self, subject: str, *, limit: int, before: tuple[int, str] | None) -> list[Delta]:
        """Deltas made for one subject, newest first."""
        created_ms, delta_id = before or (2**62, "")
        with self._db.reading() as tx:
            found = tx.run(_deltas_of, subject=subject, created_ms=created_ms, before_id=delta_id, limit=limit)
            return [rows.delta(row) for row in found.mappings()]

    def written_by(self, kind: Kind, delta_ids: Sequence[str]) -> list[tuple[MemoryVersion, State | None]]:
        """What these deltas wrote into memories of one kind, with the state before each write; for a few deltas.

        The state before is None where there was none, because the memory was new.
        """
        if not delta_ids:
            return []
        with self._db.reading() as tx:
            found = tx.run(_written_by, ids=list(delta_ids), kind=kind.value).mappings()
            return [
                (rows.version(kind, row), State.from_json(kind, row["prior"]) if row["prior"] is not None else None)
                for row in found
            ]

    def mark_reverted(self, delta_id: str) -> bool:
        """Say that a delta no longer stands; False if somebody else has already said so."""
        with self._db.transaction() as tx:
            return bool(tx.run(_revert, delta_id=delta_id).rowcount)

    def mark_applied(self, delta_id: str) -> None:
        """Say that a delta stands again, because what reverted it was itself taken back."""
        with self._db.transaction() as tx:
            tx.run(_reapply, delta_id=delta_id)

    def erase_by_source(self, source: str) -> list[tuple[int, int]]:
        """Remove the versions a source wrote into memories that are not its own, except what stands now; says which."""
        with self._db.transaction() as tx:
            return [(row.seq, row.version) for row in tx.run(_erase_by_source, source=source)]

    def touched_by_delta(self, delta_id: str) -> list[TouchedMemory]:
        """What the delta wrote, memory by memory."""
        with self._db.reading() as tx:
            return [TouchedMemory(**row) for row in tx.run(_touched_by_delta, delta_id=delta_id).mappings()]

    def delta_page(self, delta_id: str, *, after: int, limit: int) -> list[TouchedMemory]:
        """What the delta wrote into memories above a number, in their order, so many at most."""
        with self._db.reading() as tx:
            found = tx.run(_delta_page, delta_id=delta_id, after=after, limit=limit)
            return [TouchedMemory(**row) for row in found.mappings()]

    def count_touched(self, delta_id: str) -> int:
        """How many memories the delta wrote into; read from its index alone."""
        with self._db.reading() as tx:
            return int(tx.run(_count_touched, delta_id=delta_id).scalar_one())

    def source_page(self, source: str, *, after: int, limit: int) -> list[TouchedMemory]:
        """What a source wrote into memories above a number, in their order, so many at most."""
        with self._db.reading() as tx:
            place = {"source": source, "after": after, "limit": limit}
            found = {row["seq"]: TouchedMemory(**row) for row in tx.run(_source_page, **place).mappings()}
            for seq in tx.run(_made_page, **place).scalars():
                found.setdefault(seq, TouchedMemory(seq, first=1, writes=1))
        return [found[seq] for seq in sorted(found)[:limit]]

    def touched_by_source(self, source: str) -> list[TouchedMemory]:
        """What a session, run or import wrote; a memory whose first version is still only its row counts too."""
        with self._db.reading() as tx:
            found = {row["seq"]: TouchedMemory(**row) for row in tx.run(_touched_by_source, source=source).mappings()}
            for seq in tx.run(_made_by_source, source=source).scalars():
                if seq not in found:
                    found[seq] = TouchedMemory(seq, first=1, writes=1)
        return [found[seq] for seq in sorted(found)]


_v = memory_versions.c
_one = sa.select(memory_versions).where(
    _v.tenant == ACTING, _v.seq == bindparam("seq"), _v.version == bindparam("version")
)
_newest = (
    sa.select(memory_versions)
    .where(_v.tenant == ACTING, _v.seq == bindparam("seq"), _v.version < bindparam("below"))
    .order_by(_v.version.desc())
    .limit(bindparam("limit"))
)
_among = sa.tuple_(_v.seq, _v.version).in_(bindparam("pairs", expanding=True))
_these = sa.select(memory_versions).where(_v.tenant == ACTING, _among)
_pairs = sa.select(_v.seq, _v.state).where(_v.tenant == ACTING, _among)
# Marks are the last of a state's fields, so the end of its text tells them; nothing that a memory says stands there.
_state_text = sa.type_coerce(_v.state, sa.Text)
_not_proposed = _state_text.not_like(f'%"marks":[%{encoded(Mark.PROPOSED)}%]}}')
_agreed = (
    sa.select(_v.seq, sa.func.max(_v.version).label("version"))
    .where(_v.tenant == ACTING, _v.seq.in_(bindparam("seqs", expanding=True)), _not_proposed)
    .group_by(_v.seq)
)
# Quotes inside of a text are escaped there, so no text can look like the field.
ONCE_CORE = sa.exists(
    sa.select(sa.literal(1))
    .where(_v.tenant == memories.c.tenant, _v.seq == memories.c.seq, _not_proposed,
           sa.or_(*(_state_text.like(f'%"priority":{number},%') for number in range(CORE + 1))))
    .correlate(memories)
)  # fmt: skip
_open = sa.insert(deltas)
_delta = sa.select(deltas).where(deltas.c.tenant == ACTING, deltas.c.id == bindparam("id"))
_deltas = (
    sa.select(deltas)
    .where(deltas.c.tenant == ACTING, deltas.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(deltas.c.created_ms, deltas.c.id)
)
_deltas_of = (
    sa.select(deltas)
    .where(
        deltas.c.tenant == ACTING, deltas.c.subject == bindparam("subject"),
        sa.tuple_(deltas.c.created_ms, deltas.c.id)
        < sa.tuple_(sa.cast(bindparam("created_ms"), sa.BigInteger), sa.cast(bindparam("before_id"), sa.Text)),
    )
    .order_by(deltas.c.created_ms.desc(), deltas.c.id.desc())
    .limit(bindparam("limit"))
)  # fmt: skip
_revert = (
    sa.update(deltas)
    .where(deltas.c.tenant == ACTING, deltas.c.id == bindparam("delta_id"),
           deltas.c.status == DeltaStatus.APPLIED.value)
    .values(status=DeltaStatus.REVERTED.value)
)  # fmt: skip
_reapply = (
    sa.update(deltas)
    .where(deltas.c.tenant == ACTING, deltas.c.id == bindparam("delta_id"))
    .values(status=DeltaStatus.APPLIED.value)
)
_prior = memory_versions.alias("prior")
_state_before = (
    sa.select(_prior.c.state)
    .where(_prior.c.tenant == _v.tenant, _prior.c.seq == _v.seq, _prior.c.version < _v.version)
    .order_by(_prior.c.version.desc())
    .limit(1)
    .scalar_subquery()
)
_written_by = (
    sa.select(memory_versions, _state_before.label("prior"))
    .join(memories, sa.and_(memories.c.tenant == _v.tenant, memories.c.seq == _v.seq))
    .where(_v.tenant == ACTING, _v.delta_id.in_(bindparam("ids", expanding=True)),
           memories.c.kind == bindparam("kind"))
    .order_by(_v.delta_id, _v.seq, _v.version)
)  # fmt: skip
_span = (_v.seq, sa.func.min(_v.version).label("first"), sa.func.count().label("writes"))
_touched_by_delta = (
    sa.select(*_span).where(_v.tenant == ACTING, _v.delta_id == bindparam("delta_id")).group_by(_v.seq).order_by(_v.seq)
)
_touched_by_source = sa.select(*_span).where(_v.tenant == ACTING, _v.source == bindparam("source")).group_by(_v.seq)
_made_by_source = sa.select(memories.c.seq).where(memories.c.tenant == ACTING, memories.c.source == bindparam("source"))
_count_touched = sa.select(sa.func.count(_v.seq.distinct())).where(
    _v.tenant == ACTING, _v.delta_id == bindparam("delta_id")
)
_delta_page = _touched_by_delta.where(_v.seq > bindparam("after")).limit(bindparam("limit"))
_source_page = _touched_by_source.where(_v.seq > bindparam("after")).order_by(_v.seq).limit(bindparam("limit"))
_made_page = (
    _made_by_source.where(memories.c.seq > bindparam("after")).order_by(memories.c.seq).limit(bindparam("limit"))
)
_erase_by_source = (
    sa.delete(memory_versions)
    .where(
        _v.tenant == ACTING,
        _v.source == bindparam("source"),
        _v.version
        < sa.select(memories.c.version)
        .where(memories.c.tenant == _v.tenant, memories.c.seq == _v.seq)
        .scalar_subquery(),
    )
    .returning(_v.seq, _v.version)
)
