"""Whether a tenant lives in this cluster: one row where it does not simply do so, read as each transaction begins.

A cached route may be old; this row cannot be, because it is read inside the transaction that it admits. Writers hold
the tenant's lock in shared mode until they commit. Whoever changes the row takes it alone, so that after the change no
transaction is under way that was admitted before it. Dispatchers of jobs have a lock of their own for the same end.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import psycopg
from psycopg.rows import class_row

from codexmem.kernel.model import ids
from codexmem.kernel.model.errors import Conflict, TenantElsewhere, Unauthorized, Unavailable
from codexmem.kernel.store.postgres import connecting

NAME = "codexmem move"  # what the sessions of those who move tenants call themselves
_WAIT_S = 5  # for writers that are under way, in one try
_DISPATCH_LOCK = "SELECT pg_advisory_xact_lock{}(7234008142516311405)"


class PlaceState(StrEnum):
    """Why a tenant is not simply here."""

    ARRIVING = "arriving"  # not yet here: nothing is answered
    FENCED = "fenced"  # about to leave: nothing is written
    MOVED = "moved"  # lives elsewhere; what is left here can be had back
    GONE = "gone"  # lives elsewhere; nothing is left here
    ERASING = "erasing"  # is being removed for good


@dataclass(frozen=True, slots=True)
class Place:
    """The row of one tenant."""

    tenant: str
    state: str
    cell: str = ""
    address: str = ""
    version: int = 0
    until_ms: int | None = None
    progress: str | None = None


def begin_writing(tenant: str) -> str:
    """What a writer's transaction begins with: the lock, then what `require_here` reads."""
    lock = f"SELECT pg_advisory_xact_lock_shared(hashtextextended('home:{tenant}', 0))"
    return f"{lock}; {_read(tenant)} AND (state <> 'fenced' OR until_ms > {_NOW})"


def begin_reading(tenant: str) -> str:
    """The same for one that reads: it may go on while a tenant is fenced."""
    return f"{_read(tenant)} AND state <> 'fenced'"


def begin_dispatching() -> str:
    """What holds off a move while jobs of any tenant are given out."""
    return _DISPATCH_LOCK.format("_shared")


def _read(tenant: str) -> str:
    columns = "tenant, state, cell, address, version, until_ms, progress"
    return f"SELECT {columns} FROM codexmem_cells.places WHERE tenant = '{tenant}'"  # noqa: S608  a checked name


_NOW = "extract(epoch FROM clock_timestamp()) * 1000"


def require_here(row: Sequence[Any] | None) -> None:
    """Refuse what the row of a transaction's tenant does not allow."""
    if row is None:
        return
    place = Place(*row)
    if place.state in {PlaceState.MOVED, PlaceState.GONE}:
        raise TenantElsewhere(
            f"tenant {place.tenant} lives in the cell {place.cell}",
            hint=f"ask there: {place.address or 'its operator knows the address'}",
            details={"reason": "elsewhere", "cell": place.cell, "address": place.address, "version": place.version},
        )
    if place.state == PlaceState.ERASING:
        raise Unauthorized(f"tenant {place.tenant} is being erased", details={"reason": "erasing"})
    raise Unavailable(
        f"tenant {place.tenant} is being moved to another cluster",
        hint="try again in a moment",
        details={"reason": "moving", "retry_after_s": 1},
    )


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection[Any]]:
    """A session with the login's own rights, which must reach the rows of every tenant."""
    try:
        with connecting.connect(url, application_name=NAME) as connection:
            allowed = connection.execute(_EVERY_ROW).fetchone()
            if not (allowed and allowed[0]):
                raise Unauthorized(
                    "this PostgreSQL login may not read the rows of every tenant",
                    hint="give a login that is a superuser or has BYPASSRLS",
                    details={"reason": "needs_bypassrls"},
                )
            yield connection
    except psycopg.OperationalError as error:
        raise Unavailable(
            f"PostgreSQL does not answer at {connecting.place(url)}", hint="check the address, then run this again"
        ) from error


def of(connection: psycopg.Connection[Any], tenant: str) -> Place | None:
    """Why the tenant is not simply here; None if it is, or was never."""
    with connection.cursor(row_factory=class_row(Place)) as cursor:
        return cursor.execute(_read(tenant)).fetchone()


@contextmanager
def alone(connection: psycopg.Connection[Any], tenant: str) -> Iterator[None]:
    """A transaction beside which nobody writes as this tenant, and whose end nobody that was admitted before outlives.

    Dispatchers are held off only while it waits for those that are under way.
    """
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{_WAIT_S}s'")
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('home:' || %s, 0))", [tenant])
            connection.execute(_DISPATCH_LOCK.format(""))
            yield
    except psycopg.errors.LockNotAvailable as error:
        raise Conflict(
            f"a transaction of tenant {tenant} does not end", hint="run this again; nothing was changed by this step"
        ) from error


def put(connection: psycopg.Connection[Any], place: Place) -> None:
    """Write the row; inside `alone`."""
    connection.execute(_PUT, [place.tenant, place.state, place.cell, place.address, place.version, place.until_ms,
                              place.progress])  # fmt: skip


