"""Bringing a store's schema to what this program expects.

Forward only, one migrator at a time, each step in a transaction of its own: a step that is interrupted leaves the store
at the step before it. A store written by a newer program is refused, not guessed at.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from codexmem.domain.errors import NotReady

_ADVISORY_LOCK = 0x636D656D  # one migrator per PostgreSQL database


def newest() -> str:
    """The schema this program expects."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def current(connection: sa.Connection) -> str | None:
    """The schema the store has, None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def require_newest(connection: sa.Connection) -> None:
    """Refuse to run on a schema that is not ours."""
    have = current(connection)
    if have == newest():
        return
    _refuse_future(have)
    raise NotReady(
        f"the store's schema is {have or 'empty'}, this program needs {newest()}", hint="run: codexmem db upgrade"
    )


def upgrade(engine: sa.Engine) -> tuple[str | None, str]:
    """Run the missing steps; returns the schema before and after."""
    with engine.connect() as connection, _one_migrator(connection):
        before = current(connection)
        _refuse_future(before)
        if before != newest():
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
        return before, newest()


def _refuse_future(have: str | None) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if have is not None and have not in known:
        raise NotReady(f"the store was written by a newer codexmem (schema {have})", hint="upgrade codexmem")


@contextmanager
def _one_migrator(connection: sa.Connection) -> Iterator[None]:
    # On SQLite the owner lock already excludes a second process.
    if connection.dialect.name != "postgresql":
        yield
        return
    connection.execute(sa.select(sa.func.pg_advisory_lock(_ADVISORY_LOCK)))
    connection.commit()
    try:
        yield
    finally:
        connection.rollback()
        connection.execute(sa.select(sa.func.pg_advisory_unlock(_ADVISORY_LOCK)))
        connection.commit()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config
