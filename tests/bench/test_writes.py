"""The write benchmark measures what it says: every contender writes, and the bare rows are the service's own."""

from __future__ import annotations

import random

import pytest
import sqlalchemy as sa

from bench import drafts, rows, writes
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.store.database import Database
from tests._support import services

# Minted or counted anew at each write, so never equal.
_OWN = {"tenant", "seq", "id", "created_ms", "updated_ms", "at_ms", "position", "subject", "payload"}


@pytest.mark.timeout(120)
def test_every_contender_writes(engine_name: str) -> None:
    figures = writes.measure(engine_name, rounds=1, seconds=0.3, seed=1, parent=None)
    assert all(rate > 0 for rate in figures["rate"].values())
    assert set(figures["rate"]) == {"single", "group", "group_rows", "service"}
    assert figures["statements_per_write"] > 3
    assert figures["limit"]


def test_bare_rows_are_those_the_service_leaves(database: Database, tenant: str) -> None:
    chance = random.Random(1)
    given = [
        drafts.observation(chance, content=drafts.text(chance)),
        drafts.note(chance, content=drafts.text(chance), uri="project://bench/rows"),
    ]
    for draft in given:
        memory = services.build(database).memories.remember(draft, WriteContext("bench"))
        bare = rows.remembered(draft, tenant=tenant, seq=memory.seq, event=1, now_ms=1)
        for table, expected in zip(rows.TABLES, bare, strict=True):
            columns = rows.columns(table)
            key = table.c.subject if "subject" in columns else table.c.seq
            wanted = f"memory:{memory.seq}" if "subject" in columns else memory.seq
            with database.reading() as tx:
                query = sa.select(sa.text(", ".join(columns))).select_from(table).where(key == wanted)
                stored = [tuple(row) for row in tx.connection.execute(query)]
            assert sorted(_comparable(columns, row) for row in stored) == sorted(
                _comparable(columns, row) for row in expected
            )


def _comparable(columns: list[str], row: tuple[object, ...]) -> list[tuple[str, str]]:
    return [(name, repr(value)) for name, value in zip(columns, row, strict=True) if name not in _OWN]
