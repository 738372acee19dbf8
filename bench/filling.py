"""Fills a store with memories that can be searched, as fast as its engine takes rows in.

What a search reads is there as the product leaves it: the memories, their labels, words and vectors, and how common
each word is. What no search reads is left out: versions, events, addresses and receipts. Foreign keys are not checked,
nothing is synced, and on PostgreSQL the secondary indexes are built after the rows; then both engines are left as
after their usual upkeep (write-ahead log folded in, vacuumed, analysed where a server does so by itself).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy.dialects import sqlite

from bench import report, rows
from bench.corpus import MODEL, Made, Noise
from codexmem.kernel.model.memory import MemoryDraft
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store import bm25, schema, texts
from codexmem.kernel.store.bm25 import Bag
from codexmem.kernel.store.opening import sqlite_path
from codexmem.kernel.store.postgres import text as postgres_text
from codexmem.kernel.store.sqlite import text as sqlite_text
from codexmem.kernel.store.sqlite import vectors as sqlite_vectors
from codexmem.kernel.store.sqlite.engine import plain_engine

_BATCH = 5_000
_MEMORIES = rows.columns(schema.memories)
_INDEXED_VERSION = _MEMORIES.index("indexed_version")
_FACETS = rows.columns(schema.memory_facets)
_TEXTS = ("tenant", "seq", "version", "kind", "status", "priority", "created_ms", "from_ms", "length", "words")
_VECTORS = ("tenant", "seq", "model", "part", "version", "project", "kind", "embedding")


def fill(url: str, made: Iterable[Made], vectors: Noise, progress: report.Progress, model: str = MODEL) -> None:
    """Fill an empty store with these memories, numbered from 1 without a gap, one tenant after the other.

    Their vectors are said to be of this model. A SQLite store has one tenant, the local one.
    """
    batches = _batches(made, progress)
    if sqlite_path(url) is not None:
        _fill_sqlite(url, batches, vectors, model)
    else:
        _fill_postgres(url, batches, vectors, model, progress)


def _batches(made: Iterable[Made], progress: report.Progress) -> Iterator[list[Made]]:
    for _, of_tenant in itertools.groupby(made, key=lambda each: each.tenant):
        while batch := list(itertools.islice(of_tenant, _BATCH)):
            progress.tell(f"filling, {batch[-1].memory.seq:,} memories")
            yield batch


def _fill_sqlite(url: str, batches: Iterable[list[Made]], vectors: Noise, model: str) -> None:
    path = sqlite_path(url)
    assert path is not None
    engine = plain_engine(path)
    pooled = engine.raw_connection()
    connection: Any = pooled.driver_connection
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "foreign_keys=OFF", "cache_size=-500000"):
        connection.execute(f"PRAGMA {pragma}")
    memory, facet = (rows.insert_statement(table, "?") for table in (schema.memories, schema.memory_facets))
    text = rows.insert_statement(schema.memory_texts, "?", leave_out=("to_ms",))
    words = sqlite_text._given(sqlite_text.PRESENT)
    vector = str(sqlite_vectors._insert_coded.compile(dialect=sqlite.dialect(paramstyle="named")))
    counted = _Counted(LOCAL)
    for batch in batches:
        bags = [(each, counted.bag(each)) for each in batch]
        remembered = [_remembered(each) for each in batch]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(memory, [row for row, _ in remembered])
        connection.executemany(facet, [label for _, labels in remembered for label in labels])
        connection.executemany(text, [_text_row(each, bag, sqlite_text._packed(bag)) for each, bag in bags])
        connection.executemany(words, [(each.memory.seq, *sqlite_text._columns(bag)) for each, bag in bags])
        connection.executemany(vector, [
            dict(zip(_VECTORS, _vector_row(each, model, vectors.vector(each.memory.seq)), strict=True))
            for each in batch
        ])  # fmt: skip
        connection.execute("COMMIT")
    connection.execute("INSERT INTO text_counts VALUES (?, ?, ?)", (LOCAL, counted.texts, counted.tokens))
    connection.execute("INSERT INTO counters VALUES (?, ?, ?)", (LOCAL, "memories", counted.texts))
    connection.execute("PRAGMA journal_mode=WAL")
    pooled.close()
    engine.dispose()


def _fill_postgres(
    url: str, batches: Iterable[list[Made]], vectors: Noise, model: str, progress: report.Progress
) -> None:
    last = 0
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET maintenance_work_mem = '512MB'")
        indexes = _dropped_indexes(cursor)
        for tenant, of_tenant in itertools.groupby(batches, key=lambda batch: batch[0].tenant):
            counted = _Counted(tenant)
            for batch in of_tenant:
                bags = [(each, counted.bag(each)) for each in batch]
                remembered = [_remembered(each) for each in batch]
                texts_made = (_text_row(each, bag, postgres_text._vector(bag)) for each, bag in bags)
                _copy(cursor, "memories", _MEMORIES, (row for row, _ in remembered))
                _copy(cursor, "memory_facets", _FACETS, (label for _, labels in remembered for label in labels))
                _copy(cursor, "memory_texts", _TEXTS, texts_made)
                _copy(cursor, "memory_vectors", _VECTORS,
                      (_vector_row(each, model, vectors.written(each.memory.seq)) for each in batch))  # fmt: skip
                last = batch[-1].memory.seq
            terms = ((tenant, term, number) for term, number in sorted(counted.having.items()))
            _copy(cursor, "memory_terms", ("tenant", "term", "texts"), terms)
            cursor.execute("INSERT INTO text_counts VALUES (%s, %s, %s)", (tenant, counted.texts, counted.tokens))
        cursor.execute("SELECT setval('memories_seq', %s)", [last])
        for index in indexes:
            progress.tell(index.partition(" ON ")[0].lower())
            cursor.execute(index.encode())
        progress.tell("vacuum analyze")
        cursor.execute("VACUUM ANALYZE")


class _Counted:
    """A tenant's bags of words, and the statistics of all of them."""

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant
        self.texts = self.tokens = 0
        self.having: Counter[str] = Counter()

    def bag(self, made: Made) -> Bag:
        bag = bm25.counted(made.words, texts.scope_of(self._tenant, made.memory))
        self.texts += 1
        self.tokens += bag.length
        self.having.update(bag.head.keys() | bag.body.keys())
        return bag


