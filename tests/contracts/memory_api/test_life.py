"""Beyond the contracts: POST /api/memories/act and GET /api/memories."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests._support.server import Server

PERSON = {"Sec-Fetch-Site": "same-origin"}  # as a page of ours says


def saved(api: Server, project: str, text: str) -> int:
    reply = api.post("/api/memory/save", {"text": text, "project": project})
    assert reply.status == 200, reply.body
    return int(reply.json["id"])


def act(api: Server, act: str, *ids: int | str, **more: Any) -> Any:
    reply = api.post("/api/memories/act", {"act": act, "ids": list(ids), **more}, PERSON)
    assert reply.status == 200, reply.body
    return reply.json


def listed(api: Server, project: str, **wanted: Any) -> list[int]:
    reply = api.request("GET", f"/api/memories?{urlencode({'project': project, **wanted}, doseq=True)}")
    assert reply.status == 200, reply.body
    return [each["seq"] for each in reply.json["items"]]


def test_a_selection_is_hidden_listed_and_brought_back(api: Server, project: str) -> None:
    first, second = saved(api, project, "the port is 8080"), saved(api, project, "端口是 9090")
    done = act(api, "hide", first, f"#{second}", reason="wrong")
    assert done == {
        "delta": done["delta"],
        "changed": [
            {"id": seq, "ref": f"#{seq}", "version": 2, "life": "hidden", "marks": []} for seq in (first, second)
        ],
        "unchanged": [],
    }
    assert (listed(api, project), listed(api, project, life="hidden")) == ([], [second, first])
    assert act(api, "hide", first) == {"delta": None, "changed": [], "unchanged": [first]}
    assert api.post("/api/undo", {"delta": done["delta"]}).json["restored"] == 2
    assert listed(api, project) == [second, first]


def test_an_edit_guards_the_version_that_was_seen(api: Server, project: str) -> None:
    seq = saved(api, project, "the port is 8080")
    act(api, "edit", seq, text="the port is 9090", seen=1)
    late = api.post("/api/memories/act", {"act": "edit", "ids": [seq], "text": "x", "seen": 1})
    assert (late.status, late.json["error"]) == (409, f"memory #{seq} changed since version 1")
    named = api.request("GET", f"/api/memories/named/{seq}").json
    assert (named["content"], named["life"], named["marks"]) == ("the port is 9090", "active", ["corrected"])


def test_versions_are_listed_compared_and_rolled_back_to(api: Server, project: str) -> None:
    seq = saved(api, project, "the port is 8080")
    edited = act(api, "edit", seq, text="the port is 9090", title="端口", reason="it moved")
    act(api, "pin", seq)

    def asked(what: str, **wanted: Any) -> Any:
        reply = api.request("GET", f"/api/memories/{what}?{urlencode({'ref': f'#{seq}', **wanted})}")
        assert reply.status == 200, reply.body
        return reply.json

    page = asked("versions", limit=2)
    told = [(each["version"], each["op"], each["note"], each["changed"]) for each in page["items"]]
    assert told == [(3, "update", "pin", ["marks"]), (2, "update", "it moved", ["content", "title", "subtitle"])]
    assert (page["current"], page["kind"], page["ref"], page["has_more"]) == (3, "observation", f"#{seq}", True)
    last = asked("versions", limit=2, cursor=page["next_cursor"])
    assert ([each["version"] for each in last["items"]], last["next_cursor"]) == ([1], None)
    diff = asked("diff", before=1, after=2)
    assert (diff["before"]["content"], diff["after"]["content"]) == ("the port is 8080", "the port is 9090")
    assert [(each["field"], each["after"]) for each in diff["changes"]] == [("title", "端口"), ("subtitle", None)]
    preview = asked("rollback/preview", version=1)
    assert (preview["before"]["version"], preview["after"]["content"]) == (3, "the port is 8080")
    assert [each["field"] for each in preview["changes"]] == ["title", "subtitle"]  # it stays pinned
    body = {"ref": str(seq), "version": 1, "seen": 3}
    back = api.post("/api/memories/rollback", body, PERSON).json
    assert (back["changed"][0]["version"], back["changed"][0]["marks"]) == (4, ["pinned"])
    late = api.post("/api/memories/rollback", body, PERSON)
    assert (late.status, late.json["details"]["reason"]) == (409, "changed_since")
    assert api.post("/api/undo", {"delta": edited["delta"], "mode": "strict"}, PERSON).json["restored"] in {0, 1}
    assert asked("versions", limit=10)["items"][-2]["undone"] is True
    gone = api.request("GET", "/api/memories/versions?ref=%23999999999")
    assert (gone.status, gone.json["details"]["reason"]) == (404, "not_remembered")


def test_pages_of_the_list_go_on_where_they_ended(api: Server, project: str) -> None:
    seqs = [saved(api, project, f"port {number}") for number in range(5)]
    act(api, "pin", *seqs[:3])
    act(api, "split", seqs[4], parts=["one", {"text": "two", "title": "II"}])
    found, cursor = [], ""
    while True:
        page = api.request("GET", f"/api/memories?project={project}&limit=2&mark=pinned&cursor={cursor}").json
        found += page["items"]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert [each["seq"] for each in found] == seqs[2::-1]
    assert (found[0]["life"], found[0]["marks"], found[0]["version"]) == ("active", ["pinned"], 2)
    assert listed(api, project, life="deprecated") == [seqs[4]]
    assert len(listed(api, project)) == 6


@pytest.mark.parametrize(
    "body",
    [
        {"act": "erase", "ids": [1]}, {"act": "hide", "ids": []}, {"act": "hide", "ids": [1], "text": "x"},
        {"act": "merge", "ids": [1]}, {"act": "split", "ids": [1], "parts": ["x"]}, {"act": "hide", "ids": [True]},
        {"act": "hide", "ids": list(range(1, 202))}, {"act": "hide", "ids": [1], "force": True},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(api: Server, body: dict[str, Any]) -> None:
    assert api.post("/api/memories/act", body).status == 400


def test_what_is_not_there_is_told(api: Server, project: str) -> None:
    seq = saved(api, project, "the port")
    reply = api.post("/api/memories/act", {"act": "hide", "ids": [seq, 2**40]})
    assert (reply.status, reply.json["error"]) == (404, f"#{2**40} is not remembered")
    assert listed(api, project) == [seq]


def test_a_caller_that_is_no_person_approves_and_pins_nothing(api: Server, project: str) -> None:
    seq = saved(api, project, "Never deploy on Fridays")
    for act_name in ("pin", "approve", "withhold", "unhide"):
        reply = api.post("/api/memories/act", {"act": act_name, "ids": [seq]})
        assert (reply.status, reply.json["details"]["reason"]) == (409, "needs_a_person"), reply.body
