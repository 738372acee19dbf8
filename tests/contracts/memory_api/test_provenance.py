"""Beyond the contracts: GET /api/provenance/{ref}."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests._support.server import Server
from tests._support.waiting import eventually


def why(api: Server, name: str, more: str = "") -> Any:
    reply = api.request("GET", f"/api/provenance/{quote(name, safe='')}{more}")
    assert reply.status == 200, reply.body
    return reply.json


def captured(api: Server, project: str) -> int:
    """One turn with one tool event, extracted; the number of the observation."""
    session = f"why-{project}"
    told = {"contentSessionId": session, "project": project}
    assert api.post("/api/sessions/init", {**told, "prompt": "修复登录"}).status == 200
    event = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_response": {"stdout": "1 failed 失败"}}
    assert api.post("/api/sessions/observations", {**told, **event}).status == 200
    api.post("/api/sessions/complete", told)
    (item,) = eventually(lambda: api.request("GET", f"/api/observations?project={project}").json["items"])
    number: int = item["id"]
    return number


def test_an_observation_is_traced_to_its_event_job_and_session(api: Server, project: str) -> None:
    number = captured(api, project)
    for name in (f"#{number}", str(number)):
        told = why(api, name)
        assert (told["memory"]["label"], told["memory"]["project"]) == (f"#{number}", project)
        (event,) = told["events"]
        assert (event["tool"], event["kind"], event["turn"]) == ("Bash", "tool", 1)
        assert event["at_ms"] > 0
        (job,) = told["jobs"]
        assert (job["id"], job["kind"], job["status"], job["by"]) == (
            event["job"], "capture.extract", "completed", "rules",
        )  # fmt: skip
        assert told["session"]["key"] == f"why-{project}"
        assert told["prompt"]["title"] == "修复登录"
        assert [(v["version"], v["op"], v["actor"]) for v in told["versions"]] == [(1, "add", "extraction")]
        assert told["memory"]["source"] == f"session:{told['session']['id']}"
    prompt = why(api, why(api, str(number))["prompt"]["label"])
    assert prompt["derived"][0]["label"] == f"#{number}"
    assert why(api, f"S{number}")["memory"]["label"] == f"#{number}"


def test_a_save_by_hand_tells_who_saved_it(api: Server, project: str) -> None:
    number = api.post("/api/memory/save", {"text": "by hand", "project": project}).json["id"]
    told = why(api, f"#{number}", "?versions=1&events=1")
    assert (told["events"], told["jobs"], told["run"], told["deltas"]) == ([], [], None, [])
    assert (told["memory"]["origin"], told["versions"][0]["actor"]) == ("agent", told["versions"][0]["actor"])
    assert told["versions"][0]["actor"]


def test_an_import_tells_its_delta_and_where_it_stood(api: Server, project: str, fingerprint: str) -> None:
    row = {
        "kind": "observation",
        "number": 7,
        "at_ms": 1_767_225_600_000,
        "project": project,
        "title": "t",
        "text": "x",
    }
    body = {"program": "claude-mem", "fingerprint": fingerprint, "rows": [row]}
    delta = api.post("/api/import/batch", body).json["delta"]
    number = api.request("GET", f"/api/observations?project={project}").json["items"][0]["id"]
    told = why(api, str(number))
    assert told["memory"]["imported"] == "claude-mem:7"
    assert [(each["id"], each["cause"], each["status"]) for each in told["deltas"]] == [(delta, "import", "applied")]
    assert told["versions"][0]["delta"] == delta
    assert why(api, told["memory"]["id"]) == told
    assert api.post("/api/undo", {"delta": delta}).status == 200
    hidden = why(api, str(number))
    assert (hidden["memory"]["status"], [each["cause"] for each in hidden["deltas"]]) == (
        "deleted", ["import", "rollback"],
    )  # fmt: skip


def test_what_is_erased_or_never_was_is_404_with_a_hint(api: Server, project: str) -> None:
    number = api.post("/api/memory/save", {"text": "gone", "project": project}).json["id"]
    assert api.post("/api/forget", {"ids": [number]}).json["erased"] == 1
    for name in (str(number), f"P{number}", "kb-none", "qa-none", "mem:none", "project://none", "note project://none"):
        reply = api.request("GET", f"/api/provenance/{quote(name, safe='')}")
        assert (reply.status, "erased" in reply.json["hint"]) == (404, True), name
    assert api.request("GET", "/api/provenance/project://none").status == 404


@pytest.mark.parametrize(
    "path", ["two%20words", "mem:", "a%00b", "1?versions=0", "1?versions=51", "1?events=201", "%20"]
)
def test_what_is_no_name_or_too_much_is_400(api: Server, path: str) -> None:
    reply = api.request("GET", f"/api/provenance/{path}")
    assert (reply.status, "error" in reply.json) == (400, True)
