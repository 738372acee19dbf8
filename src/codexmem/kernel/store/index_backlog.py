"""What vectors still owe the rows: which memories wait for theirs, and how far a change of model has come.

A memory waits while its `indexed_version` lags behind its version; an index holds exactly those. A target is an index
together with a model. One that is new, or is to be rebuilt, walks over all memories once, in order of their numbers,
and keeps its place, so that no statement ever touches all rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.memory import Memory
from codexmem.kernel.store import rows
from codexmem.kernel.store.database import ACTING, Database
from codexmem.kernel.store.schema import memories, text_changes, vector_debts, vector_targets

_CHUNK = 500  # bound parameters per IN list
_END = 2**62


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """An index with a model, and how far its walk over all memories has come."""

    index: str
    model: str
    dimension: int | None
    position: int  # every memory up to this number has been looked at
    complete: bool
    redo: bool  # also what is there already is made anew


class CatchingUp:
    """The acting tenant's backlog."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._register = db.engine.insert(vector_targets).on_conflict_do_nothing()

    def waiting(self, *, below: int | None = None, limit: int) -> list[Memory]:
        """Memories whose vectors are missing or out of date, newest first; `below` is the last number seen."""
        with self._db.reading() as tx:
            found = tx.run(_waiting, below=_END if below is None else below, limit=limit).mappings()
            return [rows.memory(row) for row in found]

    def count_waiting(self, *, limit: int) -> int:
        """How many wait; counting stops at the limit."""
        with self._db.reading() as tx:
            return int(tx.run(_count_waiting, limit=limit).scalar_one())

    def after(self, position: int, *, limit: int) -> list[Memory]:
        """Memories beyond a number, in their order."""
        with self._db.reading() as tx:
            return [rows.memory(row) for row in tx.run(_after, position=position, limit=limit).mappings()]

    def many(self, seqs: Sequence[int]) -> list[Memory]:
        """Those of these memories that exist."""
        with self._db.reading() as tx:
            return [rows.memory(row) for row in tx.run(_many, seqs=list(seqs)).mappings()]

    def mark(self, versions: Mapping[int, int]) -> list[int]:
        """The vectors of these versions are stored; returns the numbers that no longer exist.

        A row that somebody is changing at this moment is passed over: it waits again anyway.
        """
        gone: list[int] = []
        with self._db.transaction() as tx:
            for start in range(0, len(versions), _CHUNK):
                seqs = sorted(versions)[start : start + _CHUNK]
                there = set(tx.run(_existing, seqs=seqs).scalars())
                gone += [seq for seq in seqs if seq not in there]
                free = tx.run(_unlocked, seqs=seqs).scalars().all()
                tx.run_many(_mark, [{"of_seq": seq, "stored": versions[seq]} for seq in free])
        return gone

    def last(self) -> int:
        """The highest number of a memory, 0 if there is none."""
        with self._db.reading() as tx:
            return int(tx.run(_last).scalar() or 0)

    def target(self, index: str, model: str, *, now_ms: int) -> IndexTarget:
        """The target, registered at the beginning of its walk if it is new."""
        with self._db.transaction() as tx:
            tx.run(
                self._register, index_name=index, model=model, dimension=None, position=0, complete=False, redo=False,
                created_ms=now_ms,
            )  # fmt: skip
        return next(each for each in self.targets() if (each.index, each.model) == (index, model))

    def targets(self) -> list[IndexTarget]:
        """Every target there is, oldest first."""
        with self._db.reading() as tx:
            return [IndexTarget(**row) for row in tx.run(_targets).mappings()]

    def advance(self, target: IndexTarget, position: int, *, dimension: int | None) -> None:
        """The walk has come so far."""
        with self._db.transaction() as tx:
            tx.run(_advance, **_of(target), to_position=position, to_dimension=dimension)

    def complete(self, target: IndexTarget, *, dimension: int | None) -> None:
        """The walk is over."""
        with self._db.transaction() as tx:
            tx.run(_complete, **_of(target), to_dimension=dimension)

    def restart(self, index: str, model: str) -> None:
        """Let the walk begin again and make everything anew, while what is there serves."""
        with self._db.transaction() as tx:
            tx.run(_restart, of_index=index, of_model=model)

    def remove(self, target: IndexTarget) -> None:
        """Forget a target whose vectors are gone."""
        with self._db.transaction() as tx:
            tx.run(_remove, **_of(target))

    def owes(self) -> bool:
        """Whether an index outside the store still has something to forget."""
        with self._db.reading() as tx:
            return tx.run(_owes).first() is not None

    def unfolded(self) -> bool:
        """Whether the statistics of words lag behind."""
        with self._db.reading() as tx:
            return tx.run(_unfolded).first() is not None


def _of(target: IndexTarget) -> dict[str, str]:
    return {"of_index": target.index, "of_model": target.model}


_t = vector_targets.c
# Written out, not bound: the planner must recognise the partial index.
_lags = sa.text("memories.indexed_version < memories.version")
_waiting = (
    sa.select(memories)
    .where(memories.c.tenant == ACTING, _lags, memories.c.seq < bindparam("below"))
    .order_by(memories.c.seq.desc())
    .limit(bindparam("limit"))
)
_some_waiting = sa.select(memories.c.seq).where(memories.c.tenant == ACTING, _lags).limit(bindparam("limit")).subquery()
_count_waiting = sa.select(sa.func.count()).select_from(_some_waiting)
_after = (
    sa.select(memories)
    .where(memories.c.tenant == ACTING, memories.c.seq > bindparam("position"))
    .order_by(memories.c.seq)
    .limit(bindparam("limit"))
)
_last = sa.select(sa.func.max(memories.c.seq)).where(memories.c.tenant == ACTING)
_many = sa.select(memories).where(memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True)))
_existing = sa.select(memories.c.seq).where(
    memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True))
)
_unlocked = _existing.order_by(memories.c.seq).with_for_update(key_share=True, skip_locked=True)
_mark = (
    sa.update(memories)
    .where(memories.c.tenant == ACTING, memories.c.seq == bindparam("of_seq"),
           memories.c.indexed_version < bindparam("stored"))
    .values(indexed_version=bindparam("stored"))
)  # fmt: skip
_targets = (
    sa.select(_t.index_name.label("index"), _t.model, _t.dimension, _t.position, _t.complete, _t.redo)
    .where(_t.tenant == ACTING)
    .order_by(_t.created_ms, _t.index_name, _t.model)
)
_one = (_t.tenant == ACTING, _t.index_name == bindparam("of_index"), _t.model == bindparam("of_model"))
_dimension = sa.func.coalesce(bindparam("to_dimension", type_=sa.Integer), _t.dimension)
_advance = sa.update(vector_targets).where(*_one).values(position=bindparam("to_position"), dimension=_dimension)
_complete = sa.update(vector_targets).where(*_one).values(complete=True, redo=False, dimension=_dimension)
_restart = sa.update(vector_targets).where(*_one).values(position=0, complete=False, redo=True)
_remove = sa.delete(vector_targets).where(*_one)
_unfolded = sa.select(text_changes.c.seq).where(text_changes.c.tenant == ACTING).limit(1)
_owes = sa.select(vector_debts.c.seq).where(vector_debts.c.tenant == ACTING).limit(1)
