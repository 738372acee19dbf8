"""One tenant's rows in every table: read, compared, copied to another cluster, and removed.

Which tables there are is what the schema declares, so a new table takes part by itself. Two clusters are compared by
counts and by hashes of rows, first of a table's buckets; what differs is copied anew. Nothing is remembered between
two rounds, so a copy that was interrupted anywhere goes on by comparing again, and changes are followed by comparing
until nothing differs. Positions of events are a cluster's own and count as 0 (decision 0008).
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
import sqlalchemy as sa
from psycopg import sql

from codexmem.kernel.model.errors import Conflict, Unavailable
from codexmem.kernel.store.cells import places
from codexmem.kernel.store.cells.places import PlaceState
from codexmem.kernel.store.schema import NUMBERED, metadata

BUCKETS = 4096
CHUNK_ROWS, CHUNK_BYTES = 5_000, 4 << 20  # in one transaction: a long one holds up live readers of the whole cluster
TABLES: tuple[sa.Table, ...] = tuple(
    table for table in metadata.sorted_tables if next(iter(table.primary_key.columns)).name == "tenant"
)
# A row here may have rows of others below it, which go when it is removed.
_PARENTS = {
    element.column.table.name
    for table in TABLES
    for constraint in table.foreign_key_constraints
    for element in constraint.elements
}
_OF_OTHERS = {("events", "position"): "0::bigint"}  # columns that mean something in their cluster alone

Connection = psycopg.Connection[Any]
Progress = Callable[[str, int], object]  # the table, and how many of its rows are done


class Sum(NamedTuple):
    """How many rows, and the sum of their hashes."""

    rows: int
    hashes: str


def columns(table: sa.Table) -> tuple[str, ...]:
    """In the order in which they travel."""
    return tuple(column.name for column in table.columns)


def tables(connection: Connection) -> list[sa.Table]:
    """Those that this store has: a server without pgvector has no table of vectors."""
    have = {row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    return [table for table in TABLES if table.name in have]


def sums(connection: Connection, tenant: str) -> dict[str, Sum]:
    """Of every table; tables without a row are left out."""
    found: dict[str, Sum] = {}
    with _snapshot(connection):
        for table in tables(connection):
            row = connection.execute(_query(_SUM, table), [tenant]).fetchone()
            assert row is not None
            if row[0]:
                found[table.name] = Sum(row[0], row[1])
    return found


def counts(connection: Connection, tenant: str) -> dict[str, int]:
    """Rows of every table that has one of the tenant."""
    found = {}
    for table in tables(connection):
        row = connection.execute(_query(_COUNT, table), [tenant]).fetchone()
        if row is not None and row[0]:
            found[table.name] = row[0]
    return found


def is_anybody(connection: Connection, tenant: str) -> bool:
    """Whether any table has a row of the tenant."""
    return any(connection.execute(_query(_ANY, table), [tenant]).fetchone() for table in tables(connection))


def numbers(connection: Connection) -> dict[str, int]:
    """The last number that each numbered table has given."""
    given: dict[str, int] = {}
    for table, column in NUMBERED.items():
        row = connection.execute(sql.SQL("SELECT last_value FROM {}").format(_sequence(table, column))).fetchone()
        assert row is not None
        given[table] = row[0]
    return given


def number_above(connection: Connection, given: Mapping[str, int]) -> None:
    """Let numbered tables go on above these; numbers are never given twice, also where rows were erased."""
    for table, last in given.items():
        name = _sequence(table, NUMBERED[table])
        with connection.transaction():
            # A change that changes nothing keeps others from drawing between the look and the step.
            connection.execute(sql.SQL("ALTER SEQUENCE {} NO CYCLE").format(name))
            # A sequence that was never drawn from shows the number that it will give first.
            row = connection.execute(
                sql.SQL("SELECT last_value - (NOT is_called)::int FROM {}").format(name)
            ).fetchone()
            if row is not None and row[0] < last:
                connection.execute("SELECT setval(%s::regclass, %s)", [name.as_string(connection), last])


def export(connection: Connection, table: sa.Table, tenant: str) -> Iterator[bytes]:
    """The table's rows in PostgreSQL's text format, one line each, in an order that is the same everywhere."""
    with connection.cursor() as cursor, cursor.copy(_query(_EXPORT, table), [tenant]) as copy:
        for row in copy:
            yield bytes(row)


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """One moment for all that is read in the block."""
    with _snapshot(connection):
        yield


def load(connection: Connection, table: sa.Table, rows: Sequence[bytes]) -> None:
    """Add these lines to the table."""
    if rows:
        with connection.cursor() as cursor, cursor.copy(_query(_LOAD, table)) as copy:
            copy.write(b"".join(rows))


def follow(source: Connection, target: Connection, tenant: str, *, state: PlaceState = PlaceState.ARRIVING,
           progress: Progress = lambda *_: None) -> int:  # fmt: skip
    """Make the target's rows those of one moment of the source; returns how many rows lay in what differed.

    Nobody may write them at the target meanwhile, whose row in `places` says `state`.
    """
    ours, theirs = tables(source), {table.name for table in tables(target)}
    lacking = [table.name for table in ours if table.name not in theirs]
    if lacking:
        raise Unavailable(
            f"the target cluster has no table {lacking[0]}",
            hint="make pgvector available there and run: codexmem db upgrade",
        )
    changed = 0
    with _snapshot(source):
        for table in ours:
            here, there = _buckets(source, table, tenant), _buckets(target, table, tenant)
            differing = sorted(number for number in here.keys() | there.keys() if here.get(number) != there.get(number))
            if differing:
                changed += sum(here[number].rows for number in differing if number in here) or 1
                _copy_buckets(source, target, table, tenant, differing, bool(there), state)
            progress(table.name, changed)
    return changed


def _copy_buckets(source: Connection, target: Connection, table: sa.Table, tenant: str, differing: list[int],
                  there: bool, state: PlaceState) -> None:  # fmt: skip
    if table.name not in _PARENTS:
        if there:
            _remove_buckets(target, table, tenant, differing, state)
        _add_buckets(source, target, table, tenant, differing, state)
        return
    if there:
        _remove_others(source, target, table, tenant, differing, state)
    try:
        _add_buckets(source, target, table, tenant, differing, state)
    except psycopg.errors.UniqueViolation:
        # Rows that exchanged a unique name: without the old ones, and what is below them follows by itself.
        _remove_buckets(target, table, tenant, differing, state)
        _add_buckets(source, target, table, tenant, differing, state)


def _add_buckets(source: Connection, target: Connection, table: sa.Table, tenant: str, differing: list[int],
                 state: PlaceState) -> None:  # fmt: skip
    stage = table.name in _PARENTS
    if stage:
        target.execute(_query("DROP TABLE IF EXISTS pg_temp.stage", table))
        target.execute(_query("CREATE TEMP TABLE stage (LIKE {table} INCLUDING DEFAULTS)", table))
    with source.cursor() as cursor, cursor.copy(_query(_EXPORT_BUCKETS, table), [tenant, differing]) as copy:
        for chunk in chunks(map(bytes, copy)):
            with target.transaction():
                places.require_state(target, tenant, state)
                if stage:
                    target.execute("TRUNCATE pg_temp.stage")
                    with target.cursor() as into, into.copy(_query(_LOAD_STAGE, table)) as loading:
                        loading.write(b"".join(chunk))
                    target.execute(_query(_MERGE, table))
                else:
                    load(target, table, chunk)


def _remove_buckets(target: Connection, table: sa.Table, tenant: str, differing: list[int], state: PlaceState) -> None:
    with target.transaction():
        places.require_state(target, tenant, state)
        target.execute(_query(_DELETE_BUCKETS, table), [tenant, differing])


def _remove_others(source: Connection, target: Connection, table: sa.Table, tenant: str, differing: list[int],
                   state: PlaceState) -> None:  # fmt: skip
    """Remove what the source no longer has, with everything below it."""
    with target.transaction():
        places.require_state(target, tenant, state)
        target.execute(_query("CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT {keys} FROM {table} LIMIT 0", table))
        with (
            source.cursor() as cursor,
            cursor.copy(_query(_EXPORT_KEYS, table), [tenant, differing]) as copy,
            target.cursor() as into,
            into.copy(_query(_LOAD_KEPT, table)) as loading,
        ):
            for row in copy:
                loading.write(row)
        target.execute(_query(_DELETE_OTHERS, table), [tenant, differing])


def zero_positions(connection: Connection, tenant: str) -> None:
    """What this cluster's own transactions gave the tenant's events means nothing after it has been elsewhere."""
    connection.execute("UPDATE events SET position = 0 WHERE tenant = %s AND position <> 0", [tenant])


def erase(connection: Connection, tenant: str, state: PlaceState, *, progress: Progress = lambda *_: None) -> int:
    """Remove every row of the tenant, which nobody may write meanwhile; returns how many they were."""
    removed = 0
    for table in reversed(tables(connection)):
        while True:
            with connection.transaction():
                places.require_state(connection, tenant, state)
                count = connection.execute(_query(_ERASE, table), [tenant]).rowcount
            removed += count
            progress(table.name, removed)
            if not count:
                break
    left = counts(connection, tenant)
    if left:
        raise Conflict(f"rows of tenant {tenant} are left: {left}", hint="run this again")
    return removed


def chunks(rows: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Rows in groups that fit one transaction."""
    group: list[bytes] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row)
        if len(group) >= CHUNK_ROWS or size >= CHUNK_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def digest(rows: Iterator[bytes]) -> tuple[int, str]:
    """How many lines, and the SHA-256 of them all."""
    count, found = 0, hashlib.sha256()
    for row in rows:
        count += 1
        found.update(row)
    return count, found.hexdigest()


