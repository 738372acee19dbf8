"""PostgreSQL as an engine.

Each transaction drops to a role that owns no table and can bypass nothing, and names its tenant for that transaction
only: a pooled connection carries neither over to the next request. One login may do all of it, because it is a member
of the two roles that the first migration creates.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from codexmem.domain.errors import Conflict, StorageFull, Unavailable
from codexmem.domain.tenant import tenant_name
from codexmem.store.postgres.bell import PostgresBell
from codexmem.store.postgres.roles import APP_ROLE, DISPATCH_ROLE

POOL_SIZE = 20


def driver_url(url: str) -> sa.URL:
    """The user's `postgresql://…` for the driver we use."""
    return sa.make_url(url).set(drivername="postgresql+psycopg")


def plain_engine(url: str, *, pool_size: int = POOL_SIZE) -> sa.Engine:
    """A SQLAlchemy engine whose transactions are begun by hand."""
    return sa.create_engine(
        driver_url(url),
        isolation_level="AUTOCOMMIT",
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=10,
        pool_reset_on_return=None,  # every transaction is ended below; a broken one is thrown away
        pool_pre_ping=False,
        connect_args={"connect_timeout": 5, "application_name": "codexmem"},
    )


def migration_engine(url: str) -> sa.Engine:
    """An engine that begins transactions by itself, as Alembic expects, under the login's own rights."""
    return sa.create_engine(driver_url(url), poolclass=sa.NullPool, connect_args={"connect_timeout": 5})


class PostgresEngine:
    """A pool of connections to one cluster."""

    name = "postgresql"
    placeholder = "%s"
    ambient_tenant: str | None = None  # a team's server never guesses whom it acts for

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE) -> None:
        self.url = url
        self._pool_size = pool_size
        self._engine = plain_engine(url, pool_size=pool_size)
        try:
            with self._engine.connect() as connection:
                self.version = str(connection.exec_driver_sql("SHOW server_version").scalar_one())
        except sa.exc.OperationalError as error:
            self._engine.dispose()
            raise Unavailable(
                f"PostgreSQL does not answer at {driver_url(url).render_as_string(hide_password=True)}",
                hint="check CODEXMEM_DATABASE_URL and that the server runs",
            ) from error

    def writing(self, tenant: str) -> Any:
        """A transaction confined to the tenant by row-level security."""
        # One round trip. The literal is safe: a tenant name has no character that could end it.
        name = tenant_name(tenant)
        return self._transaction(f"BEGIN; SET LOCAL ROLE {APP_ROLE}; SET LOCAL codexmem.tenant = '{name}'")

    def reading(self, tenant: str) -> Any:
        """A snapshot confined to the tenant."""
        name = tenant_name(tenant)
        return self._transaction(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            f"SET LOCAL ROLE {APP_ROLE}; SET LOCAL codexmem.tenant = '{name}'"
        )

    def dispatching(self) -> Any:
        """A transaction of the role that hands out jobs and looks up keys."""
        return self._transaction(f"BEGIN; SET LOCAL ROLE {DISPATCH_ROLE}")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        with self._connected(begin) as connection:
            session = connection.connection.driver_connection
            assert isinstance(session, psycopg.Connection)
            try:
                yield connection
                # After a failed statement whose error was swallowed, PostgreSQL answers COMMIT with ROLLBACK, no error.
                if session.execute("COMMIT").statusmessage != "COMMIT":
                    raise RuntimeError("a statement failed inside the transaction, so nothing was committed")
            except BaseException:
                # A connection that cannot roll back is in an unknown state and must not be pooled again.
                try:
                    session.execute("ROLLBACK")
                except psycopg.Error:
                    connection.invalidate()
                raise

    @contextmanager
    def _connected(self, begin: str) -> Iterator[sa.Connection]:
        connection = self._engine.connect()
        try:
            for _ in range(self._pool_size):
                try:
                    connection.connection.driver_connection.execute(begin)  # type: ignore[union-attr]
                    break
                except psycopg.OperationalError:
                    # The server went away while this connection lay in the pool, and the others may be as stale.
                    # Nothing has been sent in this transaction, so starting it again repeats no effect.
                    with suppress(Exception):
                        connection.invalidate()
                        connection.close()
                    connection = self._engine.connect()
            else:
                connection.connection.driver_connection.execute(begin)  # type: ignore[union-attr]
            yield connection
        finally:
            connection.close()

    def number(self, connection: sa.Connection, tenant: str, name: str) -> int | None:
        """Drawn from the column's sequence: a counter row would make writers of one tenant wait for each other."""
        return None

    def lock_lane(self, connection: sa.Connection, tenant: str, lane: str) -> None:
        """An advisory lock until the transaction ends."""
        connection.execute(_lock_lane, {"lane": f"{tenant}/{lane}"})

    def insert(self, table: sa.Table) -> postgresql.Insert:
        """PostgreSQL's INSERT."""
        return postgresql.insert(table)

    def horizon(self, connection: sa.Connection) -> int:
        """The oldest transaction still undecided."""
        return int(connection.execute(_horizon).scalar_one())

    def skip_locked(self, statement: Any) -> Any:
        """Other claimers' rows are theirs."""
        return statement.with_for_update(skip_locked=True)

    def scour(self) -> None:
        """Nothing to do here: the server's own vacuum reclaims dead rows, and only its operator can hurry it."""

    def failure(self, error: Exception) -> Exception | None:
        """What a driver error means to a caller."""
        cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        if isinstance(cause, psycopg.errors.UniqueViolation):
            return Conflict("something with the same name or id is already there", hint="read it, or choose another")
        if isinstance(cause, psycopg.errors.ForeignKeyViolation):
            return Conflict("what this refers to was removed at the same moment", hint="read it again")
        if isinstance(cause, psycopg.errors.DiskFull):
            return StorageFull("the database server's disk is full", hint="free some space there and try again")
        if isinstance(cause, psycopg.OperationalError) or isinstance(error, sa.exc.TimeoutError):
            return Unavailable("PostgreSQL does not answer just now", hint="try again; codexmem doctor says more")
        return None

    def trouble(self) -> str | None:
        """What is wrong with a server is learned by asking it."""
        return None

    def watch(self) -> None:
        """A server looks after its own files."""

    def make_bell(self) -> PostgresBell:
        """Heard in every process that uses this database."""
        return PostgresBell(self.url)

    def close(self) -> None:
        """Close the pool."""
        self._engine.dispose()


_lock_lane = sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(sa.bindparam("lane"), 0)))
_horizon = sa.select(sa.cast(sa.cast(sa.func.pg_snapshot_xmin(sa.func.pg_current_snapshot()), sa.Text), sa.BigInteger))
