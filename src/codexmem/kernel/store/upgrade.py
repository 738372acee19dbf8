"""Bringing a store's schema to what this program expects.

Forward only, one migrator at a time, each step in a transaction of its own: a step that is interrupted leaves the store
at the step before it. A store written by a newer program is refused, not guessed at.

On PostgreSQL the store remembers the oldest program that may use it, by the schema which that program knows. A step
that only adds names it (`OLDEST_PROGRAM`), and such programs serve before it, meanwhile and afterwards. Without that a
step is for programs that know it: it waits until no older one is connected. What else holds a table (a dump, somebody's
open transaction) is waited for in short tries: a statement that waits for a table's lock makes everybody behind it wait
too.
"""

import functools
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import NotReady, Unavailable

WAIT_S = 60.0  # for servers and workers to end
LOCK_S = 3
LOCK_TRIES = 20
_PAUSE_S = 2.0  # between two tries, in which those that waited behind us go on
Tell = Callable[[str, Mapping[str, object]], object]  # what happens now, and the figures to it

_log = logging.getLogger(__name__)


def tell_log(what: str, facts: Mapping[str, object]) -> None:
    """Tell the log, where no person watches."""
    _log.info("upgrade, %s: %s", what, ", ".join(f"{name} {value}" for name, value in facts.items()))


_ADVISORY_LOCK = 0x636D656D  # one migrator per PostgreSQL database


def newest() -> str:
    """The schema this program expects."""
    head = _scripts().get_current_head()
    assert head is not None
    return head


