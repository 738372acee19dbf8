"""Copying and replacing a PostgreSQL store with the server's own programs.

A copy is a custom-format dump of our tables from one exported snapshot. Replacing drops our tables and loads the dump
in one transaction of psql, so that every other session sees all of the old rows or all of the new ones. Both need a
login that may read across tenants: with row-level security forced, anybody else's dump would silently be empty.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from codexmem.kernel.model.errors import Unauthorized, Unavailable
from codexmem.kernel.store import archive, upgrade
from codexmem.kernel.store.archive import Copied, Damaged, Progress, Step
from codexmem.kernel.store.cells import schema as cells
from codexmem.kernel.store.postgres import routines, sessions
from codexmem.kernel.store.postgres.engine import migration_engine
from codexmem.kernel.store.schema import metadata

_TABLES = (*sorted(metadata.tables), "alembic_version")
_HEADER = 8192  # where a dump's own settings stand


def copy(url: str, target: Path, progress: Progress, bin_dir: Path | None) -> Copied:
    """Dump one snapshot of our tables."""
    program = _program("pg_dump", bin_dir)
    with _connected(url) as connection:
        connection.execution_options(isolation_level="REPEATABLE READ")
        _require_every_row(connection)
        have = set(sa.inspect(connection).get_table_names())
        tables = [name for name in _TABLES if name in have]
        schema = upgrade.current(connection)
        counts = {
            name: connection.execute(sa.select(sa.func.count()).select_from(sa.table(name))).scalar_one()
            for name in tables
            if name in metadata.tables
        }
        size = connection.execute(sa.text("SELECT pg_database_size(current_database())")).scalar_one()
        archive.require_space(target.parent, size // 2)
        version = str(connection.execute(sa.text("SHOW server_version")).scalar_one())
        snapshot = connection.execute(sa.text("SELECT pg_export_snapshot()")).scalar_one()
        if tables:
            progress(0, 1)
            wanted = [f"--table=public.{name}" for name in tables]
            with _address(url) as address:
                told = [f"--file={target}", f"--snapshot={snapshot}", *wanted, f"--dbname={address}"]
                _run([program, "--format=custom", *told])
            progress(1, 1)
    return Copied(version, schema if tables else None, counts)


def check(file: Path, bin_dir: Path | None) -> None:
    """Whether pg_restore can read the dump's table of contents."""
    try:
        _run([_program("pg_restore", bin_dir), "--list", str(file)])
    except Unavailable as error:
        raise Damaged(f"{file.name} cannot be read: {error.message}", details={"reason": "integrity"}) from error


def replace(url: str, source: Path, *, bin_dir: Path | None, keep: Callable[[], object], step: Step) -> None:
    """Load a verified dump in place of our tables, in one transaction.

    Refuses while servers or workers are connected. Roles, functions and extensions are not in a dump: those missing
    are made.
    """
    psql, pg_restore = _program("psql", bin_dir), _program("pg_restore", bin_dir)
    with _connected(url) as connection:
        _require_every_row(connection)
        sessions.require_none(connection)
        owner = connection.execute(_OWNER).scalar()
    step("locked")
    keep()
    step("kept")
    with tempfile.TemporaryDirectory(prefix="codexmem-restore-") as folder, _address(url) as address:
        # Through a file and not a pipe: a dump that breaks off half-way must not look like one that has ended.
        script = Path(folder) / "store.sql"
        _run([pg_restore, "--no-owner", f"--file={script}", str(source)])
        _soften(script)
        step("prepared")
        drop = f"DROP TABLE IF EXISTS {', '.join(f'public.{name}' for name in _TABLES)} CASCADE"
        # Positions are this cluster's transaction numbers; the dump's may be another's, and its events are all decided.
        rebase = "UPDATE public.events SET position = 0"
        # Who restores need not be who migrates: the tables go back to the login that had them.
        tables = (*(f"public.{name}" for name in _TABLES), *cells.TABLES)
        give = "; ".join(f"ALTER TABLE {name} OWNER TO {owner}" for name in tables) if owner else "SELECT 1"
        before = (*routines.roles(), _EXTENSION, *cells.STATEMENTS, drop)
        _run([psql, "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null",
              *(f"--command={each}" for each in before), f"--file={script}",
              f"--command={rebase}", f"--command={give}", *(f"--command={each}" for each in routines.functions()),
              f"--dbname={address}"])  # fmt: skip
    step("switched")


# The type of vectors, where the server has it: a dump of tables has no extensions either.
_EXTENSION = """
    DO $$ BEGIN
        IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
            CREATE EXTENSION IF NOT EXISTS vector;
        END IF;
    END $$
"""
_OWNER = sa.text("SELECT quote_ident(tableowner) FROM pg_tables WHERE schemaname = 'public' AND tablename = 'memories'")


def _soften(script: Path) -> None:
    """Blank a session setting that newer dump programs emit and older servers do not know."""
    with script.open("r+b") as stream:
        header = stream.read(_HEADER)
        place = header.find(b"SET transaction_timeout")
        if place >= 0:
            stream.seek(place)
            stream.write(b"-- ")


def _require_every_row(connection: sa.Connection) -> None:
    allowed = connection.execute(
        sa.text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    ).scalar()
    if not allowed:
        raise Unauthorized(
            "this PostgreSQL login may not read the rows of every tenant",
            hint="give --database-url with a login that is a superuser or has BYPASSRLS",
            details={"reason": "needs_bypassrls"},
        )


@contextmanager
def _connected(url: str) -> Iterator[sa.Connection]:
    engine = migration_engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    except sa.exc.OperationalError as error:
        raise Unavailable("PostgreSQL does not answer", hint="check CODEXMEM_DATABASE_URL") from error
    finally:
        engine.dispose()


@contextmanager
def _address(url: str) -> Iterator[str]:
    """The address for libpq's programs, its password in a private file: other users can read a command line."""
    given = conninfo_to_dict(url)
    password = given.pop("password", None)
    with tempfile.TemporaryDirectory(prefix="codexmem-pass-") as folder:
        if password is not None:
            secret = str(password).replace("\\", "\\\\").replace(":", "\\:")
            passfile = Path(folder) / "pgpass"
            passfile.touch(mode=0o600)
            passfile.write_text(f"*:*:*:*:{secret}\n", encoding="utf-8")
            given["passfile"] = str(passfile)
        yield make_conninfo("", **given)


def _program(name: str, bin_dir: Path | None) -> str:
    found = shutil.which(name, path=str(bin_dir) if bin_dir is not None else None)
    if found is None:
        raise Unavailable(
            f"{name} was not found" + (f" in {bin_dir}" if bin_dir is not None else " on PATH"),
            hint="install PostgreSQL's client programs, or set CODEXMEM_PG_BIN_DIR",
            details={"reason": "no_program", "program": name},
        )
    return found


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        cause = next((line for line in said if "error:" in line.lower()), said[-1] if said else "no word")
        raise Unavailable(
            f"{Path(command[0]).name} failed with {done.returncode}: {cause[:500]}",
            hint="its version must not be older than the server's; CODEXMEM_PG_BIN_DIR names another",
            details={"reason": "program_failed", "program": Path(command[0]).name},
        )
