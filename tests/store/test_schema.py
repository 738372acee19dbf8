"""The schema: migrations make what is declared, tenant leads every key, and PostgreSQL fences every table."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from codexmem.kernel.model.errors import NotReady
from codexmem.kernel.store import upgrade
from codexmem.kernel.store.opening import open_database, schema_of, sqlite_url, upgrade_store
from codexmem.kernel.store.postgres import engine as postgres
from codexmem.kernel.store.schema import metadata
from codexmem.kernel.store.sqlite import engine as sqlite
from tests._support.postgres import PostgresServer

UNDECLARED = ("present_words", "past_words", "present_vocab", "memory_texts_words", "memory_texts_past_words")


@pytest.fixture
def migrated(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> sa.Engine:
    """The engine that migrations run on, after they ran."""
    if engine_name == "sqlite":
        path = tmp_path / "codexmem.db"
        upgrade_store(sqlite_url(path))
        return sqlite.migration_engine(path)
    url: str = request.getfixturevalue("postgres_url")
    return postgres.migration_engine(url)


def test_migrations_make_what_is_declared(migrated: sa.Engine) -> None:
    def comparable(_: object, name: str | None, *__: object) -> bool:
        # Alembic cannot read a descending column back from SQLite; the next test looks at that index itself. Virtual
        # tables, their shadows and GIN indexes have no declaration; the test after it names them.
        if name == "jobs_turn" and migrated.dialect.name == "sqlite":
            return False  # tenants take turns on a server; a file has one
        return name != "jobs_claim" and not (name or "").startswith(UNDECLARED)

    with migrated.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": comparable})
        assert compare_metadata(context, metadata) == []


def test_a_claim_reads_its_index_and_nothing_else(migrated: sa.Engine) -> None:
    claim = "SELECT id FROM jobs WHERE status = 'queued' AND ready AND priority = 0 AND run_at_ms <= 5"
    claim += " ORDER BY run_at_ms, id LIMIT 1"
    with migrated.connect() as connection:
        if migrated.dialect.name == "sqlite":
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {claim}").all()
        else:
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            plan = connection.exec_driver_sql(f"EXPLAIN {claim}").all()
    assert "jobs_claim" in str(plan)
    assert "Sort" not in str(plan)
    assert "TEMP B-TREE" not in str(plan)


def test_words_are_found_by_what_each_engine_has_for_them(migrated: sa.Engine) -> None:
    with migrated.connect() as connection:
        if migrated.dialect.name == "sqlite":
            made = connection.exec_driver_sql("SELECT name, sql FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%%'")
            virtual = {name: sql.split("(")[0].split()[-1] for name, sql in made if name.startswith(UNDECLARED)}
            assert virtual == {"present_words": "fts5", "past_words": "fts5", "present_vocab": "fts5vocab"}
            for name in ("present_words", "past_words"):
                settings = connection.exec_driver_sql(f"SELECT v FROM {name}_config WHERE k = 'secure-delete'")
                assert settings.scalar() == 1
        else:
            made = connection.exec_driver_sql(
                "SELECT indexname, indexdef FROM pg_indexes"
                " WHERE tablename = 'memory_texts' AND indexdef LIKE '%%USING gin%%'"
            )
            partial = {name: definition.partition("WHERE ")[2] for name, definition in made}
            assert partial == {
                "memory_texts_words": "(to_ms IS NULL)",
                "memory_texts_past_words": "(to_ms IS NOT NULL)",
            }


def test_tenant_leads_every_primary_key_unique_index_and_foreign_key() -> None:
    for table in metadata.tables.values():
        assert next(iter(table.primary_key.columns)).name == "tenant", table.name
        for index in table.indexes:
            # A key tells its tenant, so it alone is looked up without one.
            if index.unique and index.name != "api_keys_hash":
                assert next(iter(index.columns)).name == "tenant", index.name
        for constraint in table.foreign_key_constraints:
            assert constraint.column_keys[0] == "tenant", table.name


def test_upgrading_twice_changes_nothing(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path / "codexmem.db")
    assert upgrade_store(url) == (None, upgrade.newest())
    assert upgrade_store(url) == (upgrade.newest(), upgrade.newest())


def test_a_store_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "codexmem.db"
    upgrade_store(sqlite_url(path))
    with sqlite.migration_engine(path).begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(NotReady, match="newer codexmem"):
        open_database(sqlite_url(path))


def test_postgresql_is_never_upgraded_behind_its_operators_back(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database("empty")
    with pytest.raises(NotReady) as refused:
        open_database(url)
    assert refused.value.hint == "run: codexmem db upgrade"
    assert schema_of(url) is None


def test_migrators_take_turns(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database("contended")
    outcomes: list[object] = []

    def migrate() -> None:
        try:
            outcomes.append(upgrade_store(url))
        except Exception as error:
            outcomes.append(error)

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    newest = upgrade.newest()
    assert sorted(map(str, outcomes)) == sorted(map(str, [(None, newest), *[(newest, newest)] * 3]))


# Alembic's own bookkeeping holds no tenant's data, and the application may only look at it.
UNFENCED = {"alembic_version"}
_TABLES = (
    "SELECT relname, relforcerowsecurity, relrowsecurity FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
)
_TABLES += " WHERE nspname = 'public' AND relkind IN ('r', 'p')"


def unfenced(connection: sa.Connection) -> set[str]:
    """Tables of which not both row security and FORCE are on, or that have no policy."""
    policed = set(connection.exec_driver_sql("SELECT tablename FROM pg_policies").scalars())
    return {
        name
        for name, forced, enabled in connection.exec_driver_sql(_TABLES)
        if not (forced and enabled and name in policed) and name not in UNFENCED
    }


def test_every_table_has_forced_row_level_security(postgres_url: str) -> None:
    with postgres.migration_engine(postgres_url).connect() as connection:
        assert unfenced(connection) == set()
        # The check itself must be able to fail.
        connection.exec_driver_sql("CREATE TABLE planted (tenant text)")
        assert unfenced(connection) == {"planted"}
        connection.exec_driver_sql("ALTER TABLE planted ENABLE ROW LEVEL SECURITY")
        assert unfenced(connection) == {"planted"}
        connection.rollback()


def test_the_application_roles_own_nothing_and_bypass_nothing(postgres_url: str) -> None:
    with postgres.migration_engine(postgres_url).connect() as connection:
        roles = connection.exec_driver_sql(
            "SELECT rolname, rolsuper, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname LIKE 'codexmem%%'"
        ).all()
        names = ("codexmem_app", "codexmem_dispatch", "codexmem_member", "codexmem_search")
        assert sorted(roles) == [(name, False, False, False) for name in names]
        owned = "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) LIKE 'codexmem%%'"
        assert connection.exec_driver_sql(owned).scalar() == 0
        rights = "SELECT grantee, privilege_type FROM information_schema.role_table_grants"
        rights += " WHERE table_name = 'alembic_version' AND grantee LIKE 'codexmem%%'"
        assert connection.exec_driver_sql(rights).all() == [("codexmem_app", "SELECT")]