def _remembered(made: Made) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """The memory's own row, its vectors said to be in place, and those of its labels."""
    memory = made.memory
    draft = MemoryDraft(memory.kind, memory.state, memory.origin, memory.session, id=memory.id)
    found = rows.remembered(draft, tenant=made.tenant, seq=memory.seq, event=memory.seq, now_ms=memory.created_ms)
    (row,), labels = (found[rows.TABLES.index(table)] for table in (schema.memories, schema.memory_facets))
    return (*row[:_INDEXED_VERSION], memory.version, *row[_INDEXED_VERSION + 1 :]), labels


def _text_row(made: Made, bag: Bag, words: bytes | str) -> tuple[Any, ...]:
    values = {"tenant": made.tenant, **texts.columns_of(made.memory, bag.length), "words": words}
    return tuple(values[name] for name in _TEXTS)


def _vector_row(made: Made, model: str, vector: bytes | str) -> tuple[Any, ...]:
    memory = made.memory
    return made.tenant, memory.seq, model, 0, memory.version, memory.state.project, memory.kind.value, vector


def _copy(cursor: psycopg.Cursor[Any], table: str, columns: Sequence[str], values: Iterable[Sequence[Any]]) -> None:
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with cursor.copy(into) as copy:
        for row in values:
            copy.write_row(row)


def _dropped_indexes(cursor: psycopg.Cursor[Any]) -> list[str]:
    """Drop every index of the large tables that is not a key; returns how to make them again."""
    found = cursor.execute(
        "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i "
        "JOIN pg_class t ON t.oid = i.indrelid WHERE NOT i.indisprimary AND t.relname = ANY (%s)",
        [["memories", "memory_facets", "memory_texts", "memory_vectors"]],
    ).fetchall()
    for name, _ in found:
        cursor.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    return [made for _, made in found]
