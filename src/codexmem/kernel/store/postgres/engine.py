"""PostgreSQL as an engine.

Each transaction drops to a role that owns no table and can bypass nothing, and names its tenant for that transaction
only: a pooled connection carries neither over to the next request. One login may do all of it, because it is a member
of the roles that migrations create.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, Forbidden, InvalidArgument, StorageFull, Unavailable
from codexmem.kernel.model.project_scope import present_scope
from codexmem.kernel.model.tenant import ProjectScope, tenant_name
from codexmem.kernel.model.visibility import present_viewer
from codexmem.kernel.store.cells import places
from codexmem.kernel.store.postgres import connecting
from codexmem.kernel.store.postgres.notify import PostgresNotifier
from codexmem.kernel.store.postgres.replica import ReadReplica
from codexmem.kernel.store.postgres.roles import APP_ROLE, DISPATCH_ROLE, MEMBER_ROLE

_DRIVER = "postgresql+psycopg://"
MIGRATOR = "codexmem upgrade"  # what a session calls itself that changes or copies the schema
POOL_SIZE = 20
POOL_WAIT_S = 5
STATEMENT_S = 30
LOCK_S = 10


def plain_engine(
    url: str, *, pool_size: int = POOL_SIZE, prepare: bool = True, application: str = connecting.APPLICATION
) -> sa.Engine:
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
        connect_args={
            **connecting.parameters(url),
            "application_name": application,
            **({} if prepare else {"prepare_threshold": None}),
        },
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
    rows_per_insert = 50  # one round trip for a memory's labels, few enough for the driver's limit
    ambient_tenant: str | None = None  # a team's server never guesses whom it acts for

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE, statement_s: int = STATEMENT_S,
                 lock_s: int = LOCK_S, program: str = "") -> None:  # fmt: skip
        """`program` is the schema that this program knows, by which an upgrade tells it from older ones."""
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
        self._engine = plain_engine(
            url, pool_size=pool_size, prepare=not self.pooled, application=f"{connecting.APPLICATION} {program}".strip()
        )
        self._trusted_since = ids.monotonic()  # older connections may lead to a server that is primary no more
        self.replica: ReadReplica | None = None

    def writing(self, tenant: str, scope: ProjectScope | None = None) -> Any:
        """A transaction confined by row-level security to a tenant that lives here, and to the scope's projects."""
        transaction = self._transaction(
            f"BEGIN; {_acting(tenant, scope)}; {self._limits}; {places.begin_writing(tenant_name(tenant))}"
        )
        return self.replica.remembering(tenant, transaction) if self.replica else transaction

    def reading(self, tenant: str, scope: ProjectScope | None = None) -> Any:
        """A snapshot confined in the same way."""
        return self._transaction(
            f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_acting(tenant, scope)}; {self._limits}; "
            f"{places.begin_reading(tenant_name(tenant))}"
        )

    def follow(self, connect: Callable[[], "PostgresEngine"], *, within_s: float) -> None:
        """From now on, read at this standby what may be so many seconds old."""
        self.replica = ReadReplica(self, connect, within_s=within_s)

    def log_position(self) -> int:
        """How far the log has come; on a standby, how far it has been repeated."""
        with self._transaction("BEGIN READ ONLY") as connection:
            return int(connection.execute(_position).scalar_one())

    def dispatching(self) -> Any:
        """A transaction of the role that hands out jobs and looks up keys."""
        return self._transaction(f"BEGIN; {self._limits}; {places.begin_dispatching()}; SET LOCAL ROLE {DISPATCH_ROLE}")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        with self._connected(begin) as (connection, place):
            session = connection.connection.driver_connection
            assert isinstance(session, connecting.ServerConnection)
            try:
                places.require_here(place)
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
    def _connected(self, begin: str) -> Iterator[tuple[sa.Connection, Any]]:
        """A connection on which the transaction has begun, and the row that its last statement found."""
        connection = self._engine.connect()
        try:
            for _ in range(self._pool_size):
                session = connection.connection.driver_connection
                assert isinstance(session, connecting.ServerConnection)
                try:
                    if session.since >= self._trusted_since:
                        begun = session.execute(begin)
                        break
                except connecting.Silent as error:
                    connection.invalidate()
                    self._distrust(session, error)
                    raise
                except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled):
                    session.execute("ROLLBACK")  # the server lives: a tenant is just being fenced
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
                begun = connection.connection.driver_connection.execute(begin)  # type: ignore[union-attr]
            while begun.nextset():
                pass
            yield connection, begun.fetchone() if begun.description else None
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

    def require_home(self, connection: sa.Connection, *, tenant: str | None = None, key_hash: str = "") -> None:
        """By the row that says so, which only this role sees of every tenant."""
        places.require_here(connection.execute(_place, {"of_tenant": tenant, "hash": key_hash}).first())

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
        if isinstance(cause, psycopg.errors.InsufficientPrivilege) and present_scope() is not None:
            return Forbidden(
                "this takes a right to a project that this member does not have",
                hint="ask whoever runs the server: codexmem grant add",
                details={"reason": "project"},
            )
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
        if self.replica is not None:
            self.replica.close()
        self._engine.dispose()


def _acting(tenant: str, scope: ProjectScope | None) -> str:
    """The statements that confine a transaction, sent in one round trip with its beginning."""
    # The literal is safe: a tenant name has no character that could end it.
    named = f"SET LOCAL codexmem.tenant = '{tenant_name(tenant)}'"
    named += f"; SET LOCAL codexmem.viewer = {_literal(present_viewer().sees)}"
    if scope is None:
        return f"SET LOCAL ROLE {APP_ROLE}; {named}"
    settings = {
        "member": scope.member,
        "reads": _array(scope.reads), "reads_every": "on" if scope.reads is None else "off",
        "writes": _array(scope.writes), "writes_every": "on" if scope.writes is None else "off",
    }  # fmt: skip
    given = "; ".join(f"SET LOCAL codexmem.{name} = {_literal(value)}" for name, value in settings.items())
    return f"SET LOCAL ROLE {MEMBER_ROLE}; {named}; {given}"


def _array(projects: frozenset[str] | None) -> str:
    """The names as PostgreSQL spells an array, each of them quoted."""
    return "{" + ",".join('"' + re.sub(r'(["\\\\])', r"\\\1", each) + '"' for each in sorted(projects or ())) + "}"


def _literal(text: str) -> str:
    """Any text as a string, whatever `standard_conforming_strings` says; NUL, which none can hold, is refused."""
    if "\0" in text:
        raise InvalidArgument("a project's name has no NUL character")
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _cause(error: BaseException) -> BaseException | None:
    return error.orig if isinstance(error, sa.exc.DBAPIError) else error


# Errors that say that the primary is, or will be, somewhere else.
_ELSEWHERE = (psycopg.errors.ReadOnlySqlTransaction, connecting.Silent)
_place = sa.text(places.OF_KEY).bindparams(
    sa.bindparam("of_tenant", type_=sa.Text), sa.bindparam("hash", type_=sa.Text)
)
_lock_lane = sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(sa.bindparam("lane"), 0)))
_position = sa.text(
    "SELECT pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, "
    "'0/0')"
)
_horizon = sa.select(sa.cast(sa.cast(sa.func.pg_snapshot_xmin(sa.func.pg_current_snapshot()), sa.Text), sa.BigInteger))
