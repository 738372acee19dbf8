"""Clusters that tenants can live in, as their operator names them.

The directory is a codexmem database like any other, usually the first cluster's. Addresses of databases are kept
without a password: whoever moves tenants has it in a password file or in the environment.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.store.cells import directory, places
from codexmem.kernel.store.cells.directory import Cell, Directory, TenantRoute
from codexmem.kernel.store.opening import Upgraded, upgrade_telling

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class CellAdded:
    """A new cluster."""

    cell: Cell
    upgraded: Upgraded


class Cells:
    """The verbs on clusters."""

    def __init__(self, directory_url: str) -> None:
        self._directory_url = directory_url

    def add(self, name: str, store: str, address: str) -> CellAdded:
        """Make the cluster ready and take it in, with the tenants that live there."""
        if not _NAME.fullmatch(name):
            raise InvalidArgument(f"{name[:80]!r} is no name of a cell", hint="use 1 to 63 of a-z, 0-9, _ and -")
        if urlsplit(address).scheme not in {"http", "https"} or not urlsplit(address).hostname:
            raise InvalidArgument(
                f"{address[:80]!r} is no address of a server",
                hint="give what clients have as CODEXMEM_URL, such as https://eu2.example.com",
            )
        if directory.holds_password(store):
            raise InvalidArgument(
                "the address of a cell's database is kept, so it may hold no password",
                hint="put the password into ~/.pgpass or PGPASSWORD, and leave it out here",
                details={"reason": "password_in_address"},
            )
        upgraded = upgrade_telling(store)
        with places.connected(store) as connection:
            tenants = [tenant for tenant, state in places.all_of(connection) if state in {"here", "fenced"}]
        cell = Cell(name, store, address, len(tenants))
        with places.connected(self._directory_url) as connection:
            Directory(connection).add(cell, tenants)
        return CellAdded(cell, upgraded)

    def known(self) -> list[Cell]:
        """Those there are."""
        with places.connected(self._directory_url) as connection:
            return Directory(connection).all()

    def routes(self) -> list[TenantRoute]:
        """Where tenants live; later than the clusters themselves by a moment at most."""
        with places.connected(self._directory_url) as connection:
            return Directory(connection).routes()
