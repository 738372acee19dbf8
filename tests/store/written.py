"""Stores as earlier programs left them: the schema of the time, with rows that a real program wrote.

`python -m tests.store.written` uses the product through its endpoints for some seconds and keeps every row in
`written.json.gz`, under the schema that it had. A new schema gets a new file only if its program writes something that
the older ones did not; the older files stay, because that is what people have. A store of any earlier schema is made
from the rows of the tables and columns that it had.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from codexmem.kernel.store import upgrade
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.postgres import engine as postgres
from codexmem.kernel.store.schema import metadata
from codexmem.kernel.store.sqlite import engine as sqlite

FILE = Path(__file__).parent / "written.json.gz"
# Made anew from the rows at any time; a store without them is whole.
DERIVED = {
    "memory_texts", "memory_terms", "memory_vectors", "text_changes", "text_counts", "vector_debts", "vector_targets",
}  # fmt: skip
# Of later schemas than the file: a store that is upgraded has nothing in them.
LATER = (
    "memory_visibility", "memory_tellings", "memory_findings", "group_members", "groups", "members", "member_subjects",
    "grants",
)  # referring ones first  # fmt: skip
Rows = Mapping[str, list[dict[str, Any]]]


def written() -> Rows:
    """Every row by its table, as the program of schema 0010 wrote it."""
    rows: Rows = json.loads(gzip.decompress(FILE.read_bytes()))
    return rows


def revisions() -> list[str]:
    """Every schema there was, the first one first."""
    scripts = ScriptDirectory.from_config(upgrade._config()).walk_revisions()
    return sorted(script.revision for script in scripts)


def migrating(url: str) -> sa.Engine:
    """The engine that migrations run on."""
    path = sqlite_path(url)
    return sqlite.migration_engine(path) if path is not None else postgres.migration_engine(url)


def make(url: str, revision: str, tenant: str) -> Rows:
    """A store of that schema with everything that it could hold; returns the rows that were put into it."""
    engine = migrating(url)
    config = upgrade._config()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.commit()
    put: dict[str, list[dict[str, Any]]] = {}
    with engine.begin() as connection:
        tables = _tables(connection)
        for name, table in tables.items():
            columns = {column.name for column in table.columns}
            put[name] = [
                {key: value for key, value in row.items() if key in columns} | {"tenant": tenant}
                for row in written()[name]
            ]
            connection.execute(sa.insert(table), put[name])
        if engine.dialect.name == "postgresql":
            _number_on(connection, put)
    engine.dispose()
    return put


def rows_of(url: str, like: Rows) -> Rows:
    """What a store holds in the tables and columns of those rows, in the same order."""
    engine = migrating(url)
    with engine.connect() as connection:
        tables = _tables(connection)
        found = {}
        for name, rows in like.items():
            table, columns = tables[name], list(rows[0])
            selected = connection.execute(sa.select(*(table.c[column] for column in columns)))
            found[name] = [dict(zip(columns, row, strict=True)) for row in selected]
    engine.dispose()
    return found


def in_order(rows: Rows) -> dict[str, list[str]]:
    """Rows without the order in which an engine gives them."""
    return {name: sorted(json.dumps(row, sort_keys=True) for row in kept) for name, kept in rows.items()}


def _tables(connection: sa.Connection) -> dict[str, sa.Table]:
    """The tables of our own that are there, parents first."""
    there = sa.MetaData()
    there.reflect(
        connection, only=lambda name, _: name in metadata.tables.keys() - DERIVED - set(LATER), resolve_fks=False
    )
    return {table.name: there.tables[table.name] for table in metadata.sorted_tables if table.name in there.tables}


def _number_on(connection: sa.Connection, put: Rows) -> None:
    """Sequences go on after the rows that were put there, as they would have."""
    for table, column in (("memories", "seq"), ("jobs", "id"), ("events", "seq"), ("sessions", "id"),
                          ("captured_events", "seq")):  # fmt: skip
        if table in put:
            last = max(row[column] for row in put[table])
            named = connection.execute(sa.select(sa.func.pg_get_serial_sequence(table, column))).scalar_one()
            connection.execute(sa.select(sa.func.setval(named, last)))


def record() -> Iterator[str]:
    """Use the product and keep what it wrote; yields what it kept."""
    from tests._support.model_server import ModelServer
    from tests._support.server import Server, environment
    from tests.web.seeds import demo

    with tempfile.TemporaryDirectory() as place, ModelServer() as model:
        data = Path(place, "data")
        data.mkdir()
        settings = {"CODEXMEM_OPENAI_BASE_URL": model.url, "CODEXMEM_OPENAI_API_KEY": "none",
                    "CODEXMEM_BATCH_WAIT_S": "0", "CODEXMEM_EMBEDDER": "none"}  # fmt: skip
        with Server(data, settings=settings) as server:
            made = demo.filled(server, model, Path(place))
            once = {"Idempotency-Key": "only-once"}
            server.request("POST", "/api/v1/products", {"name": "kept for ever"}, once)
            made.get("/api/stats")
        key = [sys.executable, "-m", "codexmem.cli", "key", "create", "--label", "old"]
        subprocess.run(key, env=environment(data), check=True, capture_output=True)
        engine = sqlite.plain_engine(data / "codexmem.db", read_only=True)
        with engine.connect() as connection:
            rows = {
                name: [dict(row._mapping) for row in connection.execute(sa.select(table))]
                for name, table in _tables(connection).items()
            }
        engine.dispose()
        FILE.write_bytes(gzip.compress(json.dumps(rows, ensure_ascii=False).encode(), 9, mtime=0))
        yield from (f"{len(kept):6} {name}" for name, kept in rows.items())


if __name__ == "__main__":
    for line in record():
        sys.stdout.write(f"{line}\n")
