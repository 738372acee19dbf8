"""The store's way to a transaction.

`transaction()` is re-entrant per thread: a service writes a memory, enqueues a job and appends an event without passing
a connection about, and all of it commits once. The tenant is ambient (`acting_as`), set where a request or job enters.
Nothing slow may happen inside a transaction: on SQLite other writers wait behind it.
"""

import functools
import itertools
import logging
import operator
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import sqlalchemy as sa

from codexmem.kernel.model import spans
from codexmem.kernel.model.errors import CodexmemError, Unavailable
from codexmem.kernel.model.project_scope import present_scope
from codexmem.kernel.model.tenant import tenant_name
from codexmem.kernel.store.engine import Engine
from codexmem.kernel.store.schema import NUMBERED, Json, encoded

Values = Mapping[str, object]
Read = TypeVar("Read")
_log = logging.getLogger(__name__)


@functools.cache
def _insert_statement(
    table: sa.Table, columns: tuple[str, ...], count: int, placeholder: str, returning: str | None
) -> str:
    """INSERT of so many rows with these columns."""
    marks = ", ".join([f"({', '.join([placeholder] * len(columns))})"] * count)
    text = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES {marks}"  # noqa: S608  names from our schema
    return f"{text} RETURNING {returning}" if returning else text


@functools.cache
def _binder(table: sa.Table, columns: tuple[str, ...]) -> Callable[[Values], tuple[Any, ...]]:
    coded = [name for name in columns if isinstance(table.c[name].type, Json)]
    pick: Callable[[Values], Any] = operator.itemgetter(*columns)

    def bind(values: Values) -> tuple[Any, ...]:
        found = pick({**values, **{name: encoded(values[name]) for name in coded}} if coded else values)
        return found if len(columns) > 1 else (found,)

    return bind


def _plain_insert(
    driver: Any, engine: Engine, table: sa.Table, rows: Sequence[Values], returning: str | None = None
) -> Any:
    """Insert rows that all name the same columns; with `returning` one row, whose value comes back."""
    columns, placeholder = tuple(rows[0]), engine.placeholder
    bind = _binder(table, columns)
    if returning is not None:
        return driver.execute(_insert_statement(table, columns, 1, placeholder, returning), bind(rows[0])).fetchone()[0]
    for start in range(0, len(rows), engine.rows_per_insert):
        some = rows[start : start + engine.rows_per_insert]
        values = tuple(itertools.chain.from_iterable(map(bind, some)))
        driver.execute(_insert_statement(table, columns, len(some), placeholder, None), values)
    return None


def _tell_insert(table: sa.Table) -> None:
    # What goes to the driver by itself passes no event of SQLAlchemy.
    if (recorder := spans.recorder()) is not None:
        recorder.statement(f"INSERT INTO {table.name}")


def tell_statements() -> Callable[[], None]:
    """Tell the recorder of spans of each statement of every engine, until the callable that returns is called."""

    def tell(*given: Any) -> None:
        if (recorder := spans.recorder()) is not None:
            recorder.statement(given[2])

    sa.event.listen(sa.Engine, "before_cursor_execute", tell)
    return lambda: sa.event.remove(sa.Engine, "before_cursor_execute", tell)


# The tenant in every WHERE. An INSERT binds it as the column `tenant`, which SQLAlchemy reserves for values.
ACTING: sa.BindParameter[str] = sa.bindparam("acting_tenant", type_=sa.Text)

_tenant: ContextVar[str | None] = ContextVar("codexmem_tenant", default=None)
_newest: ContextVar[bool] = ContextVar("codexmem_newest", default=False)


@contextmanager
def acting_as(tenant: str) -> Iterator[None]:
    """Confine everything inside the block to one tenant."""
    token = _tenant.set(tenant_name(tenant))
    try:
        yield
    finally:
        _tenant.reset(token)


@contextmanager
def reading_the_newest() -> Iterator[None]:
    """Let nothing inside the block be read from a replica: what is decided there must know what was just written."""
    token = _newest.set(True)
    try:
        yield
    finally:
        _newest.reset(token)


def _bind(statement: sa.Executable) -> str:
    return "tenant" if statement.is_insert else "acting_tenant"


