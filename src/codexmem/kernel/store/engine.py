"""What an engine must do beyond plain SQL: begin, commit, allocate numbers and order concurrent writers.

Everything else is written once, in SQLAlchemy Core, for both engines.
"""

from contextlib import AbstractContextManager
from typing import Any, Protocol

import sqlalchemy as sa

from codexmem.kernel.model.tenant import ProjectScope
from codexmem.kernel.store.notify import Notifier


class Replica(Protocol):
    """A server that repeats what another one does, a little later."""

    def reading(self, tenant: str, scope: ProjectScope | None) -> AbstractContextManager[sa.Connection] | None:
        """A snapshot confined to the tenant; None while it is too old for it."""
        ...

    def behind_s(self) -> float | None:
        """How old it may be; None where that is not known."""
        ...


class Engine(Protocol):
    """One of SQLite and PostgreSQL."""

    name: str
    version: str  # of the server or library, as it reports itself
    placeholder: str  # of a value in the driver's own SQL
    rows_per_insert: int  # how many rows of one table go into a statement
    ambient_tenant: str | None  # whom code acts for that has not said; None where it must say

    @property
    def replica(self) -> Replica | None:
        """Where what may be some seconds old is read."""
        ...

    def writing(self, tenant: str, scope: ProjectScope | None = None) -> AbstractContextManager[sa.Connection]:
        """A durable transaction confined to the tenant: when the block ends, its effects survive a power cut.

        With a scope it is confined to projects besides; an engine that cannot do that must refuse.
        """
        ...

    def reading(self, tenant: str, scope: ProjectScope | None = None) -> AbstractContextManager[sa.Connection]:
        """A consistent snapshot confined to the tenant; writing through it fails."""
        ...

    def dispatching(self) -> AbstractContextManager[sa.Connection]:
        """A durable transaction that sees jobs and keys of all tenants, and nothing else."""
        ...

    def number(self, connection: sa.Connection, tenant: str, name: str) -> int | None:
        """The next number of a counter, or None where the column's default draws it."""
        ...

    def lock_lane(self, connection: sa.Connection, tenant: str, lane: str) -> None:
        """Hold the lane until the transaction ends, so that its order of commits is its order of numbers."""
        ...

    def require_home(self, connection: sa.Connection, *, tenant: str | None = None, key_hash: str = "") -> None:
        """While dispatching: refuse a tenant that lives in another cluster, or the key of one that went there."""
        ...

    def insert(self, table: sa.Table) -> Any:
        """An INSERT that knows `on_conflict_do_nothing` and `on_conflict_do_update`."""
        ...

    def horizon(self, connection: sa.Connection) -> int:
        """Every event at a position below this is committed or never will be."""
        ...

    def skip_locked(self, statement: Any) -> Any:
        """The SELECT, passing over rows that another transaction is changing."""
        ...

    def scour(self) -> None:
        """After an erasure: leave no readable copy outside the tables, as far as the engine can."""
        ...

    def failure(self, error: Exception) -> Exception | None:
        """The domain error that this driver error means, if it means one."""
        ...

    def trouble(self) -> str | None:
        """Why requests would fail, as far as it is known without asking the store; for anyone to read."""
        ...

    def watch(self) -> None:
        """Look after the store in the background until it is closed, where that is for us to do."""
        ...

    def make_bell(self) -> Notifier:
        """A new way to wake readers and workers of this store; closed by whoever asked for it."""
        ...

    def close(self) -> None:
        """Give back every connection; the engine is not used again."""
        ...
