"""Vectors in a table of the store itself, as both engines have it.

Rows go with their memory by foreign key. Ranking is exact over the asked scope as long as that is affordable; what to
do beyond that differs, and is the one thing an engine adds: `_nearest`. Every filter is honoured: where it leaves few
memories these are ranked alone, else the nearest are taken until enough of them pass.
"""

import functools
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store import matching
from codexmem.kernel.store.array_param import among
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.index import IndexHit, Vectors
from codexmem.kernel.store.schema import memories, memory_vectors
from codexmem.kernel.store.vector_type import Embedding

MAX_PARTS = 64
FEW = 2_000  # memories that are ranked one by one rather than searched for
DEEPEST = 32_000  # parts that are looked through for those that pass a filter
_CHUNK = 500  # bound parameters per IN list
_FLOAT = 4  # bytes

VECTOR: sa.BindParameter[bytes] = bindparam("vector", type_=Embedding)
v = memory_vectors.c
_SCOPE = (v.tenant == ACTING, v.model == bindparam("model"), v.kind.in_(bindparam("kinds", expanding=True)))
_IN_PROJECT = v.project == bindparam("project")


def conditions(in_project: bool) -> tuple[Any, ...]:
    """What holds for every part of a scope."""
    return (*_SCOPE, _IN_PROJECT) if in_project else _SCOPE


@functools.cache
def scope_size(in_project: bool) -> sa.Select[Any]:
    """How many parts the scope has; counting stops once it is clear that they are too many."""
    some = sa.select(v.seq).where(*conditions(in_project)).limit(bindparam("beyond")).subquery()
    return sa.select(sa.func.count()).select_from(some)


Part = tuple[int, float]  # seq and score; a memory may have several


def scope(model: str, wanted: Filter) -> dict[str, object]:
    """The values of the conditions that the vectors themselves can tell."""
    values: dict[str, object] = {"model": model, "kinds": sorted(kind.value for kind in wanted.kinds)}
    return values if wanted.project is None else values | {"project": wanted.project}


def widen(nearest: Callable[[int], list[Part]], passing: Callable[[list[int]], set[int]], limit: int) -> list[IndexHit]:
    """The best memories that pass, from parts nearest first, looking deeper while too few of them do."""
    judged: dict[int, bool] = {}
    depth = 2 * limit + 64
    while True:
        parts = nearest(depth)
        fresh = list(dict.fromkeys(seq for seq, _ in parts if seq not in judged))
        passed = passing(fresh)
        judged |= {seq: seq in passed for seq in fresh}
        best: dict[int, float] = {}
        for seq, score in parts:
            if judged[seq]:
                best.setdefault(seq, score)
        if len(best) >= limit or len(parts) < depth or depth >= DEEPEST:
            return [IndexHit(seq, score) for seq, score in itertools.islice(best.items(), limit)]
        depth = min(DEEPEST, depth * 4)


def best_of(parts: Sequence[Part]) -> dict[int, float]:
    """Each memory with the score of its best part."""
    best: dict[int, float] = {}
    for seq, score in parts:
        best[seq] = max(score, best.get(seq, -1.0))
    return best