class Transaction:
    """One transaction of one thread."""

    def __init__(self, connection: sa.Connection, engine: Engine, tenant: str, *, writes: bool) -> None:
        self.connection = connection
        self.engine = engine
        self.tenant = tenant
        self.writes = writes
        self.doomed = False  # an inner block failed half-way; whoever swallowed its error may not commit the rest
        self.callbacks: list[Callable[[], None]] = []

    def run(self, statement: sa.Executable, **values: Any) -> sa.CursorResult[Any]:
        """Execute with the tenant bound."""
        return self.connection.execute(statement, {_bind(statement): self.tenant, **values})

    def run_many(self, statement: sa.Executable, rows: Sequence[Mapping[str, object]]) -> None:
        """Execute once per row, the tenant bound in each; nothing happens for no rows."""
        if rows:
            bind = _bind(statement)
            self.connection.execute(statement, [{bind: self.tenant, **row} for row in rows])

    def number(self, table: sa.Table) -> dict[str, int]:
        """The value to insert into a numbered table's key, empty where the column's default draws it."""
        value = self.engine.number(self.connection, self.tenant, table.name)
        return {} if value is None else {NUMBERED[table.name]: value}

    def add(self, table: sa.Table, *rows: Mapping[str, object]) -> None:
        """Insert rows that all name the same columns, as cheaply as the driver can."""
        if rows:
            _tell_insert(table)
            _plain_insert(self._driver, self.engine, table, [{"tenant": self.tenant, **row} for row in rows])

    def add_numbered(self, table: sa.Table, row: Mapping[str, object]) -> int:
        """Insert one row into a numbered table; returns its number."""
        key = NUMBERED[table.name]
        value = self.engine.number(self.connection, self.tenant, table.name)
        if value is not None:
            self.add(table, {key: value, **row})
            return value
        _tell_insert(table)
        rows = [{"tenant": self.tenant, **row}]
        drawn: int = _plain_insert(self._driver, self.engine, table, rows, returning=key)
        return drawn

    def write(self, statement: str, *values: object) -> None:
        """Send a statement that answers nothing, in the driver's own SQL, with what it binds and nothing else."""
        if (recorder := spans.recorder()) is not None:
            recorder.statement(statement)
        self._driver.execute(statement, values)

    def first(self, statement: str, *values: object) -> Any:
        """The first row that the driver's own SQL answers, None if it answers none."""
        if (recorder := spans.recorder()) is not None:
            recorder.statement(statement)
        return self._driver.execute(statement, values).fetchone()

    @property
    def _driver(self) -> Any:
        return self.connection.connection.driver_connection

    def after_commit(self, callback: Callable[[], None]) -> None:
        """Call this once the transaction is durable, and never if it is not."""
        self.callbacks.append(callback)


class Database:
    """One opened store."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._local = threading.local()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Write: all of the block or nothing, durable when it ends."""
        current = self._current()
        if current is not None:
            if not current.writes:
                raise RuntimeError("a transaction cannot start inside reading()")
            try:
                yield current
            except BaseException:
                current.doomed = True
                raise
            return
        tenant = self.acting_tenant()
        with self._translated("store.write"), self.engine.writing(tenant, present_scope()) as connection:
            transaction = Transaction(connection, self.engine, tenant, writes=True)
            with self._entered(transaction):
                yield transaction
            if transaction.doomed:
                raise RuntimeError("a block inside this transaction failed, so the whole of it must not commit")
        for callback in transaction.callbacks:
            callback()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Read one consistent snapshot; inside a transaction, what that transaction sees."""
        current = self._current()
        if current is not None:
            yield current
            return
        tenant = self.acting_tenant()
        with self._translated("store.read"), self.engine.reading(tenant, present_scope()) as connection:
            transaction = Transaction(connection, self.engine, tenant, writes=False)
            with self._entered(transaction):
                yield transaction

    def read_lately(self, read: Callable[[], Read]) -> Read:
        """What this reads in one snapshot that may be some seconds old: of a replica, where one is near enough."""
        if self._current() is None and self.engine.replica is not None and not _newest.get():
            tenant = self.acting_tenant()
            snapshot = self.engine.replica.reading(tenant, present_scope())
            if snapshot is not None:
                try:
                    with (
                        self._translated("store.read_replica"), snapshot as connection,
                        self._entered(Transaction(connection, self.engine, tenant, writes=False)),
                    ):  # fmt: skip
                        return read()
                except Unavailable as error:
                    _log.warning("the replica was left for the primary: %s", error.message)
        with self.reading():
            return read()

    @contextmanager
    def dispatching(self) -> Iterator[Transaction]:
        """Look after jobs and keys of all tenants; never entered inside another transaction."""
        if self._current() is not None:
            raise RuntimeError("dispatching() cannot start inside a transaction")
        with self._translated("store.dispatch"), self.engine.dispatching() as connection:
            transaction = Transaction(connection, self.engine, "", writes=True)
            with self._entered(transaction):
                yield transaction
        for callback in transaction.callbacks:
            callback()

    def close(self) -> None:
        """Give back every connection and lock."""
        self.engine.close()

    def _current(self) -> Transaction | None:
        return getattr(self._local, "transaction", None)

    def acting_tenant(self) -> str:
        """Whom code in this place acts for."""
        tenant = _tenant.get() or self.engine.ambient_tenant
        if tenant is None:
            raise RuntimeError("no tenant: enter acting_as() before touching the store")
        return tenant

    @contextmanager
    def _entered(self, transaction: Transaction) -> Iterator[None]:
        self._local.transaction = transaction
        try:
            yield
        finally:
            self._local.transaction = None

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        recorder = spans.recorder()
        try:
            if recorder is None:
                yield
                return
            with recorder.statements(name) as span:
                span.set(db__system__name=self.engine.name)
                yield
        except CodexmemError:
            raise
        except Exception as error:
            meant = self.engine.failure(error)
            if meant is None:
                raise
            raise meant from error
