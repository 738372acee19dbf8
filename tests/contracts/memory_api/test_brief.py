"""Beyond the contracts: GET /api/brief/…, what the page of a project tells."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests._support.described import require
from tests._support.server import Server


def told(api: Server, what: str, **asked: Any) -> Any:
    reply = api.request("GET", f"/api/brief/{what}?{urlencode(asked, doseq=True)}")
    assert reply.status == 200, reply.body
    return require(api, "GET", f"/api/brief/{what}", reply.json)


def saved(api: Server, project: str, text: str) -> int:
    return int(api.post("/api/memory/save", {"text": text, "project": project}).json["id"])


def test_a_day_is_counted_and_its_digest_is_read_page_by_page(api: Server, project: str) -> None:
    session = {"contentSessionId": f"b-{project}", "project": project, "platform": "codex"}
    api.post("/api/sessions/init", {**session, "prompt": "what is the port?"})
    numbers = [saved(api, project, f"the port is {number}") for number in range(3)]
    days = told(api, "days", project=project, timezone=480)
    assert [(day["memories"], day["types"]) for day in days["days"]] == [(3, {"discovery": 3})]
    assert (days["days"][0]["day"], days["timezone"]) == (days["last"], 480)
    assert told(api, "facets", project=project)["type"] == [{"value": "discovery", "count": 3}]
    first = told(api, "digest", project=project, limit=2, type="discovery")
    rest = told(api, "digest", project=project, limit=2, type="discovery", cursor=first["next_cursor"])
    assert [each["seq"] for each in (*first["items"], *rest["items"])] == numbers[::-1]
    assert (first["has_more"], rest["has_more"], first["sessions"]) == (True, False, [])
    assert told(api, "digest", project=project, to="2020-01-01")["items"] == []
    assert told(api, "digest", project=project, agent="codex")["items"] == []


def test_health_and_cost_say_what_is_not_known(api: Server, project: str) -> None:
    number = saved(api, project, "the port is 8080")
    health = told(api, "health", project=project)
    assert (health["never_told"]["count"], health["unused"]["count"], health["files"]) == (1, 0, None)
    listed = api.request("GET", f"/api/memories?project={project}&health=never_told").json
    assert [each["seq"] for each in listed["items"]] == [number]
    asked = {"project_id": project, "question": "Which port is it?", "answer": "It is port 8080."}
    assert api.post("/v1/qa/candidates", asked).status == 201
    waiting = told(api, "health", project=project)
    assert waiting["candidate"] == {"count": 1, "more": False, "page": "/ui/qa?status=candidate"}
    assert waiting["proposed"]["count"] == 0
    cost = told(api, "cost", project=project, days=7)
    assert ([day["tokens"] for day in cost["days"]], cost["models"]) == ([0] * 7, [])
    assert cost["total"] == {"calls": 0, "tokens": 0, "unmeasured": 0}
    assert cost["given"]["memories"] == 0


@pytest.mark.parametrize(
    "path",
    ["days", "days?project=p&weeks=54", "days?project=p&timezone=900", "facets?project=p&from=soon",
     "digest?project=p&cursor=x", "cost?project=p&days=31", "health"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(api: Server, path: str) -> None:
    assert api.request("GET", f"/api/brief/{path}").status == 400
