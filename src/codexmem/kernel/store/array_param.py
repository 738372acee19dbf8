"""Many numbers, bound as one value.

An IN list of bound parameters is another statement for every length, which SQLAlchemy writes and PostgreSQL plans anew.
Here the numbers travel together, as JSON or as an array, and the statement stays the same.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles

from codexmem.kernel.store.schema import Json

_NUMBERS = Json().with_variant(postgresql.ARRAY(sa.BigInteger), "postgresql")
_TEXTS = Json().with_variant(postgresql.ARRAY(sa.Text), "postgresql")


class _Asked(sa.sql.functions.GenericFunction[Any]):
    name = "codexmem_asked"
    inherit_cache = True


class _Among(sa.sql.expression.BinaryExpression[bool]):
    inherit_cache = True


def among(column: sa.ColumnElement[int], name: str) -> sa.ColumnElement[bool]:
    """Whether the column is one of the numbers that are bound by this name, as a list."""
    return _Among(column, sa.bindparam(name, type_=_NUMBERS), sa.sql.operators.in_op, type_=sa.Boolean())


def asked(name: str) -> sa.TableValuedAlias:
    """The numbers that are bound by this name as rows, in a column `value`: for a statement that must go by them first.

    SQLite keeps no statistics here, and would rather read a whole index than look up some numbers.
    """
    return _Asked(sa.bindparam(name, type_=_NUMBERS)).table_valued(sa.column("value", sa.BigInteger))


def asked_texts(name: str) -> sa.TableValuedAlias:
    """The same for texts."""
    return _Asked(sa.bindparam(name, type_=_TEXTS)).table_valued(sa.column("value", sa.Text))


@compiles(_Asked, "sqlite")
def _asked_sqlite(element: _Asked, compiler: Any, **kw: Any) -> str:
    return f"json_each{compiler.process(element.clause_expr, **kw)}"


@compiles(_Asked, "postgresql")
def _asked_postgres(element: _Asked, compiler: Any, **kw: Any) -> str:
    return f"(SELECT unnest{compiler.process(element.clause_expr, **kw)} AS value)"


@compiles(_Among, "sqlite")
def _sqlite(element: _Among, compiler: Any, **kw: Any) -> str:
    column, numbers = compiler.process(element.left, **kw), compiler.process(element.right, **kw)
    return f"{column} IN (SELECT value FROM json_each({numbers}))"  # noqa: S608  compiled parts


@compiles(_Among, "postgresql")
def _postgres(element: _Among, compiler: Any, **kw: Any) -> str:
    return f"{compiler.process(element.left, **kw)} = ANY ({compiler.process(element.right, **kw)})"
