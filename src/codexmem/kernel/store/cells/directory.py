"""The directory: which clusters there are, and in which of them each tenant lives.

It is an index for operators and for proxies in front of servers. Whether a server may answer is decided by the row in
its own cluster (`places`), so an entry here may be late by a moment and nobody is answered by the wrong cluster.
"""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import class_row

from codexmem.kernel.model.errors import Conflict, NotFound
from codexmem.kernel.store.postgres import connecting


@dataclass(frozen=True, slots=True)
class Cell:
    """One cluster: its name, its database, and where its servers listen."""

    name: str
    store: str
    address: str
    tenants: int = 0


@dataclass(frozen=True, slots=True)
class TenantRoute:
    """Where a tenant lives; a higher version is newer."""

    tenant: str
    cell: str
    version: int


class Directory:
    """The tables of one database, with the rights of its owner."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def add(self, cell: Cell, tenants: list[str]) -> None:
        """Take in a cluster with the tenants that live there."""
        with self._connection.transaction():
            try:
                self._connection.execute(_ADD, [cell.name, cell.store, cell.address])
            except psycopg.errors.UniqueViolation as error:
                raise Conflict(
                    f"there is a cell {cell.name}, or one with this database",
                    hint="codexmem cell ls shows them",
                    details={"reason": "cell_taken", "cell": cell.name},
                ) from error
            for tenant in tenants:
                if not self._connection.execute(_FIRST_ROUTE, [tenant, cell.name]).rowcount:
                    raise Conflict(
                        f"tenant {tenant} lives in another cell already",
                        hint="two tenants cannot have one name; erase one of them, or keep these clusters apart",
                        details={"reason": "tenant_twice", "tenant": tenant},
                    )

    def all(self) -> list[Cell]:
        """Every cluster, with how many tenants the directory knows there."""
        with self._connection.cursor(row_factory=class_row(Cell)) as cursor:
            return cursor.execute(_ALL).fetchall()

    def cell(self, name: str) -> Cell:
        """The cluster of this name."""
        found = next((cell for cell in self.all() if cell.name == name), None)
        if found is None:
            raise NotFound(
                f"there is no cell {name[:80]!r}",
                hint="codexmem cell add makes it known",
                details={"reason": "no_cell", "cell": name[:80]},
            )
        return found

    def route(self, tenant: str) -> TenantRoute | None:
        """Where the tenant lives, as far as is known."""
        with self._connection.cursor(row_factory=class_row(TenantRoute)) as cursor:
            return cursor.execute(_ROUTE, [tenant]).fetchone()

    def routes(self) -> list[TenantRoute]:
        """Of every tenant that is known."""
        with self._connection.cursor(row_factory=class_row(TenantRoute)) as cursor:
            return cursor.execute(_ROUTES).fetchall()

    def put(self, route: TenantRoute) -> None:
        """Let the tenant live there, unless something newer is known."""
        self._connection.execute(_PUT, [route.tenant, route.cell, route.version])


def holds_password(store: str) -> bool:
    """Whether the address of a database tells more than where it is; refused where it cannot be read."""
    return "password" in connecting.parameters(store)


_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_ADD = f"INSERT INTO codexmem_cells.cells (name, store, address, added_ms) VALUES (%s, %s, %s, {_NOW})"  # noqa: S608
_FIRST_ROUTE = f"""
    INSERT INTO codexmem_cells.routes (tenant, cell, version, changed_ms) VALUES (%s, %s, 1, {_NOW})
    ON CONFLICT DO NOTHING
"""  # noqa: S608  our own text
_ALL = """
    SELECT name, store, address, (SELECT count(*) FROM codexmem_cells.routes WHERE cell = name) AS tenants
    FROM codexmem_cells.cells ORDER BY name
"""
_ROUTE = "SELECT tenant, cell, version FROM codexmem_cells.routes WHERE tenant = %s"
_ROUTES = "SELECT tenant, cell, version FROM codexmem_cells.routes ORDER BY tenant"
_PUT = f"""
    INSERT INTO codexmem_cells.routes AS r (tenant, cell, version, changed_ms) VALUES (%s, %s, %s, {_NOW})
    ON CONFLICT (tenant) DO UPDATE SET cell = excluded.cell, version = excluded.version,
        changed_ms = excluded.changed_ms WHERE r.version < excluded.version
"""  # noqa: S608  our own text
