"""Beyond the contract, for people who run the product: why a search answered so, how everything stands, backups; and
every answer of the operator's paths is as it is described."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.store.database import Database, acting_as
from codexmem.operations.wire import dashboard
from codexmem.operations.wire import ops as answers
from tests._support.ops_endpoint import OpsEndpoint, ops_endpoint
from tests._support.server import Server
from tests._support.toy_embedder import ToyEmbedder


@pytest.fixture
def ops(database: Database, tenant: str) -> Iterator[OpsEndpoint]:
    with ops_endpoint(database, tenant, embedder=ToyEmbedder()) as endpoint:
        yield endpoint


def traced(ops: OpsEndpoint, query: str, **fields: Any) -> Any:
    """The newest trace whole, after this search."""
    ops.store.search(query, **fields)
    ops.store.real.traces.flush()
    newest = ops.rows("/api/ops/search-traces", limit=1)["traces"][0]
    whole = ops.rows(f"/api/ops/search-traces/{newest['id']}")
    assert whole.items() >= newest.items()
    dashboard.TraceAnswer.model_validate(whole)
    return whole


def test_a_trace_tells_why_each_result_ranked_where_it_did(ops: OpsEndpoint) -> None:
    seq = ops.write("端口是 37877，服务器在这里监听")
    ops.write("the port may be changed in the settings 端口", Kind.NOTE)
    ops.store.real.catch_up()
    told = traced(ops, "服务器 端口")
    assert (told["explained"], told["unit"], told["offset"], told["asOfEpoch"]) == (True, "memory", 0, None)
    first, second = told["ranked"]
    by_seq = {each["seq"]: each for each in (first, second)}
    mine = by_seq[seq]
    assert (mine["ref"], mine["kind"], mine["gone"]) == (f"#{seq}", "observation", False)
    assert mine["title"].startswith("端口是 37877")
    assert mine["lexical"]["rank"] == 1
    assert mine["vector"]["rank"] in {1, 2}
    assert [first["rank"], second["rank"]] == [1, 2]
    assert first["score"] >= second["score"]
    for each in (first, second):
        assert each["sum"] == pytest.approx(sum(factor["share"] for factor in each["factors"]), abs=0.002)
        shares = [abs(factor["share"]) for factor in each["factors"]]
        assert shares == sorted(shares, reverse=True)
    groups = {factor["name"]: factor["group"] for each in (first, second) for factor in each["factors"]}
    assert (groups["words"], groups["meaning"]) == ("lexical", "vector")
    assert set(groups.values()) >= {"lexical", "vector", "boost"}


def test_what_was_forgotten_since_has_no_name_any_more(ops: OpsEndpoint) -> None:
    seq = ops.write("忘记 这一句")
    told = traced(ops, "忘记")
    ops.store.real.history.forget([seq], WriteContext("test"))
    (gone,) = ops.rows(f"/api/ops/search-traces/{told['id']}")["ranked"]
    assert (gone["gone"], gone["ref"], gone["title"], gone["kind"]) == (True, None, None, None)
    assert gone["score"] == told["ranked"][0]["score"]


def test_pieces_of_documents_are_not_named(ops: OpsEndpoint) -> None:
    ops.store.write("wolframite holds tungsten", kind=Kind.CHUNK, title="钨矿")
    told = traced(ops, "wolframite", kinds=frozenset({Kind.CHUNK}))
    (piece,) = told["ranked"]
    assert (piece["kind"], piece["title"], piece["ref"], piece["gone"]) == ("chunk", None, None, False)


def test_old_traces_tell_their_scores_alone(ops: OpsEndpoint) -> None:
    ops.log.search("old", top=[[999, 0.5], "odd", [1]], kinds=["note"], unit="memory")
    number = ops.rows("/api/ops/search-traces", query="old")["traces"][0]["id"]
    told = ops.rows(f"/api/ops/search-traces/{number}")
    dashboard.TraceAnswer.model_validate(told)
    assert told["explained"] is False
    (only,) = told["ranked"]
    assert (only["seq"], only["score"], only["sum"], only["factors"]) == (999, 0.5, None, [])


def test_only_traces_are_found_by_a_number(ops: OpsEndpoint) -> None:
    ops.log.timing()
    other = ops.rows("/api/ops/session-timings")["timings"][0]["id"]
    for number, status in ((other, 404), (2**62, 404), (0, 400), ("x", 400), (2**64, 400)):
        assert ops.get(f"/api/ops/search-traces/{number}").status == status, number


def test_traces_of_other_tenants_are_not_found(postgres_database: Database) -> None:
    with ops_endpoint(postgres_database, "standing-a") as mine, acting_as("standing-a"):
        mine.log.search("mine")
        number = mine.rows("/api/ops/search-traces")["traces"][0]["id"]
        assert mine.get(f"/api/ops/search-traces/{number}").status == 200
    with ops_endpoint(postgres_database, "standing-b") as theirs:
        assert theirs.get(f"/api/ops/search-traces/{number}").status == 404


def test_the_operators_answers_are_as_described(ops: OpsEndpoint) -> None:
    ops.log.search("端口")
    ops.log.timing(1)
    ops.log.failure(error="坏了")
    described: list[tuple[str, type[answers.OpsAnswer]]] = [
        ("search-traces", answers.TracesAnswer), ("session-timings", answers.TimingsAnswer),
        ("failure-summary", answers.FailuresAnswer), ("trends", answers.TrendsAnswer),
        ("index-status", answers.IndexStatus), ("agent-metrics", answers.AgentMetrics),
        ("system", dashboard.SystemAnswer), ("backups", dashboard.BackupsAnswer),
    ]  # fmt: skip
    for path, model in described:
        model.model_validate(ops.rows(f"/api/ops/{path}"))
    for path, model in (
        ("agent-metrics/reset", answers.AgentMetricsReset), ("retry-failed", answers.RetriedAnswer),
        ("backfill/chroma", answers.BackfilledAnswer),
    ):  # fmt: skip
        model.model_validate(ops.post(f"/api/ops/{path}", {}).json)


def test_the_system_at_a_glance(ops: OpsEndpoint, database: Database) -> None:
    ops.fail_one(1)
    told = ops.rows("/api/ops/system")
    assert (told["engine"]["name"], told["version"], told["data"]) == (database.engine.name, "test", None)
    assert told["engine"]["schema"] >= "0010"
    assert told["queue"]["failed"] >= 1
    assert told["budget"] == {"day": "2026-11-15", "spentTokens": 120, "limitTokens": 1_000, "leftTokens": 880}
    assert told["worker"]["runningJobs"] == 1
    assert told["index"] == ops.rows("/api/ops/index-status")


def test_backups_are_refused_where_tenants_share_the_store(ops: OpsEndpoint) -> None:
    shelf = ops.rows("/api/ops/backups")
    assert (shelf["available"], shelf["backups"], shelf["directory"]) == (False, [], None)
    for path in ("/api/ops/backups", "/api/ops/backups/codexmem-1/verify"):
        reply = ops.post(path)
        assert (reply.status, "codexmem backup" in reply.json["hint"]) == (409, True)


def test_a_running_server_tells_who_reports_and_when_each_last_wrote(api: Server, project: str) -> None:
    for platform, session in (
        ("claude-code", f"会话-{project}"),
        ("cursor", f"s-2-{project}"),
        ("claude-code", project),
    ):
        body = {"contentSessionId": session, "project": f"商店-{project}", "prompt": "你好", "platform": platform}
        assert api.post("/api/sessions/init", body).status == 200
        used = {"tool_name": "Bash", "tool_input": {"command": f"ls {session}"}, "platform": platform}
        assert api.post("/api/sessions/observations", {"contentSessionId": session, **used}).status == 200
    told = api.request("GET", "/api/ops/system").json
    dashboard.SystemAnswer.model_validate(told)
    agents = {each["platform"]: each for each in told["agents"]}
    assert {"claude-code", "cursor"} <= set(agents)
    newest = agents["claude-code"]
    assert (newest["sessionKey"], newest["project"]) == (project, f"商店-{project}")
    assert newest["sessionStatus"] == "active"
    assert newest["eventsToday"] >= agents["cursor"]["eventsToday"] >= 2
    assert newest["sessionsToday"] >= 2
    stamps = [each["lastWroteEpoch"] for each in told["agents"]]
    assert stamps == sorted(stamps, reverse=True)
    for path, model in (
        ("health", dashboard.HealthAnswer), ("readiness", dashboard.ReadinessAnswer),
        ("version", dashboard.VersionAnswer),
    ):  # fmt: skip
        model.model_validate(api.request("GET", f"/api/{path}").json)
    assert (told["phase"], told["worker"]["enabled"], told["worker"]["running"]) == ("ready", True, True)
    if api.key is None:
        assert told["data"]["totalBytes"] >= told["data"]["databaseBytes"] > 0
    else:
        assert told["data"] is None  # tenants share the store


def test_a_backup_is_made_and_checked_while_the_server_runs(api: Server, project: str) -> None:
    if api.key is not None:
        assert api.post("/api/ops/backups", {}).status == 409  # it would hold every tenant's memories
        return
    api.post("/api/memory/save", {"text": "端口是 37877", "project": project})
    made = api.post("/api/ops/backups", {})
    assert made.status == 201, made.body
    dashboard.BackupMade.model_validate(made.json)
    name = made.json["backup"]["name"]
    checked = api.post(f"/api/ops/backups/{name}/verify", {})
    dashboard.BackupVerified.model_validate(checked.json)
    assert checked.json["verified"]["ok"] is True
    shelf = api.request("GET", "/api/ops/backups").json
    dashboard.BackupsAnswer.model_validate(shelf)
    (row,) = [each for each in shelf["backups"] if each["name"] == name]
    assert (row["memories"] >= 1, row["verified"]["ok"], row["cause"]) == (True, True, "manual")
    assert (Path(shelf["directory"]) / name / "manifest.json").is_file()
    for wrong in ("..%2F..%2Fetc", "%2e%2e", "a%00b", "nowhere"):
        assert api.post(f"/api/ops/backups/{wrong}/verify", {}).status in {400, 404}, wrong
    words = shlex.split(row["restore"]["check"])
    assert words[0] == "codexmem"
    ran = subprocess.run([sys.executable, "-m", "codexmem.cli", *words[1:]], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
