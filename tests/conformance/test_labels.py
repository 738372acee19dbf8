"""Distinct labels and projects: the same on every engine, bounded, and without reading what bears them."""

from __future__ import annotations

import pytest
from sqlalchemy.dialects import sqlite

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.store import labels as module
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.labels import Labels
from tests._support import services
from tests._support.services import Services


@pytest.fixture
def real(database: Database) -> Services:
    return services.build(database)


def write(real: Services, *files: str, project: str = "p", created_ms: int = 1) -> Memory:
    state = State("x", ObservationAttrs(files_read=files), project=project)
    return real.memories.remember(
        MemoryDraft(Kind.OBSERVATION, state, Origin.MODEL, created_ms=created_ms), WriteContext("test")
    )


def begun(db: Database, *beginnings: str, project: str | None = None, limit: int = 100) -> list[str]:
    found = Labels(db).beginning("file", beginnings, project=project, limit=limit)
    assert found.whole
    return list(found.values)


def test_labels_that_begin_alike_are_found_in_the_order_of_their_bytes(real: Services, database: Database) -> None:
    for name in ("app.py", "App.py", "app-2.py", "app_3.py", "apple.py", "ap", "aq", "应用.py", "应该.py", "z"):
        write(real, name)
        write(real, name)
    assert begun(database, "app") == ["app-2.py", "app.py", "app_3.py", "apple.py"]
    assert begun(database, "A") == ["App.py"]
    assert begun(database, "应") == ["应用.py", "应该.py"]
    assert begun(database, "应", "app.") == ["应用.py", "应该.py", "app.py"]
    assert begun(database, "nothing") == begun(database) == []
    assert begun(database, "z") == ["z"]


def test_a_project_narrows_and_a_limit_is_told(real: Services, database: Database) -> None:
    for number in range(12):
        write(real, f"f{number:02}", project="one" if number % 3 == 0 else "two")
    assert begun(database, "f", project="one") == ["f00", "f03", "f06", "f09"]
    assert begun(database, "f", project="none") == []
    cut = Labels(database).beginning("file", ["f"], project=None, limit=5)
    assert (cut.values, cut.whole) == (("f00", "f01", "f02", "f03", "f04"), False)
    cut = Labels(database).beginning("file", ["f"], project="two", limit=5)
    assert (len(cut.values), cut.whole) == (5, False)
    assert begun(database, "f", limit=12) == [f"f{number:02}" for number in range(12)]


def test_a_walk_through_other_projects_is_bounded(
    real: Services, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_STEPS", 4)
    for number in range(6):
        write(real, f"f{number}", project="one" if number == 5 else "two")
    cut = Labels(database).beginning("file", ["f"], project="one", limit=5)
    assert (cut.values, cut.whole) == ((), False)


def test_projects_and_their_newest_memory(real: Services, database: Database) -> None:
    for number, project in enumerate(("beta", "alpha", "", "beta", "测试")):
        write(real, project=project, created_ms=number * 10)
    found = Labels(database).projects([kind.value for kind in Kind])
    assert found == {"alpha": 10, "beta": 30, "测试": 40}
    assert Labels(database).projects([Kind.NOTE.value]) == {}


@pytest.mark.sqlite
def test_no_walk_reads_what_bears_the_labels(sqlite_database: Database) -> None:
    # PostgreSQL plans by statistics, which an empty table has not.
    with sqlite_database.reading() as tx:
        for statement in (module._walk, module._walk_of, module._projects):
            text = str(statement.compile(dialect=sqlite.dialect(), compile_kwargs={"render_postcompile": True}))
            plan = tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", ("x",) * text.count("?")).all()
            used = [row.detail for row in plan if "memor" in row.detail or "label" in row.detail]
            assert used
            assert all("SEARCH" in detail and "COVERING INDEX" in detail for detail in used), used
