"""Beyond the contracts: GET /api/review, POST /api/review/decide and POST /api/review/scan."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests._support.server import Server


def waiting(api: Server, project: str, **wanted: Any) -> Any:
    reply = api.request("GET", f"/api/review?{urlencode({'project': project, **wanted}, doseq=True)}")
    assert reply.status == 200, reply.body
    return reply.json


def test_a_pair_waits_is_decided_and_opened_again(api: Server, project: str) -> None:
    for text in ("The report worker retries 3 times.", "The report worker retries 5 times."):
        assert api.post("/api/memory/save", {"text": text, "project": project}).status == 200
    while api.post("/api/review/scan", {}).json["more"]:
        pass
    page = waiting(api, project)
    (item,) = page["items"]
    newer, older = item["newer"]["seq"], item["older"]["seq"]
    assert (item["id"], item["reason"], item["score"]) == (f"{newer}:{older}", "contradiction", 1.0)
    assert item["decisions"] == ["keep", "merge", "supersede", "hide"]
    assert (page["counts"]["contradiction"], page["next_cursor"], page["has_more"]) == (1, None, False)
    assert waiting(api, project, reason=["proposed", "duplicate"])["items"] == []
    done = api.post("/api/review/decide", {"decision": "merge", "seq": newer, "other": older, "target": newer})
    assert [(each["id"], each["life"]) for each in done.json["changed"]] == [(older, "superseded"), (newer, "active")]
    assert waiting(api, project)["items"] == []
    assert api.post("/api/undo", {"delta": done.json["delta"]}).json["restored"] == 2
    (again,) = waiting(api, project)["items"]
    assert (again["id"], again["found_ms"], again["sentences"]) == (item["id"], item["found_ms"], item["sentences"])


def test_what_makes_no_sense_is_refused(api: Server, project: str) -> None:
    assert api.post("/api/review/decide", {"decision": "merge", "seq": 1}).status == 400
    assert api.post("/api/review/decide", {"decision": "delete", "seq": 1}).status == 400
    assert api.post("/api/review/decide", {"decision": "keep", "seq": 10**9, "other": 10**9 + 1}).status == 404
    assert api.request("GET", "/api/review?cursor=abc").status == 400
    assert api.request("GET", "/api/review?limit=0").status == 400
