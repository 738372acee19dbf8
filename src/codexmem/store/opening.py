"""Opening and upgrading a store by its address: `sqlite:///path` or `postgresql://…`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import sqlalchemy as sa

from codexmem.domain.errors import InvalidArgument, NotReady, Unavailable
from codexmem.store import upgrade
from codexmem.store.database import Database
from codexmem.store.engine import Engine
from codexmem.store.sqlite import engine as sqlite

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def sqlite_url(path: Path) -> str:
    """The address of a store file."""
    return f"{_SQLITE}{path}"


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite store, None for a server's."""
    return Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else None


def open_database(url: str, *, pool_size: int = 20) -> Database:
    """Open the store; a SQLite file is created and upgraded, a PostgreSQL schema must be current already."""
    path = sqlite_path(url)
    engine: Engine
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        engine = sqlite.SqliteEngine(path)
    else:
        engine = _postgres(url).PostgresEngine(url, pool_size=pool_size)
    try:
        if path is not None:
            upgrade_store(url)
        else:
            _require_newest(url)
    except BaseException:
        engine.close()
        raise
    return Database(engine)


def upgrade_store(url: str) -> tuple[str | None, str]:
    """Bring the schema up to date; returns the schema before and after."""
    with _migrating(url) as engine:
        return upgrade.upgrade(engine)


def _require_newest(url: str) -> None:
    try:
        with _migrating(url) as plain, plain.connect() as connection:
            upgrade.require_newest(connection)
    except sa.exc.ProgrammingError as error:
        raise NotReady(
            "this PostgreSQL login may not use the store",
            hint="let its owner run: GRANT codexmem_app, codexmem_dispatch TO <login>",
        ) from error


def schema_of(url: str) -> str | None:
    """The schema the store has, None for an empty one."""
    with _migrating(url) as engine, engine.connect() as connection:
        return upgrade.current(connection)


@contextmanager
def _migrating(url: str) -> Iterator[sa.Engine]:
    # Short-lived, and with the login's own rights: the roles of ordinary transactions own no table.
    path = sqlite_path(url)
    engine: sa.Engine = sqlite.migration_engine(path) if path is not None else _postgres(url).migration_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _postgres(url: str) -> ModuleType:
    if not url.startswith(_POSTGRES):
        raise InvalidArgument(
            f"{url.partition(':')[0]!r} is not a store we know",
            hint="CODEXMEM_DATABASE_URL is postgresql://user@host/database, or unset for SQLite",
        )
    try:
        from codexmem.store.postgres import engine
    except ImportError as missing:
        raise Unavailable(
            "the PostgreSQL driver is not installed", hint="pip install 'codexmem[postgres]'"
        ) from missing
    return engine
