"""Backup and restore of a PostgreSQL store with the server's own programs, from the wheel that the tests start."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from codexmem.kernel.model.errors import Unauthorized, Unavailable
from codexmem.kernel.model.event import EventType, LogPosition, NewEvent
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.store.backup import BackupTarget, Damaged
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.opening import open_database
from codexmem.operations.transfer import Transfer
from tests._support.postgres import Installation, PostgresServer
from tests.services.restoring import die

pytestmark = pytest.mark.postgresql

_names = itertools.count(1)
BIN = Installation.find().root / "bin"


@dataclass
class Store:
    server: PostgresServer
    url: str
    data_dir: Path

    @property
    def transfer(self) -> Transfer:
        return Transfer(BackupTarget(self.url, BIN), self.data_dir, SystemClock(), version="test")

    def put(self, tenant: str, *subjects: str) -> None:
        db = open_database(self.url)
        try:
            for subject in subjects:
                with acting_as(tenant):
                    EventTable(db).append(NewEvent(EventType.MEMORY_WRITTEN, subject, {}), id=subject, at_ms=1)
        finally:
            db.close()

    def seen(self, tenant: str, type: EventType = EventType.MEMORY_WRITTEN) -> list[str]:
        """What a live reader of the tenant gets from the beginning, in its order."""
        db = open_database(self.url)
        try:
            with acting_as(tenant):
                found = EventTable(db).after(LogPosition(0, 0), limit=500)
                return [event.subject for event in found if event.type == type.value]
        finally:
            db.close()


@pytest.fixture
def store(postgres_server: PostgresServer, tmp_path: Path) -> Store:
    name = f"transfer{next(_names)}"
    url = postgres_server.create_store(name)
    return Store(postgres_server, url, tmp_path)


def test_a_backup_holds_every_tenant_and_restores_whole(store: Store) -> None:
    store.put("acme", "a1", "a2")
    store.put("umbrella", "u1")
    made = store.transfer.backup()
    assert sorted(path.name for path in made.folder.iterdir()) == ["manifest.json", "store.pgdump"]
    assert made.manifest.counts["events"] == 3
    assert (made.manifest.engine, made.copy.stat().st_mode & 0o777) == ("postgresql", 0o600)
    assert store.seen(LOCAL, EventType.STORE_BACKED_UP) == ["store"]
    store.put("acme", "a3")
    store.put("late", "l1")
    restored = store.transfer.restore(made.folder)
    assert (store.seen("acme"), store.seen("umbrella"), store.seen("late")) == (["a1", "a2"], ["u1"], [])
    assert store.seen(LOCAL, EventType.STORE_RESTORED) == ["store"]
    # Events written after the restore come after the restored ones, and numbers go on.
    store.put("acme", "a4")
    assert store.seen("acme") == ["a1", "a2", "a4"]
    assert restored.kept is not None
    store.transfer.restore(restored.kept)
    assert (store.seen("acme"), store.seen("late")) == (["a1", "a2", "a3"], ["l1"])


def test_tenants_are_still_fenced_after_a_restore(store: Store) -> None:
    store.put("acme", "a1")
    store.transfer.restore(store.transfer.backup().folder)
    with psycopg.connect(store.url) as connection:
        loose = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            " AND relname <> 'alembic_version' AND NOT (relrowsecurity AND relforcerowsecurity)"
        ).fetchall()
        assert loose == []
        policies = connection.execute("SELECT count(*) FROM pg_policies WHERE policyname = 'own_tenant'").fetchone()
        assert policies is not None
        assert policies[0] >= 11
    assert store.seen("umbrella") == []


def test_a_backup_restores_into_an_empty_database(store: Store, postgres_server: PostgresServer) -> None:
    store.put("acme", "a1", "a2")
    made = store.transfer.backup()
    name = f"fresh{next(_names)}"
    fresh = Store(postgres_server, postgres_server.create_database(name), store.data_dir / "fresh")
    fresh.transfer.restore(made.folder)
    assert fresh.seen("acme") == ["a1", "a2"]


def test_a_store_with_servers_on_it_is_not_restored(store: Store) -> None:
    store.put("acme", "a1")
    made = store.transfer.backup()
    db = open_database(store.url)
    try:
        with acting_as("acme"), db.reading():
            pass
        with pytest.raises(Unavailable, match="in use"):
            store.transfer.restore(made.folder)
    finally:
        db.close()
    store.transfer.restore(made.folder)


@pytest.mark.parametrize("step", ["locked", "kept", "prepared", "switched"])
def test_a_restore_killed_at_any_step_leaves_the_old_rows_or_the_new_ones(step: str, store: Store) -> None:
    store.put("acme", "a1")
    made = store.transfer.backup()
    store.put("acme", "a2")
    die(
        "from pathlib import Path; from codexmem.kernel.model.ids import SystemClock;"
        "from codexmem.operations.transfer import Transfer; from codexmem.kernel.store.backup import BackupTarget;"
        "from tests.services.restoring import dying_at;"
        f"t = Transfer(BackupTarget({store.url!r}, Path({str(BIN)!r})), Path({str(store.data_dir)!r}), SystemClock(),"
        f" version='test'); t.restore(Path({str(made.folder)!r}), step=dying_at({step!r}))"
    )
    assert store.seen("acme") == (["a1"] if step == "switched" else ["a1", "a2"])
    store.transfer.restore(made.folder)
    assert store.seen("acme") == ["a1"]


def test_a_load_that_fails_leaves_everything_as_it_was(store: Store) -> None:
    store.put("acme", "a1")
    made = store.transfer.backup()
    store.put("acme", "a2")
    with psycopg.connect(store.url, autocommit=True) as connection:
        # Indexes are made last, when the old tables are gone and the new rows loaded.
        connection.execute("CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE"
                           " EXCEPTION 'not today'; END $$")  # fmt: skip
        connection.execute("CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE INDEX')"
                           " EXECUTE FUNCTION refuse()")  # fmt: skip
    with pytest.raises(Unavailable, match="psql failed"):
        store.transfer.restore(made.folder)
    assert store.seen("acme") == ["a1", "a2"]
    with psycopg.connect(store.url, autocommit=True) as connection:
        connection.execute("DROP EVENT TRIGGER refuse")
    store.transfer.restore(made.folder)
    assert store.seen("acme") == ["a1"]


def test_a_login_that_cannot_see_every_row_is_refused_instead_of_dumping_nothing(store: Store) -> None:
    store.put("acme", "a1")
    with psycopg.connect(store.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS narrow")
        connection.execute("CREATE ROLE narrow LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO narrow")
    url = store.url.replace("//postgres@", "//narrow@")
    with pytest.raises(Unauthorized, match="every tenant") as caught:
        Transfer(BackupTarget(url, BIN), store.data_dir, SystemClock(), version="test").backup()
    assert "BYPASSRLS" in str(caught.value.hint)
    assert list((store.data_dir / "backups").iterdir()) == []


def test_a_damaged_dump_is_refused(store: Store) -> None:
    made = store.transfer.backup()
    broken = bytearray(made.copy.read_bytes())
    broken[len(broken) // 2] ^= 4
    made.copy.write_bytes(broken)
    with pytest.raises(Damaged):
        store.transfer.restore(made.folder)


def test_missing_programs_are_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Unavailable, match="pg_dump was not found") as caught:
        Transfer(BackupTarget(store.url, tmp_path / "empty"), tmp_path, SystemClock(), version="test").backup()
    assert "CODEXMEM_PG_BIN_DIR" in str(caught.value.hint)


def test_a_password_is_not_on_the_command_line(store: Store, tmp_path: Path) -> None:
    spy = tmp_path / "bin"
    spy.mkdir()
    for name in ("pg_dump", "pg_restore", "psql"):
        (spy / name).write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/seen\nexec {BIN / name} "$@"\n')
        (spy / name).chmod(0o755)
    url = store.url.replace("//postgres@", "//postgres:se%3Acr%5Cet@")
    transfer = Transfer(BackupTarget(url, spy), tmp_path, SystemClock(), version="test")
    transfer.restore(transfer.backup().folder)
    seen = (tmp_path / "seen").read_text()
    assert "passfile" in seen
    assert "cr" + "%5Cet" not in seen
    assert "se:cr" not in seen
