"""Statements that are compiled once in a process: each test opens a store of its own, and SQLAlchemy keeps what it has
compiled by store, so that the same few hundred statements were compiled ten thousand times.

A plan that is asked for here leaves nothing among them: its columns are not those of the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from codexmem.kernel.store.database import Transaction
from codexmem.kernel.store.sqlite import engine
from codexmem.kernel.store.sqlite.library import driver

KEPT = 4_000


def compile_once() -> None:
    """For the rest of this process: every SQLite store has the dialect and the compiled statements of the first."""
    make = engine.plain_engine
    first = sa.create_engine("sqlite+pysqlite://", module=driver, isolation_level="AUTOCOMMIT", query_cache_size=KEPT)
    with first.connect():  # a dialect learns from its first connection what the library can do
        pass
    first.dispose()

    def made(path: Path, *, read_only: bool = False) -> sa.Engine:
        new = make(path, read_only=read_only)
        new.dialect = new.pool._dialect = first.dialect
        new._compiled_cache = first._compiled_cache
        return new

    engine.plain_engine = made


def explain(transaction: Transaction, how: str, statement: sa.Executable, **values: Any) -> Sequence[sa.Row[Any]]:
    """Return the engine's plan for a statement as the store runs it; `how` is the engine's word for asking."""
    connection = transaction.connection

    def explained(connection: object, cursor: object, text: str, given: Any, *_: object) -> tuple[str, Any]:
        return f"{how} {text}", given

    connection.execution_options(compiled_cache=None)
    sa.event.listen(connection, "before_cursor_execute", explained, retval=True)
    try:
        return transaction.run(statement, **values).all()
    finally:
        sa.event.remove(connection, "before_cursor_execute", explained)
        connection.execution_options(compiled_cache=connection.engine._compiled_cache)
