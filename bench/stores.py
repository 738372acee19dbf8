"""Stores that a program makes for itself and removes again, on either engine.

`durable` decides where and how: durability and speed are measured on a real disk with fsync, behaviour is tested on
whatever is fastest. A database inside the program's own PostgreSQL is made by copying one that was migrated once.
Where `shared` names a server that runs already, stores that need not be durable are made there.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from codexmem.kernel.store.opening import open_database, sqlite_url
from tests._support.postgres import PostgresServer

_MEMORY = Path("/dev/shm")
_numbers = itertools.count(1)
shared: Callable[[], PostgresServer] | None = None  # the gate sets it


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
        self._made: list[str] = []
        self._template = home / "template.db"
        if server is None:
            open_database(sqlite_url(self._template)).close()

    def fresh(self) -> str:
        """The address of one more store."""
        name = f"store_{next(_numbers)}"
        if self.server is not None:
            self._made.append(self.server.create_store(name))
            return self._made[-1]
        path = self.home / f"{name}.db"
        shutil.copyfile(self._template, path)
        return sqlite_url(path)

    def discard(self, url: str) -> None:
        """Remove a store that nobody has open any more."""
        if self.server is not None:
            self._made.remove(url)
            name = sql.Identifier(url.rpartition("/")[2])
            with psycopg.connect(self.server.url(), autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))
        else:
            for path in self.home.glob(f"{Path(url).stem}.*"):
                path.unlink()

    def discard_all(self) -> None:
        """Remove those that are left."""
        for url in tuple(self._made):
            self.discard(url)


@contextmanager
def stores(
    engine: str, *, durable: bool, parent: Path | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Stores]:
    """Stores of this engine until the block ends; PostgreSQL is started for them."""
    with folder(durable=durable, parent=parent) as home:
        if engine == "sqlite":
            yield Stores(home, None)
            return
        if shared is not None and not durable:
            made = Stores(home, shared())
            yield made
            made.discard_all()
            return
        place = parent or (None if durable else home.parent)
        with PostgresServer(durable=durable, settings=settings, parent=place) as server:
            yield Stores(home, server)
