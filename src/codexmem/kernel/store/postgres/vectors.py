"""Vectors on PostgreSQL: pgvector, compared whole within the scope.

Filtered approximate search misses most of what a small scope holds, so the approximate index is used only for scopes of
a tenant that are too large to compare whole, and only where an operator has built it (`pgvector.build`). Which way a
statement goes is decided by its shape and not by the planner: the index is over a cast that only one of them writes.
"""

import functools
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.postgres.pgvector import HINT, index_name
from codexmem.kernel.store.schema import memory_vectors
from codexmem.kernel.store.vector_table import VECTOR, Part, TableVectors, conditions, scope, scope_size, v
from codexmem.kernel.store.vector_type import Halfvec

EXACT = 50_000  # parts in a scope that are all compared
_EFFORT = 200  # hnsw.ef_search, at most 1,000


class PostgresVectors(TableVectors):
    """The vectors of the acting tenant."""

    name = "postgresql"

    def __init__(self, db: Database, *, exact: int = EXACT, effort: int = _EFFORT) -> None:
        super().__init__(db)
        self._exact = exact
        self._effort = effort
        self._there = False

    def _require(self, tx: Transaction) -> None:
        if not self._there:
            self._there = tx.run(_table).scalar() is not None
        if not self._there:
            raise Unavailable("this PostgreSQL server has no pgvector", hint=HINT)

    def drop(self, seqs: Any) -> None:
        """Remove every vector of these memories; on a server without vectors there are none."""
        with self._db.transaction() as tx:
            if self._there or tx.run(_table).scalar() is not None:
                super().drop(seqs)

    def _distance(self) -> sa.ColumnElement[float]:
        return _distance

    def _insert(self, dimension: int) -> sa.Executable:
        return _insert

    def _dimension(self, tx: Transaction, model: str) -> int | None:
        found = tx.run(_dimension, model=model).scalar()
        return None if found is None else int(found)

    def _nearest(self, tx: Transaction, model: str, vector: bytes, wanted: Filter, depth: int) -> list[Part]:
        values = scope(model, wanted)
        in_project = wanted.project is not None
        if self._is_large(tx, values, in_project) and self._has_index(tx, model):
            # Bound values must be seen by the planner, or it cannot tell that the tenant's own index applies.
            tx.connection.exec_driver_sql(
                "SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL hnsw.iterative_scan = relaxed_order; "
                f"SET LOCAL hnsw.ef_search = {min(1_000, max(self._effort, depth))}"
            )
            statement = _approximate(in_project, len(vector) // 4)
        else:
            statement = _exact(in_project)
        found = [(row.seq, row.score) for row in tx.run(statement, vector=vector, depth=depth, **values)]
        return sorted(found, key=lambda part: (-part[1], part[0]))

    def _is_large(self, tx: Transaction, values: dict[str, object], in_project: bool) -> bool:
        return bool(tx.run(scope_size(in_project), beyond=self._exact + 1, **values).scalar_one() > self._exact)

    def _has_index(self, tx: Transaction, model: str) -> bool:
        return tx.run(_valid_index, name=index_name(tx.tenant, model)).scalar() is not None


_table = sa.select(sa.func.to_regclass("memory_vectors"))
_bound = sa.cast(VECTOR, Halfvec())
_distance: sa.ColumnElement[float] = v.embedding.op("<=>", return_type=sa.Float())(_bound)
_insert = sa.insert(memory_vectors)
_dimension = (
    sa.select(sa.func.vector_dims(v.embedding)).where(v.tenant == ACTING, v.model == bindparam("model")).limit(1)
)
_valid_index = sa.text(
    "SELECT 1 FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE c.relname = :name AND i.indisvalid"
)


@functools.cache
def _exact(in_project: bool) -> sa.Select[Any]:
    score = (1.0 - _distance).label("score")
    return (
        sa.select(v.seq, score)
        .where(*conditions(in_project))
        .order_by(sa.desc("score"), v.seq)
        .limit(bindparam("depth"))
    )


@functools.cache
def _approximate(in_project: bool, dimension: int) -> sa.Select[Any]:
    sized: sa.ColumnClause[Any] = sa.literal_column(f"(memory_vectors.embedding::halfvec({dimension}))")
    distance = sized.op("<=>", return_type=sa.Float())(_bound)
    return (
        sa.select(v.seq, (1.0 - distance).label("score"))
        .where(*conditions(in_project))
        .order_by(distance)
        .limit(bindparam("depth"))
    )
