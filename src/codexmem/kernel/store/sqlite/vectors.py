"""Vectors on SQLite: a plain table and the distance functions of sqlite-vec.

Not its virtual table: measured on 100,000 vectors of 512 numbers, rows of ours are written ten times as fast, a given
five hundred are ranked thirty times as fast, and they go with their memory. Up to some ten thousand parts in the scope
are all compared. Beyond that a first pass compares one bit per number, read from an index that holds nothing else, and
the best of it are compared in full; `bench/vectors.py` measures what that misses.
"""

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from codexmem.installation import install_command
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.database import ACTING, Database, Transaction
from codexmem.kernel.store.schema import memory_vectors
from codexmem.kernel.store.vector_table import VECTOR, Part, TableVectors, conditions, scope, scope_size, v

EXACT = 20_000  # parts in a scope that are all compared
KEEP = 2_000  # of the first pass, at least
_BITS = 8  # a byte of a code


class SqliteVectors(TableVectors):
    """The vectors of one file."""

    name = "sqlite"

    def __init__(self, db: Database, *, exact: int = EXACT, keep: int = KEEP) -> None:
        super().__init__(db)
        self._exact = exact
        self._keep = keep
        self._loaded: bool | None = None

    def _require(self, tx: Transaction) -> None:
        if self._loaded is None:
            functions = tx.connection.exec_driver_sql(
                "SELECT count(*) FROM pragma_function_list WHERE name = 'vec_distance_cosine'"
            )
            self._loaded = bool(functions.scalar())
        if not self._loaded:
            raise Unavailable("sqlite-vec cannot be loaded here", hint=install_command(anew=True))

    def _distance(self) -> sa.ColumnElement[float]:
        return _distance

    def _insert(self, dimension: int) -> sa.Executable:
        return _insert_coded if dimension % _BITS == 0 else _insert

    def _dimension(self, tx: Transaction, model: str) -> int | None:
        found = tx.run(_dimension, model=model).scalar()
        return None if found is None else int(found)

    def _nearest(self, tx: Transaction, model: str, vector: bytes, wanted: Filter, depth: int) -> list[Part]:
        values = scope(model, wanted)
        in_project = wanted.project is not None
        size = tx.run(scope_size(in_project), beyond=self._exact + 1, **values).scalar_one()
        if size <= self._exact or len(vector) // 4 % _BITS:
            rows = tx.run(_all(in_project), vector=vector, depth=depth, **values)
        else:
            keep = max(self._keep, 2 * depth)
            rows = tx.run(_two_passes(in_project), vector=vector, depth=depth, keep=keep, **values)
        found: Sequence[Any] = rows.all()
        return [(seq, score) for seq, score in found]


_distance: sa.ColumnElement[float] = sa.func.vec_distance_cosine(v.embedding, VECTOR, type_=sa.Float)
_score = (1.0 - _distance).label("score")
_columns = ("tenant", "seq", "model", "part", "version", "project", "kind", "embedding")
_insert = sa.insert(memory_vectors).values({name: bindparam(name) for name in _columns})
_insert_coded = _insert.values(code=sa.func.vec_quantize_binary(bindparam("embedding", type_=sa.LargeBinary)))
_dimension = (
    sa.select(sa.func.length(v.embedding) / 4).where(v.tenant == ACTING, v.model == bindparam("model")).limit(1)
)


@functools.cache
def _all(in_project: bool) -> sa.Select[Any]:
    return (
        sa.select(v.seq, _score)
        .where(*conditions(in_project))
        .order_by(sa.desc("score"), v.seq)
        .limit(bindparam("depth"))
    )


@functools.cache
def _two_passes(in_project: bool) -> sa.Select[Any]:
    bits = sa.func.vec_distance_hamming(sa.func.vec_bit(v.code), sa.func.vec_quantize_binary(VECTOR))
    first = (
        sa.select(v.seq, v.part)
        .where(*conditions(in_project), v.code.is_not(None))
        .order_by(bits)
        .limit(bindparam("keep"))
        .cte("first_pass")
    )
    second = memory_vectors.alias("second_pass")
    distance = sa.func.vec_distance_cosine(second.c.embedding, VECTOR, type_=sa.Float)
    return (
        sa.select(second.c.seq, (1.0 - distance).label("score"))
        .join_from(first, second, sa.and_(
            second.c.tenant == ACTING, second.c.seq == first.c.seq, second.c.model == bindparam("model"),
            second.c.part == first.c.part,
        ))
        .order_by(sa.desc("score"), second.c.seq)
        .limit(bindparam("depth"))
    )  # fmt: skip