def current(connection: sa.Connection) -> str | None:
    """The schema the store has, None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def accepts(have: str | None, oldest: str | None) -> bool:
    """Whether this program works on that schema, of a store that remembers this oldest program."""
    if oldest is not None and oldest > newest():
        return False
    return have == newest() or (have is not None and have > newest() and oldest is not None)


def oldest_program(connection: sa.Connection) -> str | None:
    """The schema that a program has to know in order to use the store; None where that was never said."""
    if connection.dialect.name != "postgresql":
        return None
    said = connection.execute(_REMEMBERED).scalar_one_or_none() or ""
    return said.removeprefix(_OLDEST) if said.startswith(_OLDEST) else None


def require_accepted(connection: sa.Connection) -> None:
    """Refuse to run on a schema that is not for this program."""
    have, oldest = current(connection), oldest_program(connection)
    if accepts(have, oldest):
        return
    if have == newest():
        raise NotReady(f"the store is being changed for programs of schema {oldest} or newer", hint="upgrade codexmem")
    _refuse_future(have)
    raise NotReady(
        f"the store's schema is {have or 'empty'}, this program needs {newest()}", hint="run: codexmem db upgrade"
    )


def upgrade(engine: sa.Engine, *, wait_s: float = WAIT_S, tell: Tell = tell_log) -> tuple[str | None, str]:
    """Run the missing steps; returns the schema before and after. `tell` hears how far it is.

    A store that a newer program has changed, and that this one still works with, stays as it is.
    """
    with engine.connect() as connection, _one_migrator(connection):
        before = current(connection)
        if before == (wanted := newest()):
            return wanted, wanted
        oldest = oldest_program(connection)
        if before is not None and before > wanted and accepts(before, oldest):
            return before, before
        _refuse_future(before)
        steps = _missing(before)
        now = oldest or before or ""
        then = max([now, *(_oldest_after(step) for step in steps)])
        if steps and before is not None and connection.dialect.name == "postgresql":
            if then > now:
                _wait_for_older(connection, then, wait_s, tell)
            _remember(connection, then)  # before the first step, so that no older program begins meanwhile
        for number, step in enumerate(steps, 1):
            if before is not None:
                tell("step", {"schema": step.revision, "number": number, "total": len(steps)})
            _run(connection, step.revision, tell)
        if steps and before is None and connection.dialect.name == "postgresql":
            _remember(connection, then)
        return before, wanted


def _oldest_after(step: Script) -> str:
    return str(getattr(step.module, "OLDEST_PROGRAM", step.revision))


def _remember(connection: sa.Connection, oldest: str) -> None:
    # A comment, because every login may read it, and because programs of before ask for nothing else.
    connection.exec_driver_sql(f"COMMENT ON TABLE alembic_version IS '{_OLDEST}{oldest}'")
    connection.commit()


def _missing(have: str | None) -> list[Script]:
    return list(reversed([each for each in _scripts().walk_revisions() if have is None or each.revision > have]))


def _run(connection: sa.Connection, revision: str, tell: Tell) -> None:
    config = _config()
    config.attributes["connection"] = connection
    for tried in range(1, LOCK_TRIES + 1):
        try:
            command.upgrade(config, revision)
            connection.commit()
            return
        except sa.exc.OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
            connection.rollback()
            holders = ", ".join(_holders(connection)) or "a transaction that has ended by now"
            tell("locked", {"schema": revision, "holders": holders, "number": tried, "total": LOCK_TRIES})
            if tried == LOCK_TRIES:
                raise Unavailable(
                    f"schema {revision} could not be applied: a table is in use by {holders}",
                    hint="wait for it to finish (a backup, an open transaction), then run codexmem db upgrade again; "
                    "this step changed nothing",
                    details={"reason": "table_in_use", "schema": revision, "holders": holders},
                ) from error
            time.sleep(_PAUSE_S)


def _holders(connection: sa.Connection) -> list[str]:
    """The oldest transactions of others on this database, for a person to recognise."""
    rows = connection.execute(_OLDEST_TRANSACTIONS).all()
    connection.commit()
    return [f"{row.name or 'a session'} (pid {row.pid}, for {row.seconds} s)" for row in rows]


def _wait_for_older(connection: sa.Connection, oldest: str, wait_s: float, tell: Tell) -> None:
    from codexmem.kernel.store.postgres import sessions

    deadline, told = ids.monotonic() + wait_s, False
    while (others := sessions.count(connection, below=oldest)) and ids.monotonic() < deadline:
        connection.commit()
        if not told:
            tell("in_use", {"count": others, "seconds": round(wait_s)})
            told = True
        time.sleep(min(0.5, wait_s / 10))
    sessions.require_none(connection, below=oldest)
    connection.commit()


def _refuse_future(have: str | None) -> None:
    known = {script.revision for script in _scripts().walk_revisions()}
    if have is not None and have not in known:
        raise NotReady(f"the store was written by a newer codexmem (schema {have})", hint="upgrade codexmem")


@contextmanager
def _one_migrator(connection: sa.Connection) -> Iterator[None]:
    # On SQLite the owner lock already excludes a second process.
    if connection.dialect.name != "postgresql":
        yield
        return
    _require_session(connection)
    # In short tries: who waits inside a statement would hold up an index that is built beside writers.
    while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(_ADVISORY_LOCK))).scalar():
        connection.commit()
        time.sleep(0.1)
    connection.execute(sa.text(f"SET lock_timeout = '{LOCK_S}s'"))
    connection.commit()
    try:
        yield
    finally:
        connection.rollback()
        connection.execute(sa.select(sa.func.pg_advisory_unlock(_ADVISORY_LOCK)))
        connection.commit()


def _require_session(connection: sa.Connection) -> None:
    """Refuse a pooler: it may hand our lock, and the session's settings, to somebody else after each transaction."""
    from codexmem.kernel.store.postgres import connecting

    session = connection.connection.driver_connection
    assert session is not None
    pooled = connecting.pooled(session)
    connection.rollback()
    if pooled:
        raise NotReady(
            "the schema cannot be changed through a connection pooler",
            hint="set CODEXMEM_DATABASE_DIRECT_URL to the address of PostgreSQL itself, or give it as --database-url",
            details={"reason": "pooler"},
        )


_OLDEST = "codexmem: oldest program "
_REMEMBERED = sa.text("SELECT obj_description(to_regclass('alembic_version'), 'pg_class')")
_LOCK_NOT_AVAILABLE = "55P03"
_OLDEST_TRANSACTIONS = sa.text(
    "SELECT pid, application_name AS name, extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds"
    " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND xact_start < clock_timestamp() - interval '1 second' ORDER BY xact_start LIMIT 3"
)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


@functools.cache
def _scripts() -> ScriptDirectory:
    """The steps, read once: to load them costs more than to open a store that has them all."""
    return ScriptDirectory.from_config(_config())
