"""Contract 000 §3.5.3 to §3.5.7: the indexes, the model's quality, failed jobs, Chroma's copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database
from tests._support import vectors as support
from tests._support.chroma import ChromaServer
from tests._support.ops_endpoint import OpsEndpoint, ops_endpoint
from tests._support.server import Server
from tests._support.toy_embedder import ToyEmbedder
from tests.jobs.stores import TENANT, empty_store

METRICS = ("success", "parse_fail", "schema_fail", "repair_fail", "fallback_used")


@pytest.fixture
def ops(database: Database, tenant: str) -> Iterator[OpsEndpoint]:
    with ops_endpoint(database, tenant, embedder=ToyEmbedder()) as endpoint:
        yield endpoint


@pytest.fixture
def alone(engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[OpsEndpoint]:
    """A database in which no worker of a server takes the jobs."""
    with empty_store(engine_name, tmp_path, request) as parts, ops_endpoint(parts.db, TENANT) as endpoint:
        yield endpoint


@pytest.fixture
def beside_chroma(database: Database, tenant: str, chroma_server: ChromaServer) -> Iterator[OpsEndpoint]:
    vectors = support.build("hybrid", database, chroma_server.url)
    with ops_endpoint(database, tenant, embedder=ToyEmbedder(), vectors=vectors) as endpoint:
        yield endpoint


@pytest.mark.clause("000 §3.5.3", "index-status tells the mode, the store's embeddings and that there is no Chroma")
def test_3_5_3_index_status_of_the_store_alone(ops: OpsEndpoint, engine_name: str) -> None:
    ops.write("端口是 37877")
    ops.store.real.catch_up()
    assert ops.rows("/api/ops/index-status") == {
        "mode": "sqlite", "model": "toy", "dimension": 32,
        "sqlite": {"used": True, "engine": engine_name, "embeddings": 1},
        "chroma": {"configured": False, "reachable": None, "embeddings": None, "error": None},
        "waiting": 0, "complete": True, "formerModels": [], "notes": [],
    }  # fmt: skip


@pytest.mark.clause("000 §3.5.3", "index-status tells Chroma's embeddings, and when it cannot be reached")
@pytest.mark.parametrize("mode", ["chroma", "hybrid"])
def test_3_5_3_index_status_with_chroma(database: Database, tenant: str, mode: str) -> None:
    with ChromaServer() as server:
        vectors = support.build(mode, database, server.url)
        with ops_endpoint(database, tenant, embedder=ToyEmbedder(), vectors=vectors) as ops:
            ops.write("one")
            ops.store.real.catch_up()
            told = ops.rows("/api/ops/index-status")
            assert told["mode"] == mode
            assert told["sqlite"]["embeddings"] == (1 if mode == "hybrid" else None)
            assert told["chroma"] == {"configured": True, "reachable": True, "embeddings": 1, "error": None}
            server.stop()
            told = ops.rows("/api/ops/index-status")
            assert (told["chroma"]["reachable"], told["chroma"]["embeddings"]) == (False, None)
            assert "does not answer" in told["chroma"]["error"]
            assert told["notes"]
        support.close(server.url)


@pytest.mark.clause("000 §3.5.3", "a running server answers index-status")
def test_3_5_3_index_status_of_a_running_server(api: Server) -> None:
    reply = api.request("GET", "/api/ops/index-status")
    assert reply.status == 200
    assert reply.json["mode"] == "sqlite"
    assert reply.json["chroma"]["configured"] is False


@pytest.mark.clause("000 §3.5.4", "five counts for each of observation and summary, zero where nothing happened")
def test_3_5_4_agent_metrics(ops: OpsEndpoint) -> None:
    assert ops.rows("/api/ops/agent-metrics") == {
        "observation": dict.fromkeys(METRICS, 0), "summary": dict.fromkeys(METRICS, 0),
    }  # fmt: skip
    ops.tallies.add({"agent.observation.success": 2, "agent.observation.repair_fail": 1})
    ops.tallies.add({"agent.summary.fallback_used": 3, "agent.summary.schema_fail": 1})
    told = ops.rows("/api/ops/agent-metrics")
    assert told["observation"] == {
        "success": 2, "parse_fail": 0, "schema_fail": 0, "repair_fail": 1, "fallback_used": 0,
    }  # fmt: skip
    assert told["summary"] == {"success": 0, "parse_fail": 0, "schema_fail": 1, "repair_fail": 0, "fallback_used": 3}


@pytest.mark.clause("000 §3.5.5", "reset sets every count to zero")
def test_3_5_5_reset(ops: OpsEndpoint) -> None:
    ops.tallies.add({f"agent.{work}.{name}": 5 for work in ("observation", "summary") for name in METRICS})
    told = ops.post("/api/ops/agent-metrics/reset")
    assert (told.status, told.json["success"]) == (200, True)
    assert ops.rows("/api/ops/agent-metrics") == {
        "observation": dict.fromkeys(METRICS, 0), "summary": dict.fromkeys(METRICS, 0),
    }  # fmt: skip


@pytest.mark.clause("000 §3.5.6", "success and how many were retried, of one sessionDbId or of all")
def test_3_5_6_retry_failed(alone: OpsEndpoint) -> None:
    ops = alone
    for session in (1, 1, 2):
        ops.fail_one(session)
    assert ops.post("/api/ops/retry-failed", {"sessionDbId": 1}).json == {"success": True, "retried": 2, "more": False}
    assert ops.post("/api/ops/retry-failed", {}).json == {"success": True, "retried": 1, "more": False}
    assert ops.post("/api/ops/retry-failed").json == {"success": True, "retried": 0, "more": False}


@pytest.mark.clause("000 §4.1", "a sessionDbId that is no number is a 400")
@pytest.mark.parametrize("value", ["1", 1.5, True, 0, -1, [1], 2**63])
def test_3_5_6_a_session_is_a_number(ops: OpsEndpoint, value: object) -> None:
    reply = ops.post("/api/ops/retry-failed", {"sessionDbId": value})
    assert (reply.status, bool(reply.json["error"])) == (400, True)


@pytest.mark.clause("000 §3.5.7", "without Chroma a backfill is skipped")
def test_3_5_7_backfill_without_chroma(ops: OpsEndpoint) -> None:
    ops.write("one")
    told = ops.post("/api/ops/backfill/chroma", {}).json
    assert told.pop("reason")
    assert told == {
        "success": True, "observations": 0, "summaries": 0, "prompts": 0, "skipped": True, "next": None,
    }  # fmt: skip


@pytest.mark.clause("000 §3.5.7", "a backfill sends observations, summaries and prompts of a project, up to a limit")
def test_3_5_7_backfill(beside_chroma: OpsEndpoint) -> None:
    ops = beside_chroma
    seqs = [ops.write(f"观察 {number}") for number in range(3)]
    seqs += [ops.write("done", Kind.SUMMARY), ops.write("why?", Kind.PROMPT)]
    ops.write("elsewhere", project="other")
    told = ops.post("/api/ops/backfill/chroma", {"project": "shop"}).json
    assert told == {
        "success": True, "observations": 3, "summaries": 1, "prompts": 1, "skipped": False, "next": None,
    }  # fmt: skip
    chroma = ops.vectors.indexes[1]  # type: ignore[attr-defined]
    assert chroma.count("toy") == 5
    assert set(chroma.versions("toy", seqs)) == set(seqs)
    first = ops.post("/api/ops/backfill/chroma", {"limit": 4}).json
    rest = ops.post("/api/ops/backfill/chroma", {"limit": 4, "after": first["next"]}).json
    assert rest["next"] is None
    assert sum(part[name] for part in (first, rest) for name in ("observations", "summaries", "prompts")) == 6


@pytest.mark.clause("000 §4.1", "a limit out of range or a place that is none is a 400")
@pytest.mark.parametrize("body", [{"limit": 0}, {"limit": 10_001}, {"limit": "5"}, {"after": "x"}, {"project": 5}])
def test_3_5_7_bad_values(beside_chroma: OpsEndpoint, body: object) -> None:
    assert beside_chroma.post("/api/ops/backfill/chroma", body).status == 400


@pytest.mark.clause("000 §3.5.7", "a backfill to a Chroma that is down is no success")
def test_3_5_7_backfill_while_chroma_is_down(sqlite_database: Database) -> None:
    with ChromaServer() as server:
        vectors = support.chroma(sqlite_database, server.url)
        with ops_endpoint(sqlite_database, "local", embedder=ToyEmbedder(), vectors=vectors) as ops:
            ops.write("one")
            server.stop()
            reply = ops.post("/api/ops/backfill/chroma", {})
            assert (reply.status, "Chroma" in reply.json["error"]) == (503, True)
        support.close(server.url)
