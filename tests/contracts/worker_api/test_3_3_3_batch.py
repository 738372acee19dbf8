"""Contract 000 §3.3.3: POST /api/observations/batch."""

from __future__ import annotations

import pytest

from tests._support.server import Server


def save(api: Server, project: str, text: str, title: str | None = None) -> int:
    body = {"text": text, "project": project} | ({"title": title} if title else {})
    reply = api.post("/api/memory/save", body)
    assert reply.status == 200, reply.body
    number: int = reply.json["id"]
    return number


@pytest.mark.clause("000 §3.3.3", "an array of observations, newest first, without those that do not exist")
def test_3_3_3_returns_an_array_of_observations_newest_first(api: Server, project: str) -> None:
    first, second = save(api, project, "端口是 37877", "配置"), save(api, project, "two")
    reply = api.post("/api/observations/batch", {"ids": [first, second, 10**12]})
    assert reply.status == 200
    assert [row["id"] for row in reply.json] == [second, first]
    row = reply.json[1]
    assert (row["title"], row["narrative"], row["type"], row["subtitle"]) == (
        "配置",
        "端口是 37877",
        "discovery",
        "Manual memory",
    )
    assert row["memory_session_id"] == f"manual-{project}"
    # Deliberately native arrays, not JSON inside strings.
    assert [row[name] for name in ("facts", "concepts", "files_read", "files_modified")] == [[], [], [], []]
    assert row["created_at"].endswith("Z")
    assert set(row) == {
        "id", "memory_session_id", "project", "text", "type", "title", "subtitle", "facts", "narrative", "concepts",
        "files_read", "files_modified", "prompt_number", "discovery_tokens", "created_at", "created_at_epoch",
    }  # fmt: skip


@pytest.mark.clause("000 §3.3.3", "orderBy, limit, project and filters on type, concepts and files")
def test_3_3_3_order_limit_and_filters(api: Server, project: str) -> None:
    ids = [save(api, project, f"m{number}") for number in range(4)]
    other = save(api, f"{project}-other", "x")

    def ask(**more: object) -> list[int]:
        reply = api.post("/api/observations/batch", {"ids": [*ids, other], **more})
        assert reply.status == 200, reply.body
        return [row["id"] for row in reply.json]

    assert ask(orderBy="date_asc") == [*ids, other]
    assert ask(orderBy="date_desc", limit=2, project=project) == [ids[3], ids[2]]
    assert ask(type="discovery", project=project) == ids[::-1]
    assert ask(type=["bugfix", "feature"]) == []
    assert ask(type="bugfix, discovery", project=f"{project}-other") == [other]
    assert ask(concepts="gotcha") == []
    assert ask(files=["src/"]) == []


@pytest.mark.clause("000 §3.3.3", "no ids, no observations")
def test_3_3_3_no_ids_no_observations(api: Server) -> None:
    reply = api.post("/api/observations/batch", {"ids": []})
    assert (reply.status, reply.json) == (200, [])


@pytest.mark.clause("000 §3.3.3", "400 for ids that are no array")
@pytest.mark.parametrize("body", [{}, {"ids": "1,2"}, {"ids": {"a": 1}}, {"ids": None}, {"ids": 7}])
def test_3_3_3_rejects_what_is_not_an_array(api: Server, body: object) -> None:
    reply = api.post("/api/observations/batch", body)
    assert (reply.status, reply.json["error"]) == (400, "ids must be an array of numbers")


@pytest.mark.clause("000 §3.3.3", "400 for ids that are no integers")
@pytest.mark.parametrize("ids", [[1, "x"], [1.5], [1.0], [True], [None], [[1]]])
def test_3_3_3_rejects_non_integer_ids(api: Server, ids: list[object]) -> None:
    reply = api.post("/api/observations/batch", {"ids": ids})
    assert (reply.status, reply.json["error"]) == (400, "All ids must be integers")


@pytest.mark.clause("000 §4.1", "other wrong values are 400 with a reason")
@pytest.mark.parametrize("more", [{"limit": 0}, {"limit": "many"}, {"orderBy": "sideways"}, {"ids": [1] * 1001}])
def test_4_1_other_bad_values_are_400_with_a_reason(api: Server, more: dict[str, object]) -> None:
    reply = api.post("/api/observations/batch", {"ids": [1], **more})
    assert reply.status == 400
    assert reply.json["error"]


@pytest.mark.clause("000 §4.2", "unknown paths are 404")
def test_4_2_unknown_paths_are_json_404(api: Server) -> None:
    reply = api.request("GET", "/api/nothing/here")
    assert (reply.status, reply.json["error"]) == (404, "no such path")
