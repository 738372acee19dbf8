"""Plain inserts by the driver's own hand.

A write of one memory inserts into four tables, and SQLAlchemy's execution of these four costs as much as all the rest
of the write (measured on SQLite: 0.8 ms of CPU per memory with it, 0.4 ms without). So rows that need no conflict rule
or expression are inserted by text that is made once per table and set of columns; the rest goes through SQLAlchemy.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from codexmem.store.schema import Json, encoded

AT_ONCE = 50  # rows per statement: one round trip for a memory's labels, few enough for any driver's limit

Values = Mapping[str, Any]


@functools.cache
def statement(table: sa.Table, columns: tuple[str, ...], count: int, placeholder: str, returning: str | None) -> str:
    """INSERT of so many rows with these columns."""
    marks = ", ".join([f"({', '.join([placeholder] * len(columns))})"] * count)
    text = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES {marks}"  # noqa: S608  names from our schema
    return f"{text} RETURNING {returning}" if returning else text


@functools.cache
def _binder(table: sa.Table, columns: tuple[str, ...]) -> Callable[[Values], tuple[Any, ...]]:
    coded = [(name, isinstance(table.c[name].type, Json)) for name in columns]

    def bind(values: Values) -> tuple[Any, ...]:
        return tuple(encoded(values[name]) if is_json else values[name] for name, is_json in coded)

    return bind


def insert(driver: Any, placeholder: str, table: sa.Table, rows: Sequence[Values], returning: str | None = None) -> Any:
    """Insert rows that all name the same columns; with `returning` one row, whose value comes back."""
    columns = tuple(rows[0])
    bind = _binder(table, columns)
    if returning is not None:
        return driver.execute(statement(table, columns, 1, placeholder, returning), bind(rows[0])).fetchone()[0]
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        values = tuple(value for row in some for value in bind(row))
        driver.execute(statement(table, columns, len(some), placeholder, None), values)
    return None
