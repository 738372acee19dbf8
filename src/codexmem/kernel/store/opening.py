"""Opening and upgrading a store by its address: `sqlite:///path` or `postgresql://…`."""

import functools
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import sqlalchemy as sa

from codexmem.installation import install_command
from codexmem.kernel.model.errors import InvalidArgument, NotFound, NotReady, Unavailable
from codexmem.kernel.store import upgrade
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.engine import Engine
from codexmem.kernel.store.schema import metadata
from codexmem.kernel.store.sqlite import engine as sqlite

_log = logging.getLogger(__name__)
_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def sqlite_url(path: Path) -> str:
    """The address of a store file."""
    return f"{_SQLITE}{path}"


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite store, None for a server's."""
    return Path(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else None


def require_writable(folder: Path) -> None:
    """Say at once that a folder, or the place where it would be made, is read-only."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise Unavailable(
            f"{there} cannot be written: it is read-only, at least for this user",
            hint="make it writable, or choose another data directory with --data-dir or CODEXMEM_DATA_DIR",
            details={"reason": "read_only", "path": str(there)},
        )


def open_database(
    url: str, *, pool_size: int = 20, statement_s: int = 30, lock_s: int = 10, replica_url: str = "", replica_s: int = 5
) -> Database:
    """Open the store; a SQLite file is created and upgraded, a PostgreSQL schema must be current already.

    What may be `replica_s` seconds old is read from the standby at `replica_url`, if there is one.
    """
    path = sqlite_path(url)
    engine: Engine
    if path is not None:
        require_writable(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        engine = sqlite.SqliteEngine(path)
    else:
        connect = functools.partial(
            _postgres(url).PostgresEngine, pool_size=pool_size, statement_s=statement_s, lock_s=lock_s,
            program=upgrade.newest(),
        )  # fmt: skip
        engine = server = connect(url)
        if replica_url:
            server.follow(lambda: connect(replica_url), within_s=replica_s)
    try:
        if path is not None:
            upgrade_store(url)
        else:
            _require_accepted(url)
    except sa.exc.DatabaseError as error:
        engine.close()
        raise (engine.failure(error) or error) from error
    except BaseException:
        engine.close()
        raise
    return Database(engine)


def open_reading(url: str, *, pool_size: int = 2) -> Database:
    """Open the store to look at it, also while another process owns it; it must exist and its schema be current.

    A SQLite file is neither created, upgraded nor locked, and a transaction that would write it is refused.
    """
    path = sqlite_path(url)
    if path is None:
        return open_database(url, pool_size=pool_size)
    if not path.is_file():
        raise NotFound(
            f"there is no store at {path}",
            hint="create one with codexmem init; codexmem config get data_dir shows where it is expected",
            details={"reason": "no_store", "path": str(path)},
        )
    engine = sqlite.SqliteReader(path)
    try:
        with engine.reading("") as connection:
            upgrade.require_accepted(connection)
    except sa.exc.DatabaseError as error:
        engine.close()
        require_writable(path.parent)  # SQLite needs to write beside the file in order to read it
        raise Unavailable(f"{path} cannot be read: {error.orig}", hint="for details run codexmem doctor") from error
    except BaseException:
        engine.close()
        raise
    return Database(engine)


def upgrade_store(url: str) -> tuple[str | None, str]:
    """Bring the schema up to date; returns the schema before and after."""
    done = upgrade_telling(url)
    if done.vectors_problem:
        _log.warning("no vectors on this server (%s); search goes by words: %s", done.vectors_problem, done.hint)
    return done.before, done.after


class Upgraded(NamedTuple):
    """What an upgrade found and made."""

    before: str | None
    after: str
    vectors_made: bool = False
    vectors_problem: str = ""
    hint: str = ""


def upgrade_telling(url: str, *, wait_s: float = upgrade.WAIT_S, tell: upgrade.Tell | None = None) -> Upgraded:
    """The same, heard while it works; on PostgreSQL also whether the store has vectors."""
    try:
        with _migrating(url) as engine:
            before, after = upgrade.upgrade(engine, wait_s=wait_s, tell=tell or upgrade.tell_log)
            if sqlite_path(url) is not None:
                return Upgraded(before, after)
            # An extension that the server lacked when the schema was made may have come since.
            from codexmem.kernel.store.postgres import pgvector

            with engine.begin() as connection:
                vectors = pgvector.install(connection)
            # A store that was empty gets its vectors as part of its schema.
            new = vectors.version is not None if before is None else vectors.made
            return Upgraded(before, after, new, vectors.problem, vectors.hint)
    except sa.exc.OperationalError as error:
        if sqlite_path(url) is not None:
            raise
        raise Unavailable("PostgreSQL does not answer", hint="check CODEXMEM_DATABASE_URL") from error


def build_approximate_index(url: str, tenant: str, model: str) -> str | None:
    """Make or renew the index for scopes too large to compare whole; its name, None while there are no vectors.

    PostgreSQL only, with the rights of the tables' owner; writers go on meanwhile.
    """
    from codexmem.kernel.store.postgres import pgvector

    try:
        with _migrating(url) as engine:
            return pgvector.build(engine, tenant, model)
    except sa.exc.OperationalError as error:
        raise Unavailable("PostgreSQL does not answer", hint="check CODEXMEM_DATABASE_URL") from error
    except sa.exc.ProgrammingError as error:
        raise NotReady(
            f"this PostgreSQL login may not make an index: {str(error.orig).partition(chr(10))[0]}",
            hint="use the login that owns the tables, the one that runs codexmem db upgrade",
        ) from error


def _require_accepted(url: str) -> None:
    try:
        with _migrating(url) as plain, plain.connect() as connection:
            upgrade.require_accepted(connection)
    except sa.exc.ProgrammingError as error:
        raise NotReady(
            "this PostgreSQL login may not use the store",
            hint="have its owner run: GRANT codexmem_app, codexmem_member, codexmem_dispatch TO <login>",
        ) from error


def schema_of(url: str) -> str | None:
    """The schema the store has, None for an empty one."""
    with _migrating(url) as engine, engine.connect() as connection:
        return upgrade.current(connection)


def accepted(url: str) -> bool:
    """Whether this program works on the schema that the store has."""
    with _migrating(url) as engine, engine.connect() as connection:
        return upgrade.accepts(upgrade.current(connection), upgrade.oldest_program(connection))


def vector_extension(url: str) -> str | None:
    """The version of pgvector that the store's vectors rest on, None where there are none."""
    from codexmem.kernel.store.postgres import pgvector

    with _migrating(url) as engine, engine.connect() as connection:
        return pgvector.installed(connection)


def supposed_rows(url: str) -> dict[str, int]:
    """How many rows PostgreSQL supposes in each table of the store, from its own statistics; -1: it has none yet."""
    kept = sa.table("pg_class", sa.column("oid"), sa.column("relname"), sa.column("reltuples"))
    ours = sa.select(kept.c.relname, kept.c.reltuples).where(
        kept.c.relname.in_(sorted(metadata.tables)),
        sa.func.pg_table_is_visible(kept.c.oid),
    )
    with _migrating(url) as engine, engine.connect() as connection:
        return {name: int(count) for name, count in connection.execute(ours)}


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
            f"{url.partition(':')[0]!r} is not a supported store",
            hint="CODEXMEM_DATABASE_URL is postgresql://user@host/database, or unset for SQLite",
        )
    try:
        from codexmem.kernel.store.postgres import engine
    except ImportError as missing:
        raise Unavailable("the PostgreSQL driver is not installed", hint=install_command("postgres")) from missing
    return engine
