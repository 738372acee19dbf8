"""Who else is connected to the store, by the names that our sessions give themselves."""

import sqlalchemy as sa

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.store.postgres.connecting import APPLICATION, BELL
from codexmem.kernel.store.postgres.engine import MIGRATOR


def count(connection: sa.Connection, *, below: str = "") -> int:
    """Sessions of servers, workers and commands, without those that change or copy the schema.

    With `below`, only those of programs that do not know this schema. A program's bell says nothing then: it has other
    sessions beside it.
    """
    found = connection.execute(_others, {"name": APPLICATION, "migrator": MIGRATOR}).scalars()
    if not below:
        return len(found.all())
    return sum(not name.endswith(BELL) and name.removeprefix(APPLICATION).strip() < below for name in found)


def require_none(connection: sa.Connection, *, below: str = "") -> None:
    """Refuse while anybody uses the store, or anybody whose program is too old."""
    others = count(connection, below=below)
    if others:
        raise Unavailable(
            f"the store is in use: {others} sessions of codexmem are connected",
            hint="stop every server and worker, then try again; nothing was changed",
            details={"reason": "store_in_use", "path": str(connection.execute(_database).scalar_one())},
        )


_others = sa.text(
    "SELECT application_name FROM pg_stat_activity WHERE datname = current_database()"
    " AND starts_with(application_name, :name) AND application_name <> :migrator AND pid <> pg_backend_pid()"
)
_database = sa.text("SELECT current_database()")
