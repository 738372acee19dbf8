"""Beyond the contracts: GET /api/undo/preview and POST /api/undo."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.recall.undoing import AT_ONCE
from tests._support.server import Server
from tests.contracts.memory_api.test_import import row, send


def shown(api: Server, project: str) -> int:
    return len(api.request("GET", f"/api/observations?project={project}&limit=100").json["items"])


def undo(api: Server, **body: Any) -> Any:
    reply = api.post("/api/undo", body)
    assert reply.status == 200, reply.body
    return reply.json


def test_an_import_is_previewed_taken_back_and_brought_again(api: Server, project: str, fingerprint: str) -> None:
    source = send(api, fingerprint, row(project, 1), row(project, 2)).json["source"]
    preview = api.request("GET", f"/api/undo/preview?source={source}&shown=1").json
    change = preview["first"][0]
    assert preview == {"memories": 2, "written_since": 0, "kept": [], "first": [change], "more": False}
    assert change == {
        "seq": change["seq"], "kind": "observation", "project": project, "title": f"端口 in {project}", "op": "delete",
        "written_since": False,
    }  # fmt: skip
    assert shown(api, project) == 2

    undone = undo(api, source=source)
    assert undone == {
        "success": True, "delta": undone["delta"], "restored": 2, "left": 0, "lost_uris": [], "after": None,
        "more": False,
    }  # fmt: skip
    assert shown(api, project) == 0
    assert undo(api, source=source)["delta"] is None
    assert send(api, fingerprint, row(project, 1)).json["undone"] == undone["delta"]

    assert undo(api, delta=undone["delta"])["restored"] == 2
    assert shown(api, project) == 2


def test_a_session_is_taken_back_by_its_source(api: Server, project: str) -> None:
    begun = api.post(
        "/api/sessions/init", {"contentSessionId": f"s-{project}", "project": project, "prompt": "撤销我"}
    ).json
    done = undo(api, source=f"session:{begun['sessionDbId']}")
    assert done["restored"] == 1
    assert api.request("GET", f"/api/prompts?project={project}").json["items"] == []


def test_more_than_one_calls_worth_goes_on_where_it_was(api: Server, project: str, fingerprint: str) -> None:
    count = AT_ONCE + 3
    source = send(api, fingerprint, *(row(project, number) for number in range(count))).json["source"]
    first = undo(api, source=source, mode="safe")
    assert (first["restored"], first["more"]) == (AT_ONCE, True)
    rest = undo(api, source=source, mode="safe", into=first["delta"], after=first["after"])
    assert (rest["restored"], rest["more"], rest["delta"]) == (3, False, first["delta"])
    assert shown(api, project) == 0


@pytest.mark.parametrize(
    "body,status",
    [
        ({}, 400), ({"source": ""}, 400), ({"source": "session:1", "delta": "delta_x"}, 400),
        ({"delta": "delta_x"}, 404),
        ({"source": "x", "mode": "brutal"}, 400), ({"source": "x", "into": "delta_x"}, 404),
        ({"source": "x", "after": "y"}, 400), ({"source": "x", "force": True}, 400),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(api: Server, body: dict[str, Any], status: int) -> None:
    assert api.post("/api/undo", body).status == status


def test_a_preview_names_one_thing_too(api: Server) -> None:
    assert api.request("GET", "/api/undo/preview").status == 400
    assert api.request("GET", "/api/undo/preview?delta=delta_x").status == 404
    assert api.request("GET", "/api/undo/preview?source=session:0").json["memories"] == 0
