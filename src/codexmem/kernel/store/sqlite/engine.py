"""SQLite as an engine: WAL, full durability, one writing connection, a pool of read-only ones.

The library comes from a wheel, because the system's SQLite may carry the WAL-reset corruption bug (fixed in 3.51.3).
"""

import importlib.util
import logging
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from codexmem.kernel.model.errors import Conflict, Unavailable
from codexmem.kernel.model.tenant import LOCAL, ProjectScope
from codexmem.kernel.store.engine import Replica
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.schema import counters
from codexmem.kernel.store.sqlite.condition import Condition
from codexmem.kernel.store.sqlite.group_commit import GroupCommit
from codexmem.kernel.store.sqlite.library import connect, driver, require_fixed_library
from codexmem.kernel.store.sqlite.lock import OwnerLock
from codexmem.kernel.store.sqlite.upkeep import SqliteUpkeep

_read = sa.select(counters.c.value).where(
    counters.c.tenant == sa.bindparam("tenant"), counters.c.name == sa.bindparam("name")
)
_write = sqlite.insert(counters)
_write = _write.on_conflict_do_update(index_elements=["tenant", "name"], set_={"value": _write.excluded.value})


class Numbers:
    """The counters of one file; used by the holder of the writing connection only."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], int] = {}
        self._changed: set[tuple[str, str]] = set()

    def next(self, connection: sa.Connection, tenant: str, name: str) -> int:
        """The next number of this counter."""
        key = (tenant, name)
        if key not in self._values:
            self._values[key] = connection.execute(_read, {"tenant": tenant, "name": name}).scalar() or 0
        self._values[key] += 1
        self._changed.add(key)
        return self._values[key]

    def write(self, connection: sa.Connection) -> None:
        """Store what was counted, inside the transaction that is about to commit."""
        if self._changed:
            rows = [{"tenant": t, "name": n, "value": self._values[t, n]} for t, n in sorted(self._changed)]
            connection.execute(_write, rows)
            self._changed.clear()

    def forget(self) -> None:
        """What was counted did not commit."""
        self._values.clear()
        self._changed.clear()


_log = logging.getLogger(__name__)

_SCOUR_TRIES, _SCOUR_PAUSE_S = 20, 0.1
READERS = 16  # concurrent snapshots; further readers wait for one
_NO_HORIZON = 2**62  # commits are in order of numbers here, so nothing is ever beyond the horizon


def plain_engine(path: Path, *, read_only: bool = False) -> sa.Engine:
    """A SQLAlchemy engine on the file with our settings, transactions begun by hand."""
    return sa.create_engine(
        "sqlite+pysqlite://",
        module=driver,
        creator=lambda: _connect(path, read_only=read_only),
        poolclass=sa.QueuePool,
        pool_size=READERS,
        max_overflow=0,
        pool_reset_on_return=None,
        isolation_level="AUTOCOMMIT",
    )


def _connect(path: Path, *, read_only: bool) -> Any:
    target = f"file:{quote(str(path))}?mode={'ro' if read_only else 'rwc'}"
    connection = connect(target, uri=True, isolation_level=None, check_same_thread=False, timeout=5.0)
    # secure_delete: what is forgotten must not stay readable in freed pages. A larger cache and fewer checkpoints let
    # a burst of writes go to the log alone (measured: half as many writes a second again).
    pragmas = ["foreign_keys=ON", "trusted_schema=OFF", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY"]
    pragmas += ["query_only=ON"] if read_only else ["journal_mode=WAL", "cache_size=-65536", "wal_autocheckpoint=8000"]
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}")
    _load_vector_functions(connection)
    return connection


def _load_vector_functions(connection: Any) -> None:
    # Where the library cannot be loaded the store works without vectors, which say so when they are asked for.
    try:
        # Importing the package would import numpy with it, which is slow and mostly not needed.
        found = importlib.util.find_spec("sqlite_vec")
        if found is None or found.origin is None:
            return
        connection.enable_load_extension(True)
        try:
            connection.load_extension(str(Path(found.origin).with_name("vec0")))
        finally:
            connection.enable_load_extension(False)
    except (ImportError, AttributeError, OSError, driver.Error):
        _log.debug("sqlite-vec cannot be loaded", exc_info=True)


def vector_functions() -> str | None:
    """The version of sqlite-vec, None where it cannot be loaded."""
    with closing(driver.connect(":memory:")) as connection:
        _load_vector_functions(connection)
        try:
            return str(connection.execute("SELECT vec_version()").fetchone()[0])
        except driver.OperationalError:
            return None


def migration_engine(path: Path) -> sa.Engine:
    """An engine that begins transactions by itself, as Alembic expects; DDL is transactional in SQLite."""
    engine = sa.create_engine("sqlite+pysqlite://", module=driver, creator=lambda: _connect(path, read_only=False),
                              poolclass=sa.NullPool)  # fmt: skip
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


class SqliteReader:
    """One file, whoever owns it: snapshots of what is committed, and no way to write."""

    name = "sqlite"
    placeholder = "?"
    # Before a statement of several rows SQLite makes ready to take back that statement alone. That takes the longer the
    # more the savepoint around it has changed: a third of the time of an import.
    rows_per_insert = 1
    version = driver.sqlite_version
    ambient_tenant: str | None = LOCAL
    replica: Replica | None = None  # a file has none

    def __init__(self, path: Path) -> None:
        self.path = path
        self._condition = Condition(path)
        self._readers = plain_engine(path, read_only=True)

    def writing(self, tenant: str, scope: ProjectScope | None = None) -> AbstractContextManager[sa.Connection]:
        """Only the owner writes."""
        raise _only_read()

    @contextmanager
    def reading(self, tenant: str, scope: ProjectScope | None = None) -> Iterator[sa.Connection]:
        """A snapshot of the last commit."""
        _require_whole(scope)
        with self._readers.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            try:
                yield connection
            finally:
                connection.exec_driver_sql("COMMIT")

    def dispatching(self) -> AbstractContextManager[sa.Connection]:
        """Only the owner writes."""
        raise _only_read()

    def number(self, connection: sa.Connection, tenant: str, name: str) -> int | None:
        """Only the owner writes."""
        raise _only_read()

    def lock_lane(self, connection: sa.Connection, tenant: str, lane: str) -> None:
        """Nothing to do: one writer at a time is already in order."""

    def require_home(self, connection: sa.Connection, *, tenant: str | None = None, key_hash: str = "") -> None:
        """A file's tenant lives in it."""

    def insert(self, table: sa.Table) -> sqlite.Insert:
        """SQLite's INSERT."""
        return sqlite.insert(table)

    def horizon(self, connection: sa.Connection) -> int:
        """Everything readable is committed."""
        return _NO_HORIZON

    def skip_locked(self, statement: Any) -> Any:
        """Rows are never locked here."""
        return statement

    def scour(self) -> None:
        """Only the owner erases."""
        raise _only_read()

    def failure(self, error: Exception) -> Exception | None:
        """What a driver error means to a caller."""
        cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        text = str(cause)
        if isinstance(cause, driver.IntegrityError) and text.startswith("UNIQUE"):
            return Conflict("something with the same name or id is already there", hint="read it, or choose another")
        if (noticed := self._condition.noticed(cause)) is not None:
            return noticed
        if not isinstance(cause, driver.OperationalError):
            return None
        if "locked" in text or "unable to open" in text or "readonly" in text:
            return Unavailable("the store cannot be reached just now", hint="try again, or run codexmem doctor")
        return None

    def trouble(self) -> str | None:
        """What is known to be wrong with the file or its disk."""
        return self._condition.trouble()

    def watch(self) -> None:
        """Only the owner looks after the file."""
        raise _only_read()

    def make_bell(self) -> LocalNotifier:
        """One process owns the file, so nobody else need hear it."""
        return LocalNotifier()

    def close(self) -> None:
        """Close every connection."""
        self._readers.dispose()


