"""Lists over all runs read an index of their own: learnings among other jobs, their deltas, runs, events of today."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from codexmem.kernel.model.history import Delta, DeltaStatus
from codexmem.kernel.store import recent_activity
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.history import VersionTable
from codexmem.lab.store import learnings as lab_learnings
from codexmem.lab.store import runs
from tests._support import statements

PAGE = {"ms": 2**62, "id": "", "limit": 51}
STATEMENTS: list[tuple[Any, str, dict[str, Any]]] = [
    (lab_learnings._jobs, "jobs_learn ", {"below": 2**62, "limit": 51}),
    (lab_learnings._jobs_of, "jobs_learn_status", {"below": 2**62, "limit": 51, "status": "failed"}),
    (lab_learnings._OF_RUNS.all, "deltas_run ", PAGE),
    (lab_learnings._OF_RUNS.some, "deltas_run ", {**PAGE, "status": "applied", "looked": 9}),
    (lab_learnings._OF_RUNS.last, "deltas_run ", {"ms": 2**62, "id": "", "looked": 9}),
    (lab_learnings._OF_ONE.all, "deltas_subject", {**PAGE, "subject": "run:1"}),
    (lab_learnings._OF_ONE.some, "deltas_subject", {**PAGE, "subject": "run:1", "status": "applied", "looked": 9}),
    (lab_learnings._ops, "memory_versions_delta", {"ids": ["rbd_1"]}),
    (lab_learnings._later, "memory_versions_delta", {"delta": "rbd_1", "limit": 9}),
    (runs._running, "runs_status", {"status": "running"}),
    (runs._verdicts, "autoindex_feedback", {"runs": ["r"]}),
    (recent_activity._events, "captured_events_age", {"since": 1, "most": 9}),
]


@pytest.mark.parametrize("statement,index,values", STATEMENTS, ids=[f"{at}" for at in range(len(STATEMENTS))])
def test_each_list_reads_its_index(database: Database, statement: Any, index: str, values: dict[str, Any]) -> None:
    explain = "EXPLAIN QUERY PLAN" if database.engine.name == "sqlite" else "EXPLAIN"
    with database.reading() as tx:
        how = " ".join(str(row[-1]) for row in statements.explain(tx, explain, statement, **values))
    # An empty table tells PostgreSQL's planner nothing; there it is enough that the statement is understood.
    if database.engine.name == "sqlite":
        assert index in how, how
        assert "SCAN captured_events" not in how
        assert "SCAN jobs" not in how
        assert "SCAN deltas" not in how


def test_pages_of_a_status_look_through_a_bounded_number(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_learnings, "LOOKED_THROUGH", 3)
    versions, table = VersionTable(database), lab_learnings.LearningTable(database)
    mine = uuid.uuid4().hex
    for number in range(8):
        status = DeltaStatus.REVERTED if number in {0, 1} else DeltaStatus.APPLIED
        versions.open_delta(Delta(f"rbd_{mine}_{number}", f"run:{mine}", "learn", "test", status, 1_000 + number))
        versions.open_delta(Delta(f"delta_{mine}_{number}", "session:1", "undo", "test", status, 1_000 + number))
    for subject in (f"run:{mine}", None):
        seen: list[str] = []
        lengths: list[int] = []
        below: tuple[int, str] | None = (1_008, "")
        while below is not None:
            page, below = table.deltas(subject=subject, status=DeltaStatus.REVERTED, below=below, limit=1)
            seen += [each.id for each in page]
            lengths.append(len(page))
        assert [each for each in seen if mine in each] == [f"rbd_{mine}_1", f"rbd_{mine}_0"]
        assert lengths[:2] == [0, 0]  # the six newest stand, three looked at in each
