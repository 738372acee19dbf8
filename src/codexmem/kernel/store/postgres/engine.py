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

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, StorageFull, Unavailable
from codexmem.kernel.model.tenant import tenant_name
from codexmem.kernel.store.postgres import connecting
from codexmem.kernel.store.postgres.notify import PostgresNotifier
from codexmem.kernel.store.postgres.roles import APP_ROLE, DISPATCH_ROLE

_DRIVER = "postgresql+psycopg://"
MIGRATOR = "codexmem upgrade"  # what a session calls itself that changes or copies the schema
POOL_SIZE = 20
POOL_WAIT_S = 5
STATEMENT_S = 30
LOCK_S = 10


def plain_engine(url: str, *, pool_size: int = POOL_SIZE, prepare: bool = True) -> sa.Engine:
    """A SQLAlchemy engine whose transactions are begun by hand."""
    # The address goes to the driver as it is: SQLAlchemy cannot read one with several hosts.
    engine = sa.create_engine(
        _DRIVER,
        isolation_level="AUTOCOMMIT",
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_WAIT_S,
        pool_reset_on_return=None,  # every transaction is ended below; a broken one is thrown away
        pool_pre_ping=False,
        connect_args={**connecting.parameters(url), **({} if prepare else {"prepare_threshold": None})},
    )
    sa.event.listen(engine, "do_connect", lambda *call: connecting.ServerConnection.connect(*call[2], **call[3]))
    return engine


def migration_engine(url: str) -> sa.Engine:
    """An engine that begins transactions by itself, as Alembic expects, under the login's own rights.

    What runs here may take hours (an index, a dump), so no statement has a limit; a server that stops answering is
    noticed all the same.
    """
    options = {**connecting.parameters(url), "application_name": MIGRATOR, "prepare_threshold": None}
    engine = sa.create_engine(_DRIVER, poolclass=sa.NullPool, connect_args=options)
    sa.event.listen(engine, "do_connect", lambda *call: connecting.ServerConnection.connect(*call[2], **call[3]))
    return engine


