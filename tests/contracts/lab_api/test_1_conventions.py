"""Contract 002 §0 and §1: prefix, health, times and ids, errors, idempotency, pages."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from tests._support.lab_endpoint import LabEndpoint
from tests._support.server import Reply


def error_of(reply: Reply) -> dict[str, Any]:
    """The envelope, which must be all there is."""
    body = reply.json
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "details"}
    assert isinstance(body["error"]["details"], dict)
    assert body["error"]["message"]
    assert reply.headers["content-type"] == "application/json"
    found: dict[str, Any] = body["error"]
    return found


@pytest.mark.clause("002 §1.1", "healthz answers with and without the prefix, also to a probe without a key")
@pytest.mark.parametrize("path", ["/healthz", "/api/v1/healthz"])
def test_health(lab: LabEndpoint, path: str) -> None:
    key, lab.key = lab.key, None
    try:
        reply = lab.request("GET", path)
    finally:
        lab.key = key
    assert (reply.status, reply.json["status"]) == (200, "ok")
    assert error_of(lab.request("POST", path, {}))["code"] == "method_not_allowed"


@pytest.mark.clause("002 §1.2", "the answer has the same shape whether a key is asked for (PostgreSQL) or not (SQLite)")
def test_authentication_changes_no_answer(lab: LabEndpoint) -> None:
    assert set(lab.get("/batches").json) == {"items", "next_cursor", "has_more"}
    if lab.key is not None:
        key, lab.key = lab.key, "wrong"
        try:
            assert error_of(lab.get("/batches"))["code"] == "unauthorized"
        finally:
            lab.key = key


@pytest.mark.clause("002 §1.3", "times are epoch seconds; ids have their prefix: batch_ run_ evt_ cancel_")
def test_times_and_ids(lab: LabEndpoint) -> None:
    before = time.time()
    made = lab.batch()
    ended = lab.ended(made["batch"]["batch_id"])
    after = time.time()
    assert before - 1 <= ended["created_at"] <= ended["started_at"] <= ended["ended_at"] <= after + 1
    run_id = made["runs"][0]["run_id"]
    event = lab.get(f"/runs/{run_id}/events").json["items"][0]
    canceled = lab.batch(2)["batch"]["batch_id"]
    cancel = lab.post(f"/api/v1/batches/{canceled}/cancel", {}).json.get("cancel_id", "cancel_" + "0" * 32)
    for value, prefix in ((ended["batch_id"], "batch"), (run_id, "run"), (event["event_id"], "evt"),
                          (cancel, "cancel")):  # fmt: skip
        assert re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", value)
    assert before - 1 <= event["created_at"] <= after + 1


@pytest.mark.clause("002 §1.4", "every error is one envelope: error code message details")
@pytest.mark.parametrize(
    "method,path,body,status,code",
    [
        ("GET", "/batches/batch_x", None, 404, "not_found"),
        ("GET", "/runs/run_x", None, 404, "not_found"),
        ("GET", "/runs/run_x/events", None, 404, "not_found"),
        ("GET", "/runs/run_x/events/evt_x", None, 404, "not_found"),
        ("GET", "/runs/run_x/output", None, 404, "not_found"),
        ("GET", "/runs?batch_id=batch_x", None, 404, "not_found"),
        ("POST", "/batches/batch_x/cancel", {}, 404, "not_found"),
        ("POST", "/runs/run_x/cancel", {}, 404, "not_found"),
        ("GET", "/nothing/here", None, 404, "not_found"),
        ("DELETE", "/batches", None, 405, "method_not_allowed"),
        ("POST", "/batches", {}, 400, "invalid_argument"),
        ("POST", "/batches", [], 400, "invalid_argument"),
        ("POST", "/batches", b"{", 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "  "}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x" * 20_001}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "n_runs": 0}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "n_runs": 1001}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "n_runs": "many"}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "temperature": 3}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "extra": []}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "schema_version": 0}, 400, "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "overrides": {"kb_principles_dir": "/etc"}}, 400,
         "invalid_argument"),
        ("POST", "/batches", {"user_request": "x", "overrides": {"openai_api_base": "http://evil.test/v1"}}, 400,
         "invalid_argument"),
        ("GET", "/batches?limit=0", None, 400, "invalid_argument"),
        ("GET", "/batches?limit=201", None, 400, "invalid_argument"),
        ("GET", "/batches?limit=ten", None, 400, "invalid_argument"),
        ("GET", "/batches?status=paused", None, 400, "invalid_argument"),
        ("GET", "/batches?cursor=garbage", None, 400, "invalid_argument"),
        ("GET", "/runs?cursor=%E7%89%8C", None, 400, "invalid_argument"),
        ("GET", "/runs?status=paused", None, 400, "invalid_argument"),
    ],
)  # fmt: skip
def test_errors(lab: LabEndpoint, method: str, path: str, body: object, status: int, code: str) -> None:
    reply = lab.request(method, f"/api/v1{path}", body)
    assert (reply.status, error_of(reply)["code"]) == (status, code)


@pytest.mark.clause("002 §1.4", "refusals before routing use the envelope too, and bring a hint in their details")
def test_refusals_of_the_guard(lab: LabEndpoint) -> None:
    other_site = lab.request("GET", "/api/v1/batches", headers={"Sec-Fetch-Site": "cross-site"})
    assert (other_site.status, error_of(other_site)["code"]) == (403, "forbidden")
    other_type = lab.request("POST", "/api/v1/batches", b"a=b", {"Content-Type": "text/plain"})
    assert (other_type.status, error_of(other_type)["code"]) == (415, "unsupported_media_type")
    other_host = lab.request("GET", "/healthz", headers={"Host": "evil.test"})
    assert (other_host.status, error_of(other_host)["code"]) == (421, "misdirected")
    assert error_of(other_host)["details"]["hint"]


@pytest.mark.clause("002 §1.5", "Idempotency-Key: the same body gets the same answer, another body a conflict")
def test_idempotency(lab: LabEndpoint) -> None:
    body = {"user_request": "一次就好 once only", "n_runs": 3, "dry_run": True}
    key = {"Idempotency-Key": f"key-{time.monotonic_ns()}"}
    first = lab.post("/api/v1/batches", body, key)
    again = lab.post("/api/v1/batches", dict(reversed(body.items())), key)
    assert (first.status, again.status) == (200, 200)
    assert first.json == again.json
    other = lab.post("/api/v1/batches", body | {"n_runs": 4}, key)
    assert (other.status, error_of(other)["code"]) == (409, "conflict")
    found = [each for page in lab.pages("/batches?q=once%20only", limit=50) for each in page]
    assert [each["batch_id"] for each in found] == [first.json["batch"]["batch_id"]]
    without = {lab.post("/api/v1/batches", body).json["batch"]["batch_id"] for _ in range(2)}
    assert len(without) == 2
    assert error_of(lab.post("/api/v1/batches", body, {"Idempotency-Key": "a b"}))["code"] == "invalid_argument"


@pytest.mark.clause(
    "002 §1.6", "pages: limit 50 unless said, cursor, items, next_cursor, has_more; inserts move nothing"
)
def test_pages_do_not_move(lab: LabEndpoint) -> None:
    mark = f"页{time.monotonic_ns()}"
    old = [lab.batch(request=f"{mark} {n}")["batch"]["batch_id"] for n in range(7)]
    first = lab.get(f"/batches?q={mark_of(mark)}&limit=3").json
    assert (len(first["items"]), first["has_more"]) == (3, True)
    new = lab.batch(request=f"{mark} later")["batch"]["batch_id"]
    rest, cursor = [], first["next_cursor"]
    while cursor:
        page = lab.get(f"/batches?q={mark_of(mark)}&limit=3&cursor={cursor}").json
        rest += page["items"]
        cursor = page["next_cursor"]
    seen = [each["batch_id"] for each in first["items"] + rest]
    assert seen == old[::-1]
    assert new not in seen
    assert error_of(lab.get(f"/runs?cursor={first['next_cursor']}"))["code"] == "invalid_argument"
    changed = first["next_cursor"][:-2] + ("AA" if not first["next_cursor"].endswith("AA") else "BB")
    assert error_of(lab.get(f"/batches?q={mark_of(mark)}&cursor={changed}"))["code"] == "invalid_argument"


def mark_of(text: str) -> str:
    """Text as it stands in an address."""
    return "".join(f"%{byte:02X}" for byte in text.encode())


@pytest.mark.clause("002 §1.6", "without a limit a page has 50 items, and no more than 200 may be asked for")
def test_a_page_of_fifty(lab: LabEndpoint) -> None:
    batch_id = lab.batch(60)["batch"]["batch_id"]
    assert len(lab.get(f"/runs?batch_id={batch_id}").json["items"]) == 50
    assert len(lab.get(f"/runs?batch_id={batch_id}&limit=200").json["items"]) == 60
    lab.post(f"/api/v1/batches/{batch_id}/cancel", {})


@pytest.mark.clause("002 §0", "schema_version and extra are kept, bounded and given back; unknown fields are ignored")
def test_extension_slots(lab: LabEndpoint) -> None:
    extra = {"实验": {"室": [1, 2.5, None, True, {"深": "度"}]}}
    made = lab.batch(schema_version=2, extra=extra, field_of_a_newer_client=1)["batch"]
    assert (made["schema_version"], made["extra"]) == (2, extra)
    seen = lab.get(f"/batches/{made['batch_id']}").json["batch"]
    assert (seen["schema_version"], seen["extra"]) == (2, extra)
    run = lab.get(f"/runs?batch_id={made['batch_id']}").json["items"][0]
    assert (run["schema_version"], run["extra"]) == (2, {})
    deep: dict[str, Any] = {}
    for _ in range(9):
        deep = {"deeper": deep}
    for refused in (deep, {"long": "x" * 20_000}):
        reply = lab.post("/api/v1/batches", {"user_request": "x", "extra": refused})
        assert (reply.status, error_of(reply)["code"]) == (400, "invalid_argument")
        assert "extra" in error_of(reply)["message"]


def test_a_body_nested_beyond_all_measure_is_refused(lab: LabEndpoint) -> None:
    body = json.loads("[" * 60 + "]" * 60)
    reply = lab.post("/api/v1/batches", {"user_request": "x", "extra": {"a": body}})
    assert error_of(reply)["code"] == "invalid_argument"
