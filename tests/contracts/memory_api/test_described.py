"""What is there for people to look at, forget and take back is answered as the interface description says."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests._support.described import require
from tests._support.server import Server
from tests._support.waiting import eventually
from tests.contracts.memory_api.test_import import row, send


@pytest.fixture
def captured(api: Server, project: str, fingerprint: str) -> int:
    """An observation, a summary, a prompt and a note of the project; the observation's number."""
    own = {"number": 1, "at_ms": 1_767_225_600_000, "project": project, "session": f"t-{project}"}
    reply = send(
        api, fingerprint, row(project), {**own, "kind": "summary", "request": f"修复 {project}"},
        {**own, "kind": "prompt", "text": f"why {project}?"},
    )  # fmt: skip
    assert (reply.status, reply.json["imported"]) == (200, {"observation": 1, "summary": 1, "prompt": 1})
    number: int = api.request("GET", f"/api/observations?project={project}").json["items"][0]["id"]
    return number


def told(api: Server, path: str, template: str | None = None) -> Any:
    reply = api.request("GET", path)
    assert reply.status == 200, reply.body
    return require(api, "GET", template or path.partition("?")[0], reply.json)


def test_lists_searches_and_figures(api: Server, project: str, captured: int) -> None:
    assert told(api, f"/api/observation/{captured}", "/api/observation/{number}")["id"] == captured
    for kind, single in (("observations", "observation"), ("summaries", "session"), ("prompts", "prompt")):
        (item,) = told(api, f"/api/{kind}?project={project}")["items"]
        assert told(api, f"/api/{single}/{item['id']}", f"/api/{single}/{{number}}") == item
    for path in ("search", "search/all", "timeline"):
        for form in ("json", "markdown"):
            told(api, f"/api/{path}?project={project}&query=8081&format={form}")
    found = told(api, f"/api/search?project={project}&query=8081&format=json")
    assert [each["id"] for each in found["observations"]] == [captured]
    assert told(api, f"/api/search/all?project={project}&query=8081")["results"][0]["label"] == f"#{captured}"
    around = told(api, f"/api/timeline?anchor={captured}&format=json")
    assert {each["kind"] for each in around["items"]} == {"observation", "session", "prompt"}
    assert told(api, f"/api/timeline?project=nobodys-{project}&query=8081&format=json")["items"] == []
    assert project in told(api, "/api/projects")["projects"]
    told(api, "/api/stats")
    told(api, "/api/processing-status")


def test_provenance_of_every_kind(api: Server, project: str, captured: int) -> None:
    uri = f"{project.replace('-', '')}://甲"
    api.post("/api/notes", {"uri": uri, "content": f"see {uri}/乙", "project": project})
    api.post("/api/notes", {"uri": f"{uri}/乙", "content": "other", "project": project})
    api.post("/api/notes/update", {"uri": uri, "priority": 1})
    for name in (f"#{captured}", uri, f"{uri}/乙"):
        told(api, f"/api/provenance/{quote(name, safe='')}", "/api/provenance/{ref}")


def test_provenance_of_what_was_captured(api: Server, project: str) -> None:
    session = {"contentSessionId": f"d-{project}", "project": project}
    api.post("/api/sessions/init", {**session, "prompt": "问"})
    api.post("/api/sessions/observations", {**session, "tool_name": "Bash", "tool_input": "x", "tool_response": "y"})
    api.post("/api/sessions/complete", session)
    items = eventually(lambda: api.request("GET", f"/api/observations?project={project}").json["items"])
    why = told(api, f"/api/provenance/{items[0]['id']}", "/api/provenance/{ref}")
    assert (len(why["events"]), len(why["jobs"]), why["session"]["key"]) == (1, 1, session["contentSessionId"])
    prompt = told(api, f"/api/provenance/P{why['prompt']['seq']}", "/api/provenance/{ref}")
    assert [each["seq"] for each in prompt["derived"]] == [items[0]["id"]]


def test_forgetting_is_previewed(api: Server, project: str, captured: int) -> None:
    def forget(**body: Any) -> Any:
        return require(api, "POST", "/api/forget", api.post("/api/forget", body).json)

    whole = forget(project=project, preview=True)
    assert (whole["found"], whole["more"], whole["erased"]) == (3, False, 0)
    assert {(each["kind"], each["project"]) for each in whole["first"]} == {
        ("observation", project), ("summary", project), ("prompt", project),
    }  # fmt: skip
    one = forget(ids=[captured, 2**60], preview=True)
    assert (one["found"], [each["ref"] for each in one["first"]]) == (1, [f"#{captured}"])
    assert forget(session=f"s-{project}", preview=True)["found"] == 1
    assert forget(sessionDbId=0, preview=True)["first"] == []
    assert forget(ids=[captured]) == {"success": True, "erased": 1}
    assert forget(project=project, preview=True)["found"] == 2


def test_taking_back_is_described(api: Server, project: str, fingerprint: str) -> None:
    source = send(api, fingerprint, row(project)).json["source"]
    assert told(api, f"/api/undo/preview?source={source}")["memories"] == 1
    undone = api.post("/api/undo", {"source": source}).json
    assert require(api, "POST", "/api/undo", undone)["restored"] == 1
