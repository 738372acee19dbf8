"""Stores that a program makes for itself and removes again, on either engine.

`durable` decides where and how: durability and speed are measured on a real disk with fsync, behaviour is tested on
whatever is fastest. A database inside the program's own PostgreSQL is made by copying one that was migrated once.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from codexmem.kernel.store.opening import open_database, sqlite_url, upgrade_store
from tests._support.postgres import PostgresServer

_MEMORY = Path("/dev/shm")
_TEMPLATE = "codexmem_template"


@contextmanager
def folder(*, durable: bool, parent: Path | None = None) -> Iterator[Path]:
    """A private directory, on disk where durability counts, in memory (if the machine offers it) where it does not."""
    base = parent or (None if durable or not _MEMORY.is_dir() else _MEMORY)
    path = Path(tempfile.mkdtemp(prefix="codexmem-bench-", dir=base))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Stores:
    """Hands out addresses of fresh, migrated, empty stores of one engine."""

    def __init__(self, home: Path, server: PostgresServer | None) -> None:
        self.home = home
        self.server = server
        self._numbers = itertools.count(1)
        self._template = home / "template.db"
        if server is None:
            open_database(sqlite_url(self._template)).close()
        else:
            upgrade_store(server.create_database(_TEMPLATE))

    def fresh(self) -> str:
        """The address of one more store."""
        name = f"store_{next(self._numbers)}"
        if self.server is not None:
            return self.server.create_database(name, template=_TEMPLATE)
        path = self.home / f"{name}.db"
        shutil.copyfile(self._template, path)
        return sqlite_url(path)

    def discard(self, url: str) -> None:
        """Remove a store that nobody has open any more."""
        if self.server is not None:
            name = sql.Identifier(url.rpartition("/")[2])
            with psycopg.connect(self.server.url(), autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
        else:
            for path in self.home.glob(f"{Path(url).stem}.*"):
                path.unlink()


@contextmanager
def stores(
    engine: str, *, durable: bool, parent: Path | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Stores]:
    """Stores of this engine until the block ends; PostgreSQL is started for them."""
    with folder(durable=durable, parent=parent) as home:
        if engine == "sqlite":
            yield Stores(home, None)
            return
        place = parent or (None if durable else home.parent)
        with PostgresServer(durable=durable, settings=settings, parent=place) as server:
            yield Stores(home, server)