class PostgresEngine:
    """A pool of connections to one cluster."""

    name = "postgresql"
    placeholder = "%s"
    ambient_tenant: str | None = None  # a team's server never guesses whom it acts for

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE, statement_s: int = STATEMENT_S,
                 lock_s: int = LOCK_S) -> None:  # fmt: skip
        self.url = url
        self._pool_size = pool_size
        # LOCAL like the role: through a pooler, nothing may outlive the transaction.
        self._limits = f"SET LOCAL statement_timeout = '{statement_s}s'; SET LOCAL lock_timeout = '{lock_s}s'"
        try:
            with connecting.connect(url) as connection:
                version = connection.info.parameter_status("server_version")
                self.pooled = connecting.pooled(connection)
        except psycopg.OperationalError as error:
            raise Unavailable(
                f"PostgreSQL does not answer at {connecting.place(url)}",
                hint="check CODEXMEM_DATABASE_URL and that the server is running",
            ) from error
        self.version = str(version)
        self._engine = plain_engine(url, pool_size=pool_size, prepare=not self.pooled)
        self._trusted_since = ids.monotonic()  # older connections may lead to a server that is primary no more

    def writing(self, tenant: str) -> Any:
        """A transaction confined to the tenant by row-level security."""
        # One round trip. The literal is safe: a tenant name has no character that could end it.
        name = tenant_name(tenant)
        return self._transaction(
            f"BEGIN; SET LOCAL ROLE {APP_ROLE}; SET LOCAL codexmem.tenant = '{name}'; {self._limits}"
        )

    def reading(self, tenant: str) -> Any:
        """A snapshot confined to the tenant."""
        name = tenant_name(tenant)
        return self._transaction(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            f"SET LOCAL ROLE {APP_ROLE}; SET LOCAL codexmem.tenant = '{name}'; {self._limits}"
        )

    def dispatching(self) -> Any:
        """A transaction of the role that hands out jobs and looks up keys."""
        return self._transaction(f"BEGIN; SET LOCAL ROLE {DISPATCH_ROLE}; {self._limits}")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        with self._connected(begin) as connection:
            session = connection.connection.driver_connection
            assert isinstance(session, connecting.ServerConnection)
            try:
                yield connection
                # After a failed statement whose error was swallowed, PostgreSQL answers COMMIT with ROLLBACK, no error.
                if session.execute("COMMIT").statusmessage != "COMMIT":
                    raise RuntimeError("a statement failed inside the transaction, so nothing was committed")
            except BaseException as error:
                # A connection that cannot roll back is in an unknown state and must not be pooled again.
                try:
                    session.execute("ROLLBACK")
                except psycopg.Error:
                    connection.invalidate()
                self._distrust(session, error)
                raise

    @contextmanager
    def _connected(self, begin: str) -> Iterator[sa.Connection]:
        connection = self._engine.connect()
        try:
            for _ in range(self._pool_size):
                session = connection.connection.driver_connection
                assert isinstance(session, connecting.ServerConnection)
                try:
                    if session.since >= self._trusted_since:
                        session.execute(begin)
                        break
                except connecting.Silent as error:
                    connection.invalidate()
                    self._distrust(session, error)
                    raise
                except psycopg.OperationalError:
                    # The server went away while this connection lay in the pool, and the others may be as stale.
                    # Nothing has been sent in this transaction, so starting it again repeats no effect.
                    pass
                with suppress(Exception):
                    connection.invalidate()
                    connection.close()
                connection = self._engine.connect()
            else:
                connection.connection.driver_connection.execute(begin)  # type: ignore[union-attr]
            yield connection
        finally:
            connection.close()

    def _distrust(self, session: connecting.ServerConnection, error: BaseException) -> None:
        """After an error that says that the primary is elsewhere, use no connection again that is as old as this."""
        if isinstance(_cause(error), _ELSEWHERE) and session.since >= self._trusted_since:
            self._trusted_since = ids.monotonic()

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
        cause = _cause(error)
        if isinstance(cause, psycopg.errors.UniqueViolation):
            return Conflict("something with the same name or id is already there", hint="read it, or choose another")
        if isinstance(cause, psycopg.errors.ForeignKeyViolation):
            return Conflict("what this refers to was removed at the same moment", hint="read it again")
        if isinstance(cause, psycopg.errors.DiskFull):
            return StorageFull("the database server's disk is full", hint="free some space there and try again")
        if isinstance(cause, psycopg.errors.ReadOnlySqlTransaction):
            return Unavailable(
                "this PostgreSQL only reads now: it is a standby, or was the primary until a failover",
                hint="try again: new connections are made to the present primary. If that does not help, list every "
                "host in CODEXMEM_DATABASE_URL and add target_session_attrs=read-write",
            )
        if isinstance(cause, psycopg.errors.LockNotAvailable):
            return Unavailable(
                "another transaction has held what this one needs for too long",
                hint="try again; a schema change or a long transaction on the database may be in the way",
            )
        if isinstance(cause, psycopg.errors.QueryCanceled):
            return Unavailable(
                "the database ended a statement that took too long",
                hint="try again, or ask for less; CODEXMEM_STATEMENT_TIMEOUT_S is the limit",
            )
        if isinstance(cause, psycopg.OperationalError) or isinstance(error, sa.exc.TimeoutError):
            return Unavailable("PostgreSQL does not answer just now", hint="try again, or run codexmem doctor")
        return None

    def trouble(self) -> str | None:
        """What is wrong with a server is learned by asking it."""
        return None

    def watch(self) -> None:
        """A server looks after its own files."""

    def make_bell(self) -> PostgresNotifier:
        """Heard in every process that uses this database."""
        return PostgresNotifier(self.url)

    def close(self) -> None:
        """Close the pool."""
        self._engine.dispose()


def _cause(error: BaseException) -> BaseException | None:
    return error.orig if isinstance(error, sa.exc.DBAPIError) else error


# Errors that say that the primary is, or will be, somewhere else.
_ELSEWHERE = (psycopg.errors.ReadOnlySqlTransaction, connecting.Silent)
_lock_lane = sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(sa.bindparam("lane"), 0)))
_horizon = sa.select(sa.cast(sa.cast(sa.func.pg_snapshot_xmin(sa.func.pg_current_snapshot()), sa.Text), sa.BigInteger))
