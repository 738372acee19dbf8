"""Contract 000 §3.3.8 to §3.3.10: projects, figures, waiting work."""

from __future__ import annotations

import pytest

from codexmem import __version__
from codexmem.domain.job import NewJob
from codexmem.store.database import Database
from codexmem.store.jobs import Jobs
from tests._support.recall_door import Door
from tests._support.server import Server


@pytest.mark.clause("000 §3.3.8", "projects, the one written to last first")
def test_3_3_8_projects_by_last_activity(door: Door) -> None:
    assert door.get("/api/projects").json == {"projects": []}
    door.observe("a", project="alpha", minute=5)
    door.ask("b", project="测试", minute=7)
    door.summarize("c", project="alpha", minute=9)
    door.observe("d", project="zeta", minute=1)
    door.observe("e", project="", minute=99)
    assert door.get("/api/projects").json == {"projects": ["alpha", "测试", "zeta"]}


@pytest.mark.clause("000 §3.3.9", "figures of the worker and of the database")
def test_3_3_9_stats(door: Door) -> None:
    door.observe("a")
    door.observe("b")
    door.summarize("c")
    door.ask("d")
    told = door.get("/api/stats").json
    worker = told["worker"]
    assert (worker["version"], worker["activeSessions"], worker["sseClients"], worker["port"]) == ("test", 0, 0, 37877)
    assert worker["uptime"] >= 0
    database = told["database"]
    assert (database["observations"], database["sessions"], database["summaries"]) == (2, 0, 1)
    # Counted at most once in ten seconds.
    door.observe("e")
    assert door.get("/api/stats").json["database"]["observations"] == 2


@pytest.mark.clause("000 §3.3.9", "a running server tells its version and, to its owner alone, where the store lies")
def test_3_3_9_stats_of_a_running_server(api: Server) -> None:
    told = api.request("GET", "/api/stats").json
    assert (told["worker"]["version"], told["worker"]["port"]) == (__version__, api.port)
    if api.key is None:
        assert told["database"]["path"] == str(api.data_dir / "codexmem.db")
        assert told["database"]["size"] > 0
    else:
        assert "path" not in told["database"]
        assert told["database"]["size"] is None


@pytest.mark.clause("000 §3.3.10", "whether captured work waits, and how much")
def test_3_3_10_processing_status(door: Door, database: Database) -> None:
    assert door.get("/api/processing-status").json == {"isProcessing": False, "queueDepth": 0}
    for kind in ("capture.extract", "capture.extract", "housekeeping.other"):
        Jobs(database).enqueue(NewJob(kind, {}), now_ms=1)
    assert door.get("/api/processing-status").json == {"isProcessing": True, "queueDepth": 2}
