"""What the product wrote, written once more: the copy ends with the same rows and finds the same words."""

from __future__ import annotations

import random

import pytest

from bench import capture, waits, writes
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.store.sqlite.engine import plain_engine


@pytest.mark.timeout(120)
def test_the_copy_has_the_same_rows_and_index_entries() -> None:
    chance, material = random.Random(4), writes.Material(4)
    with waits._beside_bare() as (core, noted, bare):
        session = capture.reporter(core, "session", chance)
        for _ in range(8):
            session()
            core.memories.remember(material.draft(), WriteContext("test"))
        callers = noted.taken()
        assert len(callers) == 17  # of 8 events, the prompt before them, and 8 memories
        assert noted.taken() == []
        assert bare.write(callers, 5) > 0
        ours = core.db.engine
        with ours.reading("local") as connection:
            wanted = _content(connection)
        engine = plain_engine(bare.path)
        with engine.connect() as connection:
            assert _content(connection) == wanted
        engine.dispose()
    assert wanted["memories"] == wanted["present_words"] == 9
    assert wanted["captured_events"] == 9
    assert wanted["found"] > 0


def _content(connection) -> dict[str, int]:  # type: ignore[no-untyped-def]
    tables = ("memories", "memory_versions", "memory_facets", "memory_texts", "present_words", "captured_events",
              "sessions", "jobs", "events")  # fmt: skip
    found = {name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one() for name in tables}
    said = "SELECT count(*) FROM present_words WHERE present_words MATCH 'lease OR 数据'"
    return found | {"found": connection.exec_driver_sql(said).scalar_one()}