def _require_whole(scope: ProjectScope | None) -> None:
    """A file has no row-level security: nobody reads it who may not read all of it."""
    if scope is not None:
        raise RuntimeError("rights by project need PostgreSQL")


def _only_read() -> RuntimeError:
    return RuntimeError("this store was opened for reading")


class SqliteEngine(SqliteReader):
    """One file, owned by this process until closed."""

    def __init__(self, path: Path) -> None:
        require_fixed_library()
        self._lock = OwnerLock(path)
        self._lock.acquire()
        super().__init__(path)
        self._numbers = Numbers()
        self._writers = plain_engine(path)
        self._commits = GroupCommit(
            self._connected, self._numbers.write, self._numbers.forget, self._committed
        )  # fmt: skip
        self._upkeep: SqliteUpkeep | None = None

    @contextmanager
    def writing(self, tenant: str, scope: ProjectScope | None = None) -> Iterator[sa.Connection]:
        """A savepoint inside the group that is forming; durable when the block has ended."""
        _require_whole(scope)
        if (broken := self._condition.broken) is not None:
            raise broken
        with self._commits.member() as connection:
            yield connection

    def dispatching(self) -> AbstractContextManager[sa.Connection]:
        """The same as writing: there is one tenant and no role to change."""
        return self.writing(LOCAL)

    def watch(self) -> None:
        """Look after the file until the store is closed."""
        self._upkeep = SqliteUpkeep(
            self.path, self._condition, connect=lambda reading: _connect(self.path, read_only=reading),
            write=self._write_something,
        )  # fmt: skip
        self._upkeep.start()

    def _committed(self) -> None:
        """Before anybody is told that it is durable: a commit to a log without a name is not."""
        self._condition.full = False
        self._require_files()

    def _connected(self) -> sa.Connection:
        """A connection that writes to the log that the others know: one opened after its removal has another."""
        connection = self._writers.connect()
        if self._condition.remembered:
            try:
                self._require_files()
            except Unavailable:
                connection.close()
                raise
        return connection

    def _require_files(self) -> None:
        if self._condition.files_lost() and (broken := self._condition.broken) is not None:
            raise broken

    def _write_something(self) -> None:
        with suppress(sa.exc.DatabaseError, driver.Error), self.writing(LOCAL) as connection:
            held = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
            connection.exec_driver_sql(f"PRAGMA user_version = {held}")

    def number(self, connection: sa.Connection, tenant: str, name: str) -> int | None:
        """Counted in memory, stored with the commit."""
        return self._numbers.next(connection, tenant, name)

    def scour(self) -> None:
        """Move the write-ahead log into the file and empty it, so that no erased page survives there."""
        with self._connected() as connection:
            for _ in range(_SCOUR_TRIES):
                busy, *_ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
                if not busy:
                    return
                threading.Event().wait(_SCOUR_PAUSE_S)  # a reader still looks at an older state
        _log.warning("erased text stays in the write-ahead log until its readers have ended")

    def close(self) -> None:
        """Close every connection, then let another process own the file."""
        if self._upkeep is not None:
            self._upkeep.close()
        # The last connection to close folds the write-ahead log into the file, which a reader cannot do.
        super().close()
        self._commits.close()
        self._writers.dispose()
        self._lock.release()
