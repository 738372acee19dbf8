"""Looking at a store without owning it: its schema, its soundness, whether somebody has it open.

Nothing here creates, upgrades or writes a store, so that `doctor` and `db status` may look at one that is in use.
"""

from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from filelock import FileLock, Timeout

from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.kernel.store import upgrade
from codexmem.kernel.store.opening import (
    accepted,
    require_writable,
    schema_of,
    sqlite_path,
    supposed_rows,
    vector_extension,
)
from codexmem.kernel.store.schema import metadata
from codexmem.kernel.store.sqlite.engine import plain_engine, vector_functions
from codexmem.kernel.store.sqlite.library import SOURCE, driver, has_fix

COUNTED = 1_000_000  # rows of a table that are counted, at most


def library() -> tuple[str, bool]:
    """The SQLite library's version, and whether it has the fix that sharing a file needs."""
    return driver.sqlite_version, has_fix()


def library_source() -> str:
    """Where the SQLite library comes from: `pysqlite3`, or `Python` where that has no wheel."""
    return SOURCE


def expected_schema() -> str:
    """The schema this program works with."""
    return upgrade.newest()


def schema(url: str) -> str | None:
    """The schema the store has; None if it is empty or does not exist."""
    path = sqlite_path(url)
    if path is None:
        return _reached(url)
    if not path.is_file() or path.stat().st_size == 0:
        return None
    engine = plain_engine(path, read_only=True)
    try:
        with engine.connect() as connection:
            return upgrade.current(connection)
    except sa.exc.DatabaseError as error:
        require_writable(path.parent)
        raise Unavailable(f"{path} cannot be read: {error.orig}", hint="for details run codexmem doctor") from error
    finally:
        engine.dispose()


def _reached(url: str) -> str | None:
    try:
        return schema_of(url)
    except sa.exc.OperationalError as error:
        raise Unavailable("PostgreSQL does not answer", hint="check CODEXMEM_DATABASE_URL") from error


def is_fit(url: str) -> bool:
    """Whether this program works on the schema that the store has: its own, or a newer one that allows it."""
    have = schema(url)
    if have is None or have <= upgrade.newest() or sqlite_path(url) is not None:
        return have == upgrade.newest()
    return accepted(url)


def integrity(url: str) -> str | None:
    """What is wrong with the file's structure, None if nothing is; a server checks its own pages."""
    path = sqlite_path(url)
    if path is None or not path.is_file():
        return None
    engine = plain_engine(path, read_only=True)
    try:
        with engine.connect() as connection:
            found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
            return None if found == "ok" else found
    except sa.exc.DatabaseError as error:
        return str(error.orig)
    finally:
        engine.dispose()


def owned(url: str) -> bool:
    """Whether a process has the SQLite store open for writing."""
    path = sqlite_path(url)
    lock = path.with_suffix(".lock") if path is not None else Path()
    if path is None or not lock.exists():
        return False
    probe = FileLock(lock, mode=0o600)
    try:
        probe.acquire(timeout=0)
    except Timeout:
        return True
    except OSError as error:
        require_writable(lock.parent)
        raise Unavailable(f"{lock} cannot be opened: {error.strerror}") from error
    probe.release()
    return False


def lacks_words() -> bool:
    """Whether the SQLite library was built without its text index."""
    with closing(driver.connect(":memory:")) as connection:
        found = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    return found is None


def vectors(url: str) -> str | None:
    """The version of what compares vectors in the store, None where search has to go by words."""
    if sqlite_path(url) is not None:
        return vector_functions()
    try:
        return vector_extension(url)
    except sa.exc.OperationalError as error:
        raise Unavailable("PostgreSQL does not answer", hint="check CODEXMEM_DATABASE_URL") from error


def row_counts(url: str, names: frozenset[str] = frozenset()) -> dict[str, int]:
    """How many rows each table, or each of these, has, counted up to a limit; PostgreSQL is asked what it supposes."""
    path = sqlite_path(url)
    if path is None:
        return supposed_rows(url)
    if not path.is_file():
        return {}
    engine = plain_engine(path, read_only=True)
    try:
        with engine.connect() as connection:
            there = set(sa.inspect(connection).get_table_names())
            return {
                table.name: connection.execute(_counted(table)).scalar_one()
                for table in metadata.sorted_tables
                if table.name in there and (not names or table.name in names)
            }
    except sa.exc.DatabaseError as error:
        raise Unavailable(f"{path} cannot be read: {error.orig}", hint="for details run codexmem doctor") from error
    finally:
        engine.dispose()


def _counted(table: sa.Table) -> sa.Select[int]:
    some = sa.select(sa.literal(1)).select_from(table).limit(COUNTED).subquery()
    return sa.select(sa.func.count()).select_from(some)


def reachable(url: str) -> str | None:
    """Why the store cannot be reached, None if it can."""
    try:
        schema(url)
    except CodexmemError as error:
        return error.message
    return None