def _buckets(connection: Connection, table: sa.Table, tenant: str) -> dict[int, Sum]:
    return {row[0]: Sum(row[1], row[2]) for row in connection.execute(_query(_BUCKET_SUMS, table), [tenant])}


@contextmanager
def _snapshot(connection: Connection) -> Iterator[None]:
    with connection.transaction():
        # Without a transaction number it holds up no live reader.
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _sequence(table: str, column: str) -> sql.Identifier:
    return sql.Identifier("public", f"{table}_{column}")


_HASH = "('x' || left(encode(sha256(convert_to({row}::text, 'UTF8')), 'hex'), 16))::bit(64)::bigint"
_BUCKET = f"(hashtextextended({{key}}::text, 0) & {BUCKETS - 1})"
_SUM = "SELECT count(*), coalesce(sum({hash}), 0)::text FROM {table} WHERE tenant = %s"
_COUNT = "SELECT count(*) FROM {table} WHERE tenant = %s"
_ANY = "SELECT 1 FROM {table} WHERE tenant = %s LIMIT 1"
_BUCKET_SUMS = "SELECT {bucket}, count(*), sum({hash})::text FROM {table} WHERE tenant = %s GROUP BY 1"
_EXPORT = "COPY (SELECT {values} FROM {table} WHERE tenant = %s ORDER BY {order}) TO STDOUT"
_EXPORT_BUCKETS = (
    "COPY (SELECT {values} FROM {table} WHERE tenant = %s AND {bucket} = ANY (%s) ORDER BY {order}) TO STDOUT"
)
_EXPORT_KEYS = "COPY (SELECT {keys} FROM {table} WHERE tenant = %s AND {bucket} = ANY (%s)) TO STDOUT"
_LOAD = "COPY {table} ({columns}) FROM STDIN"
_LOAD_STAGE = "COPY pg_temp.stage ({columns}) FROM STDIN"
_LOAD_KEPT = "COPY pg_temp.kept ({keys}) FROM STDIN"
_MERGE = (
    "INSERT INTO {table} ({columns}) SELECT {columns} FROM pg_temp.stage ORDER BY {order} "
    "ON CONFLICT ({keys}) DO UPDATE SET {changes}"
)
_DELETE_BUCKETS = "DELETE FROM {table} WHERE tenant = %s AND {bucket} = ANY (%s)"
_DELETE_OTHERS = (
    "DELETE FROM {table} WHERE tenant = %s AND {bucket} = ANY (%s)"
    " AND NOT EXISTS (SELECT FROM pg_temp.kept WHERE {same})"
)
_ERASE = "DELETE FROM {table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE tenant = %s LIMIT 5000))"


