"""The search function of PostgreSQL: it uses its index, and shows nobody but the transaction's own tenant anything."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sized
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.query import Filter
from codexmem.kernel.store import texts
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.opening import open_database, upgrade_store
from codexmem.kernel.store.postgres import backup, routines
from codexmem.kernel.store.postgres.engine import migration_engine
from tests._support.postgres import Installation, PostgresServer
from tests._support.texts import ALL, Texts, sentence

pytestmark = pytest.mark.postgresql

CALL = (
    f"SELECT seq FROM {routines.FIND_TEXTS}("
    "ARRAY['secret'], ARRAY['secret'], {scope}, ARRAY['observation'], ARRAY['active'],"
    " NULL, NULL, NULL, NULL, NULL, 10, false)"
)


def test_tenants_find_only_their_own_words_and_statistics(postgres_database: Database) -> None:
    store = Texts(postgres_database)
    with acting_as("fence-a"):
        hers = store.add("secret plan of alice")
        for number in range(5):
            store.add(f"filler {number}")
        store.fold()
        before = store.index.find(["secret", "plan"], ALL, limit=10)
        assert [hit.seq for hit in before] == [hers.seq]
    with acting_as("fence-b"):
        assert store.found("secret plan alice") == []
        assert store.found_past("secret plan alice", 10**9) == []
        for number in range(50):
            store.add(f"plan number {number}")
        store.fold()
        store.index.drop([hers.seq])
        assert store.index.missing(limit=10) == []
    with acting_as("fence-a"):
        # Another tenant's texts change neither what is found nor how it is ranked.
        assert store.index.find(["secret", "plan"], ALL, limit=10) == before


def test_the_tenant_comes_from_the_transaction_and_cannot_be_asked_for(postgres_database: Database) -> None:
    store = Texts(postgres_database)
    with acting_as("fence-c"):
        store.add("secret of carol")
    # Even with the scope token of the other tenant, which only its name is needed for.
    token = texts.kind_scope("fence-c", Filter(frozenset({Kind.OBSERVATION})))[0]
    for tenant, expected in (("fence-c", 1), ("fence-d", 0)):
        with acting_as(tenant), postgres_database.reading() as tx:
            assert len(tx.connection.exec_driver_sql(CALL.format(scope=f"'''{token}'''")).all()) == expected


def test_only_the_application_may_search(postgres_database: Database) -> None:
    with pytest.raises(sa.exc.ProgrammingError) as refused, postgres_database.dispatching() as tx:
        tx.connection.exec_driver_sql(CALL.format(scope="'x'"))
    assert isinstance(refused.value.orig, psycopg.errors.InsufficientPrivilege)


def test_the_search_role_reads_words_and_writes_nothing(postgres_url: str) -> None:
    with migration_engine(postgres_url).connect() as connection:
        rights = "SELECT DISTINCT table_name, privilege_type FROM information_schema.role_table_grants"
        rights += " WHERE grantee = 'codexmem_search' AND table_name NOT LIKE '%%vector%%'"
        assert sorted(connection.exec_driver_sql(rights).all()) == [
            (table, "SELECT")
            for table in ("memory_terms", "memory_texts", "memory_visibility", "text_changes", "text_counts")
        ]


def test_the_function_is_pinned_and_owned_by_its_own_role(postgres_url: str) -> None:
    with migration_engine(postgres_url).connect() as connection:
        row = connection.exec_driver_sql(
            "SELECT pg_get_userbyid(proowner), prosecdef, proconfig, proacl::text FROM pg_proc"
            f" WHERE proname = '{routines.FIND_TEXTS}'"
        ).one()
        assert row[:2] == ("codexmem_search", True)
        assert "search_path=pg_catalog, pg_temp" in row[2]
        assert not re.search(r"[{,]=", row[3]), "everybody may call it"


def test_a_search_reads_its_index_which_a_plain_statement_could_not(
    postgres_database: Database, postgres_url: str
) -> None:
    chance = random.Random(2)
    with acting_as("fence-plan"):
        store = Texts(postgres_database)
        with postgres_database.transaction():
            for number in range(3_000):
                store.add(f"q{number}x {sentence(chance, 5)}")
        store.fold(5_000)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE memory_texts")
    names = ("memory_texts_words", "memory_texts_past_words")
    scans = "SELECT " + ", ".join(f"pg_stat_get_xact_numscans('{name}'::regclass)" for name in names)
    with acting_as("fence-plan"), postgres_database.reading() as tx:

        def scanned(search: Callable[[], Sized]) -> tuple[int, ...]:
            before = tx.connection.exec_driver_sql(scans).one()
            assert len(search()) == 1
            after = tx.connection.exec_driver_sql(scans).one()
            return tuple(later - earlier for earlier, later in zip(before, after, strict=True))

        assert scanned(lambda: store.found("q7x")) == (1, 0)
        assert scanned(lambda: store.found_past("q7x", 10**9)) == (1, 1)
        plain = "SELECT seq FROM memory_texts WHERE words @@ 'q7x' AND to_ms IS NULL"
        assert scanned(lambda: tx.connection.exec_driver_sql(plain).all()) == (0, 0)


def test_a_restored_store_can_be_searched(postgres_server: PostgresServer, tmp_path: Path) -> None:
    bin_dir = Installation.find().root / "bin"
    here = postgres_server.create_database("searched")
    upgrade_store(here)
    db = open_database(here)
    with acting_as("fence-r"):
        store = Texts(db)
        store.change(store.add("former words"), content="present words")
        store.fold()
    db.close()
    backup.copy(here, tmp_path / "store.pgdump", lambda *_: None, bin_dir)
    fresh = postgres_server.create_database("searched_elsewhere")
    backup.replace(fresh, tmp_path / "store.pgdump", bin_dir=bin_dir, keep=lambda: None, step=lambda _: None)
    db = open_database(fresh)
    with acting_as("fence-r"):
        restored = Texts(db)
        assert len(restored.found("present")) == 1
        assert len(restored.found_past("former", 2_500)) == 1
    with acting_as("fence-s"):
        assert Texts(db).found("present") == []
    db.close()
