"""PostgreSQL lets nobody who acts for a tenant change or remove a line of the audit."""

from __future__ import annotations

import importlib

import sqlalchemy as sa

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.event import AUDIT, EventType, NewEvent
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.store.database import Database, acting_as
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.kernel.store.schema import events

VERSIONS = "codexmem.kernel.store.migrations.versions"
migrations = [importlib.import_module(f"{VERSIONS}.{name}") for name in ("0018_people", "0019_cells", "0021_sign_in")]


def test_every_audit_type_is_kept_by_the_database() -> None:
    assert {each.value for each in AUDIT} == {kept for each in migrations for kept in each._KEPT}


def test_audit_lines_stay_as_they_are(postgres_database: Database) -> None:
    with acting_as("kept-audit"):
        log = Log(postgres_database, EventTable(postgres_database), LocalNotifier(), SystemClock())
        for kind in (*AUDIT, EventType.SEARCH_ANSWERED):
            log.append(NewEvent(kind, subject="x", payload={"actor": "key:ci"}))
        for change in (sa.update(events).values(payload={"actor": "nobody"}), sa.delete(events)):
            with postgres_database.transaction() as tx:
                tx.connection.execute(change)
        with postgres_database.reading() as tx:
            left = tx.connection.execute(sa.select(events.c.type, events.c.payload)).all()
    assert {(row.type, row.payload["actor"]) for row in left} == {(each.value, "key:ci") for each in AUDIT}
