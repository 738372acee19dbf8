"""`/api/sync` over HTTP: files in, memories out, bounded, and nothing twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests._support.server import Server

NOTE = "---\nkind: note\nuri: {project}://a\n---\nfirst\n"


def files(api: Server, project: str, *sent: dict[str, Any], **more: Any) -> Any:
    reply = api.post("/api/sync/files", {"project": project, "files": list(sent), **more})
    assert reply.status == 200, reply.body
    return reply.json


def test_a_file_becomes_a_memory_and_a_memory_a_file(api: Server, project: str) -> None:
    file = {"path": "notes/p/a.md", "text": NOTE.format(project=project)}
    planned = files(api, project, file, dry_run=True)
    assert (planned["results"][0]["outcome"], planned["delta"]) == ("created", None)
    made = files(api, project, file)
    (result,) = made["results"]
    assert (result["outcome"], result["version"], made["delta"][:6]) == ("created", 1, "delta_")
    page = api.request("GET", f"/api/sync/memories?project={project}").json
    while page["has_more"] and not page["items"]:
        page = api.request("GET", f"/api/sync/memories?project={project}&cursor={page['next_cursor']}").json
    assert [(each["id"], each["digest"], each["text"]) for each in page["items"]] == [
        (result["memory"], result["digest"], result["text"])
    ]
    again = files(api, project, {**file, "text": result["text"], "memory": result["memory"]})
    assert (again["results"][0]["outcome"], again["delta"]) == ("same", None)
    gone = files(
        api, project,
        {"path": file["path"], "memory": result["memory"], "base": {"digest": result["digest"], "version": 1}},
    )  # fmt: skip
    assert (gone["results"][0]["outcome"], gone["results"][0]["text"]) == ("deleted", None)


@pytest.mark.parametrize(
    "body",
    [
        {"files": []},
        {"project": "p", "files": [{"path": "x" * 500, "text": "a"}]},
        {"project": "p", "files": [{"path": "x.md", "text": "a"}] * 101},
        {"project": "p", "files": [{"path": "x.md", "text": "a", "base": {"digest": "what"}}]},
        {"project": "p", "files": [{"path": "x.md", "text": "a", "owner": "me"}]},
    ],
)
def test_what_does_not_fit_is_refused(api: Server, body: dict[str, Any]) -> None:
    assert api.post("/api/sync/files", body).status == 400


def test_a_secret_is_refused_and_not_repeated(api: Server, project: str) -> None:
    secret = "ghp_" + "a1B2" * 9
    (result,) = files(api, project, {"path": "notes/p/a.md", "text": NOTE.format(project=project) + secret})["results"]
    assert (result["outcome"], result["reason"].split(":")[0], result["memory"]) == ("refused", "line 6", "")
    assert secret not in str(result)