class TableVectors(ABC):
    """The table `memory_vectors`."""

    name = "table"

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lengths: dict[str, int] = {}  # bytes of a stored vector, by model, as last seen

    @abstractmethod
    def _distance(self) -> sa.ColumnElement[float]:
        """One less the cosine, of the row and the bound vector."""

    @abstractmethod
    def _nearest(self, tx: Transaction, model: str, vector: bytes, wanted: Filter, depth: int) -> list[Part]:
        """So many parts of the scope (model, kinds, project), nearest first."""

    @abstractmethod
    def _insert(self, dimension: int) -> sa.Executable:
        """The INSERT of a row whose vector has this dimension."""

    @abstractmethod
    def _require(self, tx: Transaction) -> None:
        """Raise `Unavailable` if this store cannot hold vectors."""

    def put(self, model: str, items: Sequence[Vectors]) -> None:
        """Store the vectors of these memories, replacing older ones; what was erased meanwhile stays erased."""
        if not items:
            return
        with self._db.transaction() as tx:
            self._require(tx)
            # A memory that is being erased at this moment is passed over, not waited for.
            there = set(tx.run(_living, seqs=[item.seq for item in items]).scalars())
            kept = [item for item in items if item.seq in there]
            tx.run(_replace, model=model, seqs=[item.seq for item in kept])
            rows = [row for item in kept for row in _rows(model, item)]
            if rows:
                dimensions = {len(row["embedding"]) // _FLOAT for row in rows}
                self._same_dimension(tx, model, dimensions)
                tx.run_many(self._insert(dimensions.pop()), rows)

    def drop(self, seqs: Sequence[int]) -> None:
        """Remove every vector of these memories."""
        with self._db.transaction() as tx:
            for start in range(0, len(seqs), _CHUNK):
                tx.run(_drop, seqs=list(seqs[start : start + _CHUNK]))

    def find(self, model: str, vector: bytes, wanted: Filter, *, limit: int) -> list[IndexHit]:
        """The nearest that pass the filter, nearest first."""
        with self._db.reading() as tx:
            self._require(tx)
            self._require_length(tx, model, vector)
            chosen = matching.few(tx, wanted, FEW)
            if chosen is not None:
                ranked = sorted(self.near(model, vector, chosen).items(), key=lambda each: (-each[1], each[0]))
                return [IndexHit(seq, score) for seq, score in ranked[:limit]]
            return widen(
                lambda depth: self._nearest(tx, model, vector, wanted, depth),
                lambda seqs: matching.passing(tx, seqs, wanted),
                limit,
            )

    def near(self, model: str, vector: bytes, seqs: Sequence[int]) -> dict[int, float]:
        """The cosine of the best part of each of these memories that has vectors."""
        with self._db.reading() as tx:
            self._require(tx)
            self._require_length(tx, model, vector)
            parts: Sequence[Any] = tx.run(self._near, model=model, seqs=seqs, vector=vector).all()
        return best_of(parts)

    @functools.cached_property
    def _near(self) -> sa.Select[Any]:
        return sa.select(v.seq, (1.0 - self._distance()).label("score")).where(
            v.tenant == ACTING, among(v.seq, "seqs"), v.model == bindparam("model")
        )

    def count(self, model: str) -> int:
        """How many memories have vectors of this model."""
        with self._db.reading() as tx:
            self._require(tx)
            return int(tx.run(_count, model=model).scalar_one())

    def versions(self, model: str, seqs: Sequence[int]) -> dict[int, int]:
        """Of which version of each of these memories there are vectors of this model."""
        with self._db.reading() as tx:
            self._require(tx)
            return {row.seq: row.version for row in tx.run(_versions, model=model, seqs=list(seqs))}

    def forget_model(self, model: str, *, limit: int) -> int:
        """Remove some vectors of a model that is no longer used; returns how many went."""
        with self._db.transaction() as tx:
            self._require(tx)
            seqs = list(tx.run(_of_model, model=model, limit=limit).scalars())
            return tx.run(_replace, model=model, seqs=seqs).rowcount if seqs else 0

    def pay(self, *, limit: int) -> int:
        """Nothing is ever owed here: rows go with their memory."""
        return 0

    def close(self) -> None:
        """Nothing of its own is open; what was remembered goes."""
        self._lengths.clear()

    def _same_dimension(self, tx: Transaction, model: str, dimensions: set[int]) -> None:
        stored = self._dimension(tx, model)
        if len(dimensions) > 1 or (stored is not None and stored not in dimensions):
            raise _another_length(model)

    def _require_length(self, tx: Transaction, model: str, vector: bytes) -> None:
        # Asked before comparing: an engine fails at that, and PostgreSQL takes the whole transaction down with it.
        if self._lengths.get(model) != len(vector):
            stored = self._dimension(tx, model)
            if stored is not None and stored * _FLOAT != len(vector):
                raise _another_length(model)
            if stored is not None:
                self._lengths[model] = len(vector)

    @abstractmethod
    def _dimension(self, tx: Transaction, model: str) -> int | None:
        """Numbers per stored vector of this model, None if there are none."""


def _another_length(model: str) -> Unavailable:
    return Unavailable(
        f"{model} now answers with vectors of another length than before",
        hint="rebuild the vectors, or configure the previous model",
    )


def _rows(model: str, item: Vectors) -> list[dict[str, Any]]:
    return [
        {"seq": item.seq, "model": model, "part": part, "version": item.version, "project": item.project,
         "kind": item.kind, "embedding": vector}
        for part, vector in enumerate(item.parts[:MAX_PARTS])
    ]  # fmt: skip


_living = (
    sa.select(memories.c.seq)
    .where(memories.c.tenant == ACTING, memories.c.seq.in_(bindparam("seqs", expanding=True)))
    .order_by(memories.c.seq)
    .with_for_update(read=True, key_share=True, skip_locked=True)
)
_replace = sa.delete(memory_vectors).where(
    v.tenant == ACTING, v.seq.in_(bindparam("seqs", expanding=True)), v.model == bindparam("model")
)
_drop = sa.delete(memory_vectors).where(v.tenant == ACTING, v.seq.in_(bindparam("seqs", expanding=True)))
_count = sa.select(sa.func.count()).where(v.tenant == ACTING, v.model == bindparam("model"), v.part == 0)
_versions = sa.select(v.seq, v.version).where(
    v.tenant == ACTING, v.seq.in_(bindparam("seqs", expanding=True)), v.model == bindparam("model"), v.part == 0
)
_of_model = sa.select(v.seq).where(v.tenant == ACTING, v.model == bindparam("model")).limit(bindparam("limit"))
