"""Statements that are compiled once in a process: each test opens a store of its own, and SQLAlchemy keeps what it has
compiled by store, so that the same few hundred statements were compiled ten thousand times.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

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
