"""Who else is connected to the store, by the names that our sessions give themselves."""

import sqlalchemy as sa

from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.store.postgres.connecting import APPLICATION
from codexmem.kernel.store.postgres.engine import MIGRATOR


def count(connection: sa.Connection) -> int:
    """Sessions of servers, workers and commands, without those that change or copy the schema."""
    return int(connection.execute(_others, {"name": APPLICATION, "migrator": MIGRATOR}).scalar_one())


def require_none(connection: sa.Connection) -> None:
    """Refuse while anybody uses the store."""
    others = count(connection)
    if others:
        raise Unavailable(
            f"the store is in use: {others} sessions of codexmem are connected",
            hint="stop every server and worker, then try again; nothing was changed",
            details={"reason": "store_in_use", "path": str(connection.execute(_database).scalar_one())},
        )


_others = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND starts_with(application_name, :name) AND application_name <> :migrator AND pid <> pg_backend_pid()"
)
_database = sa.text("SELECT current_database()")
