"""Stores with a tenant that has a row in every table there is, for tests about whole tenants."""

from __future__ import annotations

from typing import Any

import psycopg
import sqlalchemy as sa

from codexmem.kernel.store import upgrade
from codexmem.kernel.store.cells import tenant_rows
from codexmem.kernel.store.cells.tenant_rows import Sum
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.opening import open_database
from codexmem.kernel.store.schema import metadata
from tests._support import services
from tests._support.clock import StepClock
from tests.store import written

# What leads with a tenant and is not its data: where it lives, and whose keys went with it.
ROUTING = {"places", "moved_keys", "routes"}


def fill(url: str, tenant: str) -> None:
    """Rows of a real program, their words, and a row in each table that has none by then."""
    written.make(url, upgrade.newest(), tenant)
    db = open_database(url)
    with acting_as(tenant):
        services.indexer(db, StepClock()).catch_up(lambda: None)
    db.close()
    engine = written.migrating(url)
    with engine.begin() as connection:
        for table in metadata.sorted_tables:
            rows = sa.select(sa.func.count()).where(table.c.tenant == tenant)
            if not connection.execute(rows).scalar():
                connection.execute(sa.insert(table), _some_row(connection, table, tenant))
    engine.dispose()


def _some_row(connection: sa.Connection, table: sa.Table, tenant: str) -> dict[str, Any]:
    """A row with a value in every column; what it refers to is there."""
    referred: dict[str, Any] = {}
    for constraint in table.foreign_key_constraints:
        above = constraint.referred_table
        wanted = [element.column for element in constraint.elements]
        found = connection.execute(sa.select(*wanted).where(above.c.tenant == tenant).limit(1)).one()
        referred |= dict(zip(constraint.column_keys, found, strict=True))
    row: dict[str, Any] = {}
    for column in table.columns:
        if column.name in referred:
            row[column.name] = referred[column.name]
        elif isinstance(column.type, sa.Boolean):
            row[column.name] = True
        elif isinstance(column.type, (sa.Integer, sa.Float)):
            row[column.name] = 1
        elif isinstance(column.type, sa.LargeBinary):
            row[column.name] = b"\x00\x00\x80\x3f\x00\x00\x00\x3f"
        else:
            row[column.name] = "a\tstrange\\value\n\\.\n端口"
    return row | {"tenant": tenant}


def held(url: str, tenant: str) -> dict[str, Sum]:
    """What every table has of the tenant, as counts and hashes."""
    with psycopg.connect(url, autocommit=True) as connection:
        return tenant_rows.sums(connection, tenant)


def tables_with_a_tenant(url: str) -> set[str]:
    """As the database itself has them, whatever the schema declares."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT table_name FROM information_schema.columns WHERE column_name = 'tenant'"
            " AND table_schema NOT IN ('pg_catalog', 'information_schema')"
        )
        return {row[0] for row in rows} - ROUTING
