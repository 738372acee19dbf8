"""Contract 000 §3.3.8 to §3.3.10: projects, figures, waiting work."""

from __future__ import annotations

import pytest

from codexmem import __version__
from codexmem.kernel.model.job import NewJob
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.jobs import Jobs
from tests._support.recall_endpoint import Endpoint
from tests._support.server import Server


@pytest.mark.clause("000 §3.3.8", "projects, the one written to last first")
def test_3_3_8_projects_by_last_activity(endpoint: Endpoint) -> None:
    assert endpoint.get("/api/projects").json == {"projects": []}
    endpoint.observe("a", project="alpha", minute=5)
    endpoint.ask("b", project="测试", minute=7)
    endpoint.summarize("c", project="alpha", minute=9)
    endpoint.observe("d", project="zeta", minute=1)
    endpoint.observe("e", project="", minute=99)
    assert endpoint.get("/api/projects").json == {"projects": ["alpha", "测试", "zeta"]}


@pytest.mark.clause("000 §3.3.9", "figures of the worker and of the database")
def test_3_3_9_stats(endpoint: Endpoint) -> None:
    endpoint.observe("a")
    endpoint.observe("b")
    endpoint.summarize("c")
    endpoint.ask("d")
    told = endpoint.get("/api/stats").json
    worker = told["worker"]
    assert (worker["version"], worker["activeSessions"], worker["sseClients"], worker["port"]) == ("test", 0, 0, 37877)
    assert worker["uptime"] >= 0
    database = told["database"]
    assert (database["observations"], database["sessions"], database["summaries"]) == (2, 0, 1)
    # Counted at most once in ten seconds.
    endpoint.observe("e")
    assert endpoint.get("/api/stats").json["database"]["observations"] == 2


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
def test_3_3_10_processing_status(endpoint: Endpoint, database: Database) -> None:
    assert endpoint.get("/api/processing-status").json == {"isProcessing": False, "queueDepth": 0}
    for kind in ("capture.extract", "capture.extract", "housekeeping.other"):
        Jobs(database).enqueue(NewJob(kind, {}), now_ms=1)
    assert endpoint.get("/api/processing-status").json == {"isProcessing": True, "queueDepth": 2}
