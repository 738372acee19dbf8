"""Beyond the contracts: POST /api/import/batch."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.kernel.model.import_row import MAX_TEXT
from tests._support.server import Server

AT_MS = 1_767_225_600_000


def row(project: str, number: int = 7, **more: Any) -> dict[str, Any]:
    told = {"kind": "observation", "number": number, "at_ms": AT_MS, "project": project, "title": f"端口 in {project}",
            "session": f"s-{project}", "text": "8081", "facts": ["事实"], "files_modified": ["src/a.py"]}  # fmt: skip
    return {name: value for name, value in (told | more).items() if value is not None}


def send(api: Server, fingerprint: str, *rows: dict[str, Any], delta: str | None = None) -> Any:
    body = {"program": "claude-mem", "fingerprint": fingerprint, "delta": delta, "rows": list(rows)}
    return api.post("/api/import/batch", body)


def test_rows_become_memories_with_their_time_project_and_session(api: Server, project: str, fingerprint: str) -> None:
    reply = send(
        api, fingerprint, row(project),
        {"kind": "summary", "number": 1, "at_ms": AT_MS, "project": project, "request": "修复"},
        {"kind": "prompt", "number": 1, "at_ms": AT_MS, "project": project, "text": "why?", "prompt_number": 4},
    )  # fmt: skip
    assert reply.status == 200, reply.body
    answer = reply.json
    assert answer == {
        "success": True, "source": f"import:claude-mem:{fingerprint}", "delta": answer["delta"],
        "imported": {"observation": 1, "summary": 1, "prompt": 1}, "known": 0, "hidden": 0, "refused": {},
        "undone": None,
    }  # fmt: skip
    (listed,) = api.request("GET", f"/api/observations?project={project}").json["items"]
    assert (listed["title"], listed["narrative"], listed["created_at_epoch"], listed["memory_session_id"]) == (
        f"端口 in {project}", "8081", AT_MS, f"s-{project}",
    )  # fmt: skip
    assert (listed["facts"], listed["files_modified"]) == (["事实"], ["src/a.py"])


def test_a_batch_may_be_sent_again_and_the_next_joins_its_delta(api: Server, project: str, fingerprint: str) -> None:
    first = send(api, fingerprint, row(project)).json
    again = send(api, fingerprint, row(project), delta=first["delta"]).json
    assert (again["imported"], again["known"], again["delta"]) == ({}, 1, first["delta"])
    assert send(api, fingerprint, row(project)).json["delta"] is None
    more = send(api, fingerprint, row(project, 8), delta=first["delta"]).json
    assert (more["imported"], more["delta"]) == ({"observation": 1}, first["delta"])


def test_private_text_and_secrets_are_left_out(api: Server, project: str, fingerprint: str) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    told = row(project, text=f"<private>机密</private> the key is {secret}")
    assert send(api, fingerprint, told, row(project, 8, title="<private>x</private>", text="", facts=[])).json[
        "refused"
    ] == {"private": 1}
    body = api.request("GET", f"/api/observations?project={project}").body.decode()
    assert secret not in body
    assert "机密" not in body


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "note"}, {"kind": None}, {"number": "seven"}, {"at_ms": -1}, {"at_ms": None}, {"facts": "one"},
        {"facts": [1]}, {"text": 5}, {"text": "x" * (MAX_TEXT + 200)}, {"source": "session:1"}, {"events": [1]},
        {"facts": ["x"] * 501}, {"number": 2**63 - 1 + 1},
    ],
)  # fmt: skip
def test_a_row_that_is_none_is_400_and_nothing_is_written(
    api: Server, project: str, fingerprint: str, broken: dict[str, Any]
) -> None:
    reply = send(api, fingerprint, row(project, 6), row(project) | broken if broken else {})
    assert (reply.status, "error" in reply.json) == (400, True)
    assert api.request("GET", f"/api/observations?project={project}").json["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {}, {"program": "other"}, {"fingerprint": "../../etc"}, {"fingerprint": "A" * 16}, {"rows": {}},
        {"delta": "delta_none"}, {"origin": "human"},
    ],
)  # fmt: skip
def test_a_request_that_is_none_is_refused(api: Server, project: str, fingerprint: str, body: dict[str, Any]) -> None:
    whole = {"program": "claude-mem", "fingerprint": fingerprint, "rows": [row(project)]}
    reply = api.post("/api/import/batch", whole | body if body else {})
    assert reply.status == (404 if "delta" in body else 400)


def test_a_batch_is_bounded(api: Server, project: str, fingerprint: str) -> None:
    assert send(api, fingerprint, *(row(project, number) for number in range(501))).status == 400


def commit(project: str, name: str, **more: Any) -> dict[str, Any]:
    told = {"kind": "observation", "number": 0, "at_ms": AT_MS, "project": project, "title": f"Choose {name}",
            "text": "because it was measured", "commit": name * 40}  # fmt: skip
    return told | more


def test_commits_come_in_by_their_hash_and_a_revert_hides_what_it_takes_back(
    api: Server, project: str, fingerprint: str
) -> None:
    body = {"program": "git", "fingerprint": fingerprint, "rows": [commit(project, "a")]}
    first = api.post("/api/import/batch", body).json
    assert (first["source"], first["imported"]) == (f"import:git:{fingerprint}", {"observation": 1})
    body["rows"] = [commit(project, "a"), commit(project, "b", reverts=["a" * 40])]
    again = api.post("/api/import/batch", body).json
    assert (again["imported"], again["known"]) == ({"observation": 1}, 1)
    listed = api.request("GET", f"/api/observations?project={project}").json["items"]
    assert [each["title"] for each in listed] == ["Choose b"]


@pytest.mark.parametrize(
    "broken",
    [{"commit": "a" * 39}, {"commit": "../a"}, {"commit": ""}, {"reverts": ["x"]}, {"reverts": ["a" * 40] * 51}],
)
def test_a_commit_that_is_none_is_400(api: Server, project: str, fingerprint: str, broken: dict[str, Any]) -> None:
    body = {"program": "git", "fingerprint": fingerprint, "rows": [commit(project, "c") | broken]}
    assert api.post("/api/import/batch", body).status == 400
    assert api.request("GET", f"/api/observations?project={project}").json["items"] == []