def _query(text: str, table: sa.Table) -> sql.Composed:
    """The statement for this table."""
    name = sql.Identifier("public", table.name)
    keys = [column.name for column in table.primary_key.columns]
    values = [
        sql.SQL(_OF_OTHERS[table.name, each]) if (table.name, each) in _OF_OTHERS else sql.Identifier(each)
        for each in columns(table)
    ]
    order = [
        sql.SQL('{} COLLATE "C"').format(sql.Identifier(column.name))
        if isinstance(column.type, sa.Text)
        else sql.Identifier(column.name)
        for column in table.primary_key.columns
    ]
    comma = sql.SQL(", ")
    return sql.SQL(text).format(
        table=name,
        columns=comma.join(map(sql.Identifier, columns(table))),
        values=comma.join(values),
        hash=sql.SQL(_HASH).format(row=sql.SQL("ROW({})").format(comma.join(values))),
        keys=comma.join(map(sql.Identifier, keys)),
        bucket=sql.SQL(_BUCKET).format(key=sql.SQL("ROW({})").format(comma.join(map(sql.Identifier, keys)))),
        order=comma.join(order),
        changes=comma.join(
            sql.SQL("{0} = excluded.{0}").format(sql.Identifier(each)) for each in columns(table) if each not in keys
        ),
        same=sql.SQL(" AND ").join(
            sql.SQL("{table}.{each} = pg_temp.kept.{each}").format(table=name, each=sql.Identifier(each))
            for each in keys
        ),
    )  # fmt: skip