def fence(connection: psycopg.Connection[Any], place: Place, *, for_ms: int) -> int:
    """Let nobody write as the tenant for so long; when this returns, no writer is under way. Returns its end."""
    with alone(connection, place.tenant):
        now = connection.execute(f"SELECT ({_NOW})::bigint").fetchone()
        assert now is not None
        until_ms: int = now[0] + for_ms
        put(connection, replace(place, state=PlaceState.FENCED, until_ms=until_ms))
    return until_ms


def seal(connection: psycopg.Connection[Any], tenant: str, until_ms: int) -> bool:
    """Turn this very fence into `moved`: from here on the tenant is the other cluster's; False if it has lapsed."""
    with alone(connection, tenant):
        sealed = connection.execute(_SEAL, [tenant, until_ms]).rowcount == 1
        if sealed:
            connection.execute(_KEEP_KEYS, [tenant])  # so that who brings one is sent on
    return sealed


def is_fenced(connection: psycopg.Connection[Any], tenant: str, until_ms: int) -> bool:
    """Whether this very fence still holds."""
    return connection.execute(_FENCED, [tenant, until_ms]).fetchone() is not None


@contextmanager
def one_mover(connection: psycopg.Connection[Any], tenant: str) -> Iterator[None]:
    """Hold off other commands about this tenant for as long as the session lasts or the block runs."""
    name, until = f"move:{tenant}", ids.monotonic() + _WAIT_S
    while True:
        row = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [name]).fetchone()
        if row and row[0]:
            break
        # The session of one that was killed ends as soon as the server notices.
        if ids.monotonic() > until:
            raise Conflict(
                f"tenant {tenant} is being moved, imported or erased by another command",
                hint="wait for it",
                details={"reason": "busy_tenant", "tenant": tenant},
            )
        time.sleep(0.1)
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])


def require_state(connection: psycopg.Connection[Any], tenant: str, state: PlaceState) -> None:
    """Let nobody change the row until the transaction ends, and refuse if somebody has."""
    row = connection.execute(
        "SELECT state FROM codexmem_cells.places WHERE tenant = %s FOR SHARE", [tenant]
    ).fetchone()  # fmt: skip
    if row is None or row[0] != state:
        raise Conflict(
            f"tenant {tenant} is no longer {state} there",
            hint="another command has changed it; look: codexmem tenant ls",
        )


def remove(connection: psycopg.Connection[Any], tenant: str) -> None:
    """The tenant is simply here, or nowhere."""
    connection.execute("DELETE FROM codexmem_cells.places WHERE tenant = %s", [tenant])
    connection.execute("DELETE FROM codexmem_cells.moved_keys WHERE tenant = %s", [tenant])


def note_progress(connection: psycopg.Connection[Any], tenant: str, progress: str) -> None:
    """How far an import has come; in the transaction that takes it further."""
    connection.execute("UPDATE codexmem_cells.places SET progress = %s WHERE tenant = %s", [progress, tenant])


def all_of(connection: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """Every tenant of this cluster with the state of its row, `here` where it has none."""
    return [(row[0], row[1]) for row in connection.execute(_ALL)]


_EVERY_ROW = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_PUT = f"""
    INSERT INTO codexmem_cells.places (tenant, state, cell, address, version, until_ms, progress, changed_ms)
    VALUES (%s, %s, %s, %s, %s, %s, %s, {_NOW})
    ON CONFLICT (tenant) DO UPDATE SET state = excluded.state, cell = excluded.cell, address = excluded.address,
        version = excluded.version, until_ms = excluded.until_ms, progress = excluded.progress,
        changed_ms = excluded.changed_ms
"""  # noqa: S608  our own text
_SEAL = f"""
    UPDATE codexmem_cells.places SET state = 'moved', until_ms = NULL, changed_ms = {_NOW}
    WHERE tenant = %s AND state = 'fenced' AND until_ms = %s AND until_ms > {_NOW}
"""  # noqa: S608  our own text
_KEEP_KEYS = """
    INSERT INTO codexmem_cells.moved_keys (hash, tenant) SELECT hash, tenant FROM api_keys
    WHERE tenant = %s AND revoked_ms IS NULL ON CONFLICT (hash) DO UPDATE SET tenant = excluded.tenant
"""
_FENCED = f"""
    SELECT 1 FROM codexmem_cells.places
    WHERE tenant = %s AND state = 'fenced' AND until_ms = %s AND until_ms > {_NOW}
"""  # noqa: S608  our own text
_ALL = """
    SELECT coalesce(k.tenant, p.tenant), coalesce(p.state, 'here')
    FROM (SELECT DISTINCT tenant FROM api_keys) k FULL JOIN codexmem_cells.places p USING (tenant) ORDER BY 1
"""
# For the role that looks up keys: why this tenant, or the one whose key this was, is not here.
OF_KEY = """
    SELECT tenant, state, cell, address, version, until_ms, progress FROM codexmem_cells.places
    WHERE state <> 'fenced' AND tenant = coalesce(:of_tenant, (
        SELECT tenant FROM codexmem_cells.moved_keys WHERE hash = :hash))
"""
