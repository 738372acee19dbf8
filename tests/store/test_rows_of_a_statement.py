"""On SQLite each row is a statement: several in one make it ready to take that one back, at a cost that grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, MemoryDraft, Origin, State
from codexmem.kernel.store.opening import open_database, sqlite_url
from tests._support import services

LABELS = 12


def test_labels_of_a_memory_are_inserted_one_by_one(tmp_path: Path) -> None:
    db = open_database(sqlite_url(tmp_path / "store.db"))
    real = services.build(db)
    sent: list[str] = []
    with db.transaction() as tx:
        driver: Any = tx.connection.connection.driver_connection
        driver.set_trace_callback(sent.append)
        state = State("what it says", ObservationAttrs(concepts=tuple(f"concept{n}" for n in range(LABELS))))
        real.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.AGENT), WriteContext("test"))
        driver.set_trace_callback(None)
    db.close()
    labels = [each for each in sent if each.startswith("INSERT INTO memory_facets")]
    assert len(labels) == LABELS
    assert not [each for each in labels if "), (" in each]
