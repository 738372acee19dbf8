"""Tenants never meet: rows, names, numbers, jobs and keys of one are invisible to another on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
import sqlalchemy as sa

from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import Mode, WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter, Id, PageRequest, Seq, Uri
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.schema import metadata
from codexmem.operations.key_store import ApiKey, KeyTable
from tests._support import services

NOTES = frozenset({Kind.NOTE})
ME = WriteContext("test")


@pytest.fixture(autouse=True)
def only_here(postgres_database: Database) -> None:
    """Row-level security exists on PostgreSQL alone."""


def test_a_foreign_memory_is_not_found_by_any_handle_or_verb(postgres_database: Database) -> None:
    real = services.build(postgres_database)
    with acting_as("alice"):
        state = State(content="hers", attrs=NoteAttrs(), uris=("project://secret",))
        delta = real.history.open_delta("run:1", "learn", ME)
        hers = real.memories.remember(
            MemoryDraft(Kind.NOTE, state, Origin.AGENT), WriteContext("a", source="session:1", delta=delta.id)
        )
    verbs: list[Callable[[], object]] = [
        lambda: real.memories.get(Seq(hers.seq), NOTES),
        lambda: real.memories.get(Id(hers.id), NOTES),
        lambda: real.memories.get(Uri("project://secret"), NOTES),
        lambda: real.memories.append(Seq(hers.seq), NOTES, "x", ME),
        lambda: real.memories.delete(Seq(hers.seq), NOTES, ME),
        lambda: real.memories.link(Seq(hers.seq), NOTES, "cites", hers.seq, ME),
        lambda: real.history.versions(Seq(hers.seq), NOTES),
        lambda: real.history.rollback(Seq(hers.seq), NOTES, 1, ME),
        lambda: real.history.delta(delta.id),
        lambda: real.history.rollback_delta(delta.id, Mode.STRICT, ME),
    ]
    with acting_as("bob"):
        for verb in verbs:
            with pytest.raises(NotFound):
                verb()
        assert real.memories.many([hers.seq], NOTES) == {}
        assert real.memories.page(Filter(NOTES), PageRequest()).items == ()
        assert real.history.forget([hers.seq], ME) == 0
        assert real.history.undo_source("session:1", Mode.STRICT, ME).restored == ()
        assert real.history.forget_all(ME, source="session:1") == 0
        # The same name is free for somebody else.
        real.memories.remember(MemoryDraft(Kind.NOTE, state, Origin.AGENT), ME)
    with acting_as("alice"):
        assert real.memories.get(Uri("project://secret"), NOTES) == hers


def test_without_a_tenant_nothing_is_read_or_written(postgres_database: Database) -> None:
    with pytest.raises(RuntimeError, match="no tenant"), postgres_database.reading():
        pass
    with pytest.raises(RuntimeError, match="no tenant"), postgres_database.transaction():
        pass


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_a_statement_that_forgets_the_tenant_sees_only_its_own(postgres_database: Database, table: str) -> None:
    real = services.build(postgres_database)
    with acting_as("carol"):
        real.memories.remember(MemoryDraft(Kind.NOTE, State(content="hers", attrs=NoteAttrs()), Origin.AGENT), ME)
    with acting_as("nobody-else"), postgres_database.reading() as tx:
        everything = sa.select(sa.func.count()).select_from(metadata.tables[table])
        assert tx.connection.execute(everything).scalar() == 0


def test_a_row_for_another_tenant_cannot_be_written(postgres_database: Database) -> None:
    insert = sa.insert(metadata.tables["counters"]).values(tenant="victim", name="n", value=1)
    refused = pytest.raises(sa.exc.ProgrammingError, match="row-level security")
    with acting_as("mallory"), refused, postgres_database.transaction() as tx:
        tx.connection.execute(insert)


def test_the_dispatching_role_sees_jobs_and_keys_and_nothing_else(postgres_database: Database) -> None:
    with postgres_database.dispatching() as tx:
        tx.connection.execute(sa.select(sa.func.count()).select_from(metadata.tables["jobs"]))
    for table in set(metadata.tables) - {"jobs", "api_keys"}:
        with pytest.raises(sa.exc.ProgrammingError) as refused, postgres_database.dispatching() as tx:
            tx.connection.execute(sa.select(metadata.tables[table]).limit(1))
        assert isinstance(refused.value.orig, psycopg.errors.InsufficientPrivilege)


def test_a_key_tells_its_tenant_until_it_is_revoked(postgres_database: Database) -> None:
    keys = KeyTable(postgres_database)
    with acting_as("team"):
        keys.add(ApiKey("team", "key_1", "ci", 1), "hash-of-team")
    found = keys.by_hash("hash-of-team")
    assert found is not None
    assert (found.tenant, found.label) == ("team", "ci")
    with acting_as("rivals"):
        assert keys.all() == []
        assert not keys.revoke("key_1", 2)
    with acting_as("team"):
        assert keys.revoke("key_1", 2)
    assert keys.by_hash("hash-of-team") is None
