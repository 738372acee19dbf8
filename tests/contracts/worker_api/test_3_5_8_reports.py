"""Contract 000 §3.5.8 to §3.5.14: searches, timings and failures, their exports, and trends."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest

from codexmem.http.moments import iso
from codexmem.kernel.store.database import Database
from tests._support.ops_endpoint import OpsEndpoint, ops_endpoint
from tests._support.server import Server
from tests._support.waiting import eventually

REPORTS = ("search-traces", "session-timings", "failure-summary")


@pytest.fixture
def ops(database: Database, tenant: str) -> Iterator[OpsEndpoint]:
    with ops_endpoint(database, tenant) as endpoint:
        yield endpoint


def queries(ops: OpsEndpoint, **asked: object) -> list[str]:
    return [row["query"] for row in ops.rows("/api/ops/search-traces", **asked)["traces"]]


@pytest.mark.clause("000 §3.5.8", "a trace tells query, mode, source of vectors, duration and number of results")
def test_3_5_8_search_traces(ops: OpsEndpoint) -> None:
    ops.log.search("端口是多少", took_ms=12.5)
    ops.log.search("why", mode="lexical-only", sources={"lexical": 1}, notes=["no embedder"], took_ms=2.5)
    told = ops.rows("/api/ops/search-traces")
    plain, vectors = told["traces"]
    assert (vectors["query"], vectors["mode"], vectors["project"], vectors["results"]) == (
        "端口是多少", "hybrid", "shop", 2,
    )  # fmt: skip
    assert (vectors["vectorSource"], vectors["vectorHits"], vectors["durationMs"]) == ("sqlite", 2, 12.5)
    assert vectors["sources"] == {"lexical": 3, "neighbours": 1, "sqlite": 2}
    assert (plain["vectorSource"], plain["vectorHits"], plain["notes"]) == (None, 0, ["no embedder"])
    assert vectors["at"] == iso(vectors["atEpoch"])
    assert (told["count"], told["averageMs"], told["byMode"]) == (2, 7.5, {"lexical-only": 1, "hybrid": 1})
    assert (told["scanned"], told["truncated"]) == (2, False)


@pytest.mark.clause("000 §3.5.8", "filters by query, project, mode, from, to and limit")
def test_3_5_8_filters(ops: OpsEndpoint) -> None:
    for number in range(3):
        ops.log.search(f"Login {number}", project="demo")
    ops.log.search("端口", mode="lexical-only", project="商店")
    assert queries(ops, query="LOGIN", limit=2) == ["Login 2", "Login 1"]
    assert queries(ops, project="商店") == queries(ops, mode="lexical-only") == ["端口"]
    assert queries(ops, mode="hybrid", project="demo") == ["Login 2", "Login 1", "Login 0"]
    assert queries(ops, query="", project="", mode="") == ["端口", "Login 2", "Login 1", "Login 0"]


@pytest.mark.clause("000 §3.5.8", "from and to as epoch seconds, epoch milliseconds or ISO dates")
def test_3_5_8_times(ops: OpsEndpoint) -> None:
    ops.log.search("before")
    ops.log.clock.advance(10_000)
    middle = ops.log.clock.now_ms()
    ops.log.clock.advance(10_000)
    ops.log.search("after")
    east = iso(middle + 8 * 3_600_000).replace("Z", "+08:00")
    for at in (middle, middle // 1000, iso(middle), east, f"{east} ".replace("+", " ").strip()):
        assert queries(ops, from_=at) == ["after"], at
        assert queries(ops, to=at) == ["before"], at
    today = iso(middle)[:10]
    assert queries(ops, from_=today, to=today) == ["after", "before"]
    assert queries(ops, from_="2020-01-01", to="2020-12-31") == []


@pytest.mark.clause("000 §3.5.8", "a search over HTTP leaves a trace that can be read")
def test_3_5_8_a_search_leaves_its_trace(api: Server, project: str) -> None:
    api.post("/api/memory/save", {"text": "端口是 37877", "project": project})
    assert api.request("GET", f"/api/search?query=37877&project={project}").status == 200
    path = f"/api/ops/search-traces?project={project}"
    eventually(lambda: api.request("GET", path).json["count"] == 1)
    (row,) = api.request("GET", path).json["traces"]
    assert (row["query"], row["mode"]) == ("37877", "lexical-only")
    assert row["durationMs"] > 0


def fill_timings(ops: OpsEndpoint) -> None:
    ops.log.timing(1, total_ms=100)
    ops.log.timing(2, "summarize", total_ms=300)
    ops.log.timing(1, success=False, total_ms=200)


@pytest.mark.clause("000 §3.5.9", "each message by queueWait, model, index and total, with averages")
def test_3_5_9_session_timings(ops: OpsEndpoint) -> None:
    fill_timings(ops)
    told = ops.rows("/api/ops/session-timings")
    row = told["timings"][1]
    assert {name: row[name] for name in ("sessionDbId", "messageType", "success", "events")} == {
        "sessionDbId": 2, "messageType": "summarize", "success": True, "events": 3,
    }  # fmt: skip
    assert [row[f"{step}Ms"] for step in ("queueWait", "model", "index", "total")] == [10, 50.5, 4.5, 300]
    assert told["averages"] == {"queueWaitMs": 10, "modelMs": 50.5, "indexMs": 4.5, "totalMs": 200}
    assert (told["count"], told["succeeded"], told["failed"]) == (3, 2, 1)


@pytest.mark.clause("000 §3.5.9", "a row for each message, those that were extracted together as well")
def test_3_5_9_each_message_of_a_batch_has_its_row(api: Server, project: str) -> None:
    for number in range(3):
        api.post("/api/sessions/observations", {
            "contentSessionId": project, "tool_name": "Bash", "tool_input": {"command": f"make step-{number}"},
            "tool_response": "ok", "cwd": f"/w/{project}",
        })  # fmt: skip
    stop = {"contentSessionId": project, "last_assistant_message": "Done."}
    assert api.post("/api/sessions/summarize", stop).json == {"status": "queued"}
    session = api.post("/api/sessions/complete", {"contentSessionId": project}).json["sessionDbId"]
    path = f"/api/ops/session-timings?sessionDbId={session}"
    rows = eventually(lambda: rows if len(rows := api.request("GET", path).json["timings"]) >= 4 else [])
    assert sorted(row["messageType"] for row in rows) == ["observation"] * 3 + ["summarize"]
    assert all(row["totalMs"] >= row["queueWaitMs"] for row in rows)


@pytest.mark.clause("000 §3.5.9", "filters by sessionDbId, messageType, success, from, to and limit")
def test_3_5_9_filters(ops: OpsEndpoint) -> None:
    fill_timings(ops)

    def totals(**asked: object) -> list[int]:
        return [row["totalMs"] for row in ops.rows("/api/ops/session-timings", **asked)["timings"]]

    assert totals(sessionDbId=1) == [200, 100]
    assert totals(messageType="summarize") == [300]
    assert totals(success="false") == [200]
    assert totals(success="true", limit=1) == [300]
    assert totals(sessionDbId=1, success="true", messageType="observation") == [100]
    assert totals(to="2020-01-01") == []
    assert totals(from_="2020-01-01") == [200, 300, 100]


def fill_failures(ops: OpsEndpoint) -> None:
    ops.log.failure("timeout", kind="index.catch_up", session=None)
    ops.log.failure("rate_limit", session=1, error="模型太忙")
    ops.log.failure("rate_limit", kind="capture.summarize", session=2)


@pytest.mark.clause("000 §3.5.10", "failures counted by errorClass, and the newest in detail")
def test_3_5_10_failure_summary(ops: OpsEndpoint) -> None:
    fill_failures(ops)
    told = ops.rows("/api/ops/failure-summary")
    assert (told["total"], told["byErrorClass"]) == (3, {"rate_limit": 2, "timeout": 1})
    assert [(row["sessionDbId"], row["messageType"], row["kind"]) for row in told["failures"]] == [
        (2, "summarize", "capture.summarize"), (1, "observation", "capture.extract"), (None, None, "index.catch_up"),
    ]  # fmt: skip
    detail = told["failures"][1]
    assert (detail["error"], detail["errorClass"], detail["attempts"], detail["jobId"]) == (
        "模型太忙", "rate_limit", 5, 7,
    )  # fmt: skip


@pytest.mark.clause("000 §3.5.10", "filters by sessionDbId, errorClass, messageType, from, to and limit")
def test_3_5_10_filters(ops: OpsEndpoint) -> None:
    fill_failures(ops)

    def told(**asked: object) -> tuple[int, int]:
        answer = ops.rows("/api/ops/failure-summary", **asked)
        return answer["total"], len(answer["failures"])

    assert told(limit=1) == (3, 1)
    assert told(sessionDbId=2) == (1, 1)
    assert told(errorClass="rate_limit") == (2, 2)
    assert told(messageType="observation") == (1, 1)
    assert told(errorClass="rate_limit", messageType="summarize", sessionDbId=1) == (0, 0)
    assert told(to=1) == (0, 0)
    assert told(from_=1, to="2099-01-01") == (3, 3)


@pytest.mark.clause("000 §4.1", "limits, times, modes and types that cannot be are a 400 with a reason")
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("suffix", ["", "/export"])
def test_4_1_bad_questions(ops: OpsEndpoint, name: str, suffix: str) -> None:
    path = f"/api/ops/{name}{suffix}"
    bad: list[dict[str, object]] = [
        {"limit": 0}, {"limit": -1}, {"limit": "many"}, {"limit": 10_001}, {"from_": "yesterday"}, {"to": "1e99"},
        {"from_": "2026-13-01"}, {"from_": "2026-02-02", "to": "2026-02-01"},
    ]  # fmt: skip
    bad += [{"mode": "vector"}] if name == "search-traces" else [{"sessionDbId": "x"}, {"messageType": "prompt"}]
    bad += [{"success": "perhaps"}] if name == "session-timings" else []
    bad += [{"format": "xls"}] if suffix else [{"limit": 1001}]
    for asked in bad:
        reply = ops.get(path, **asked)
        assert (reply.status, bool(reply.json["error"])) == (400, True), asked


def fill(ops: OpsEndpoint) -> None:
    for number in range(5):
        ops.log.search(f'=cmd "端口" {number},')
    fill_timings(ops)
    fill_failures(ops)
    ops.log.failure(error="@SUM(A1)\r\nnext")


@pytest.mark.clause("000 §3.5.11", "searches as csv, the default, and as ndjson, with the filters of the list")
@pytest.mark.clause("000 §3.5.12", "timings as csv, the default, and as ndjson, with the filters of the list")
@pytest.mark.clause("000 §3.5.13", "failures as csv, the default, and as ndjson, with the filters of the list")
@pytest.mark.parametrize(
    "name, key, narrow",
    [
        ("search-traces", "traces", {"query": "3"}),
        ("session-timings", "timings", {"sessionDbId": 1}),
        ("failure-summary", "failures", {"errorClass": "rate_limit"}),
    ],
)
def test_3_5_11_exports(ops: OpsEndpoint, name: str, key: str, narrow: dict[str, object]) -> None:
    fill(ops)
    for asked in ({}, narrow, {"limit": 2}):
        listed = ops.rows(f"/api/ops/{name}", **asked)[key]
        lines = ops.get(f"/api/ops/{name}/export", format="ndjson", **asked)
        assert [json.loads(line) for line in lines.body.decode().splitlines()] == listed
        sheet = ops.get(f"/api/ops/{name}/export", **asked)
        assert sheet.body == ops.get(f"/api/ops/{name}/export", format="csv", **asked).body
        heading, *rows = csv.reader(io.StringIO(sheet.body.decode(), newline=""), strict=True)
        assert len(rows) == len(listed) > 0
        assert heading == list(listed[0])
        assert all(len(row) == len(heading) for row in rows)
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for row in rows for cell in row)


@pytest.mark.clause("000 §3.5.11", "a file to download, never to be shown or guessed at")
@pytest.mark.clause("000 §3.5.12", "a file to download, never to be shown or guessed at")
@pytest.mark.clause("000 §3.5.13", "a file to download, never to be shown or guessed at")
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("form, media", [("csv", "text/csv"), ("ndjson", "application/x-ndjson")])
def test_3_5_11_download_headers(ops: OpsEndpoint, name: str, form: str, media: str) -> None:
    reply = ops.get(f"/api/ops/{name}/export", format=form)
    assert reply.status == 200
    assert (reply.header("content-type") or "").startswith(media)
    assert reply.header("content-disposition") == f'attachment; filename="{name}.{form}"'
    assert reply.header("x-content-type-options") == "nosniff"
    assert reply.header("cache-control") == "no-store"


@pytest.mark.clause("000 §3.5.14", "searchCount, avgSearchMs, queueCount, avgQueueTotalMs, failureCount by bucket")
def test_3_5_14_trends(ops: OpsEndpoint) -> None:
    ops.log.search(took_ms=10)
    ops.log.search(took_ms=15)
    ops.log.timing(total_ms=300)
    ops.log.clock.advance(61_000)
    ops.log.failure()
    told = ops.rows("/api/ops/trends")
    assert (told["windowSec"], told["bucketSec"], len(told["buckets"]), told["truncated"]) == (3600, 60, 60, False)
    busy, failing = told["buckets"][-2:]
    figures = ("searchCount", "avgSearchMs", "queueCount", "avgQueueTotalMs", "failureCount")
    assert [busy[name] for name in figures] == [2, 12.5, 1, 300, 0]
    assert [failing[name] for name in figures] == [0, None, 0, None, 1]
    assert busy["at"] == iso(busy["atEpoch"])
    assert failing["atEpoch"] - busy["atEpoch"] == 60_000


@pytest.mark.clause("000 §3.5.14", "windowSec from 60 to 86400 and bucketSec from 10 to 3600; anything else is a 400")
def test_3_5_14_ranges(ops: OpsEndpoint) -> None:
    for asked, count in (({"windowSec": 60, "bucketSec": 10}, 6), ({"windowSec": 86_400, "bucketSec": 3_600}, 24),
                         ({"windowSec": 86_400, "bucketSec": 10}, 8_640), ({"windowSec": 90}, 2)):  # fmt: skip
        assert len(ops.rows("/api/ops/trends", **asked)["buckets"]) == count
    for wrong in ({"windowSec": 59}, {"windowSec": 86_401}, {"bucketSec": 9}, {"bucketSec": 3_601}, {"windowSec": "x"},
                  {"bucketSec": 10.5}):  # fmt: skip
        assert ops.get("/api/ops/trends", **wrong).status == 400, wrong


def test_trends_of_a_day_before(ops: OpsEndpoint) -> None:
    ops.log.search(took_ms=10)
    then = ops.log.clock.now_ms()
    ops.log.clock.advance(2 * 86_400_000)
    ops.log.search(took_ms=20)
    for asked in (then, iso(then)):
        told = ops.rows("/api/ops/trends", windowSec=86_400, bucketSec=3_600, to=asked)
        assert [bucket["searchCount"] for bucket in told["buckets"]] == [0] * 23 + [1]
    assert ops.get("/api/ops/trends", to="yesterday").status == 400


@pytest.mark.clause("000 §3.5.14", "a running server answers with its own figures")
def test_3_5_14_trends_of_a_running_server(api: Server) -> None:
    told = api.request("GET", "/api/ops/trends?windowSec=600").json
    assert len(told["buckets"]) == 10
