"""Vectors where engines differ: the first pass on SQLite, the large index and a missing extension on PostgreSQL."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from codexmem.kernel.embed.model import unit
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.model.ids import mint
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.index import Vectors
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.opening import open_database, upgrade_store
from codexmem.kernel.store.postgres import engine as postgres
from codexmem.kernel.store.postgres import pgvector
from codexmem.kernel.store.postgres.vectors import PostgresVectors
from codexmem.kernel.store.sqlite.vectors import SqliteVectors
from codexmem.kernel.store.vector_table import TableVectors
from tests._support.postgres import PostgresServer

M = "it's a model"
NOTES = Filter(frozenset({Kind.NOTE}))
DIMENSION = 64


def fill(db: Database, index: TableVectors, count: int, *, seed: int = 1) -> list[bytes]:
    """Clusters, as texts make them; returns a question near each of the first ones."""
    chance = random.Random(seed)
    table = MemoryTable(db)
    centres = [[chance.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(count // 20)]
    made: list[Vectors] = []
    with db.transaction():
        for number in range(count):
            memory = _insert(table, f"p{number % 5}")
            vector = [value + chance.gauss(0, 0.4) for value in centres[number % len(centres)]]
            made.append(Vectors(memory.seq, memory.state.project, "note", 1, (unit(vector),)))
    index.put(M, made)
    return [unit([value + chance.gauss(0, 0.4) for value in centre]) for centre in centres[:20]]


def _insert(table: MemoryTable, project: str) -> Memory:
    draft = MemoryDraft(Kind.NOTE, State(content="x", attrs=NoteAttrs(), project=project), Origin.AGENT)
    return table.insert(draft, id=mint(Kind.NOTE), source=None, now_ms=1)


def recall(asked: TableVectors, exact: TableVectors, questions: list[bytes], wanted: Filter = NOTES) -> float:
    shares = []
    for question in questions:
        best = {hit.seq for hit in exact.find(M, question, wanted, limit=10)}
        shares.append(len(best & {hit.seq for hit in asked.find(M, question, wanted, limit=10)}) / len(best))
    return sum(shares) / len(shares)


def plan_of(db: Database, index: TableVectors, question: bytes, explain: str) -> str:
    """How the engine runs the statement that ranks, under the settings it really runs with."""
    said: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        said.append((statement, parameters))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        with db.reading() as tx:
            index.find(M, question, NOTES, limit=10)
            statement, parameters = next((s, p) for s, p in said if "score" in s)
            return str(tx.connection.exec_driver_sql(f"{explain} {statement}", parameters).all())
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


@pytest.mark.sqlite
@pytest.mark.slow
def test_two_passes_find_what_one_full_pass_finds(sqlite_database: Database) -> None:
    exact = SqliteVectors(sqlite_database)
    questions = fill(sqlite_database, exact, 2_000)
    assert recall(SqliteVectors(sqlite_database, exact=100, keep=300), exact, questions) >= 0.97
    in_project = Filter(NOTES.kinds, project="p1")
    assert recall(SqliteVectors(sqlite_database, exact=100, keep=300), exact, questions, in_project) >= 0.97


@pytest.mark.sqlite
def test_the_first_pass_reads_its_index_alone(sqlite_database: Database) -> None:
    index = SqliteVectors(sqlite_database, exact=100, keep=300)
    questions = fill(sqlite_database, index, 200)
    plan = plan_of(sqlite_database, index, questions[0], "EXPLAIN QUERY PLAN")
    assert "COVERING INDEX memory_vectors_scope" in plan


@pytest.mark.sqlite
def test_without_the_library_vectors_say_so_and_the_rest_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A package of that name without the library in it.
    (tmp_path / "sqlite_vec.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sqlite_vec", raising=False)
    db = open_database(f"sqlite:///{tmp_path}/codexmem.db")
    try:
        memory = _insert(MemoryTable(db), "p")
        index = SqliteVectors(db)
        for call in (
            lambda: index.put(M, [Vectors(memory.seq, "p", "note", 1, (unit([1.0]),))]),
            lambda: index.find(M, unit([1.0]), NOTES, limit=1),
        ):
            with pytest.raises(Unavailable, match="sqlite-vec"):
                call()
        index.drop([memory.seq])
    finally:
        db.close()


@pytest.fixture
def own_database(postgres_server: PostgresServer, request: pytest.FixtureRequest) -> str:
    return postgres_server.create_database(f"vectors_{abs(hash(request.node.name)) % 10**8}")


@pytest.mark.postgresql
def test_a_large_scope_goes_through_the_tenants_own_index(own_database: str) -> None:
    upgrade_store(own_database)
    db = open_database(own_database)
    owner = postgres.migration_engine(own_database)
    with owner.begin() as tx:  # with figures of so small a table, the planner may rightly sort it instead
        tx.exec_driver_sql("ALTER TABLE memory_vectors SET (autovacuum_enabled = off)")
    try:
        with acting_as("big"):
            exact, large = PostgresVectors(db), PostgresVectors(db, exact=100)
            questions = fill(db, exact, 2_000)
            assert recall(large, exact, questions) == 1.0  # no index yet: compared whole
        assert pgvector.build(owner, "small", M) is None
        name = pgvector.build(owner, "big", M)
        with acting_as("big"):
            assert str(name) in plan_of(db, large, questions[0], "EXPLAIN")
            assert str(name) not in plan_of(db, exact, questions[0], "EXPLAIN")
            assert recall(large, exact, questions) >= 0.95
        assert pgvector.build(owner, "big", M) == name  # again, in place of the first
        with acting_as("other"):
            others = fill(db, exact, 200, seed=2)
            assert str(name) not in plan_of(db, large, others[0], "EXPLAIN")
    finally:
        owner.dispose()
        db.close()


@pytest.mark.postgresql
def test_a_server_without_the_extension_keeps_everything_else(
    own_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as lacking:
        lacking.setattr(pgvector, "EXTENSION", "CREATE EXTENSION no_such_extension")
        upgrade_store(own_database)
    db = open_database(own_database)
    try:
        with acting_as("team"):
            memory = _insert(MemoryTable(db), "p")
            index = PostgresVectors(db)
            with pytest.raises(Unavailable) as refused:
                index.find(M, unit([1.0]), NOTES, limit=1)
            assert "db upgrade" in str(refused.value.hint)
            index.drop([memory.seq])
            upgrade_store(own_database)  # the extension has come since
            index.put(M, [Vectors(memory.seq, "p", "note", 1, (unit([1.0, 0.0]),))])
            assert index.count(M) == 1
    finally:
        db.close()
