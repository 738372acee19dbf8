"""Beyond the contracts: GET /api/memories/timeline and GET /api/memories/count."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests._support.described import require
from tests._support.server import Server
from tests.contracts.memory_api.test_import import row, send

PATH = "/api/memories/timeline"


def timeline(api: Server, **query: Any) -> Any:
    reply = api.request("GET", f"{PATH}?{urlencode(query, doseq=True)}")
    assert reply.status == 200, reply.body
    return require(api, "GET", PATH, reply.json)


def numbers(page: Any) -> list[int]:
    return [item["seq"] for item in page["items"]]


@pytest.fixture
def made(api: Server, project: str, fingerprint: str) -> list[int]:
    """Twelve memories of three kinds, a day apart each; their numbers, the newest first."""
    kinds = ("observation", "summary", "prompt")
    rows = [
        {**row(project, number), "kind": kinds[number % 3], "at_ms": 1_767_225_600_000 + number * 86_400_000}
        for number in range(12)
    ]
    assert send(api, fingerprint, *(_fit(each) for each in rows)).status == 200
    found = numbers(timeline(api, project=project))
    assert len(found) == 12
    return found


def _fit(each: dict[str, Any]) -> dict[str, Any]:
    return each if each["kind"] != "summary" else {**each, "request": "要求", "learned": "学到"}


def test_everything_captured_is_one_list_newest_first(api: Server, project: str, made: list[int]) -> None:
    page = timeline(api, project=project)
    times = [item["created_ms"] for item in page["items"]]
    assert times == sorted(times, reverse=True)
    assert {item["kind"] for item in page["items"]} == {"observation", "summary", "prompt"}
    assert page["older"] is None
    for item in page["items"]:
        mark = {"observation": "#", "summary": "#S", "prompt": "#P"}[item["kind"]]
        assert item["ref"] == f"{mark}{item['seq']}"
        assert (item["project"], item["status"], item["tokens"] > 0) == (project, "active", True)


@pytest.mark.parametrize("limit", [1, 5])
def test_it_is_read_to_its_end_and_back(api: Server, project: str, made: list[int], limit: int) -> None:
    page = first = timeline(api, project=project, limit=limit)
    seen = numbers(page)
    while page["older"] is not None:
        page = timeline(api, project=project, limit=limit, cursor=page["older"])
        seen += numbers(page)
    assert seen == made
    back: list[int] = []
    while items := numbers(page := timeline(api, project=project, limit=limit, cursor=page["newer"])):
        back = items + back
    assert back == made[: 12 - (12 % limit or limit)]
    api.post("/api/memory/save", {"text": "news 新的", "project": project})
    (news,) = timeline(api, project=project, cursor=first["newer"])["items"]
    assert (news["snippet"], news["session"]) == ("news 新的", None)
    assert timeline(api, project=project, limit=limit, cursor=first["older"])["items"]


def test_an_anchor_is_a_memory_or_a_day(api: Server, project: str, made: list[int]) -> None:
    middle = made[5]
    here = {"project": project, "limit": 4}
    ref = next(item["ref"] for item in timeline(api, project=project)["items"] if item["seq"] == middle)
    older = timeline(api, **here, anchor=ref)
    assert (numbers(older), older["anchor"]) == (made[5:9], ref)
    assert numbers(timeline(api, **here, anchor=ref, direction="newer")) == made[1:5]
    around = timeline(api, **here, anchor=ref, direction="around")
    assert numbers(around) == made[3:7]
    assert numbers(timeline(api, **here, cursor=around["older"])) == made[7:11]
    assert numbers(timeline(api, **here, cursor=around["newer"])) == made[:3]
    assert numbers(timeline(api, **here, anchor=str(middle))) == made[5:9]
    assert numbers(timeline(api, **here, anchor="2026-01-04")) == made[8:]
    assert numbers(timeline(api, **here, anchor="2026-01-04", direction="newer")) == made[5:9]
    assert numbers(timeline(api, **here, anchor="2026-01-04", direction="around")) == made[7:11]


def test_kinds_and_times_narrow_it(api: Server, project: str, made: list[int]) -> None:
    assert len(timeline(api, project=project, kind="prompt")["items"]) == 4
    assert len(timeline(api, project=project, kind=["prompt", "summary"])["items"]) == 8
    some = timeline(api, project=project, **{"from": "2026-01-03", "to": "2026-01-05"})
    assert numbers(some) == made[7:10]
    assert numbers(timeline(api, project=project, **{"from": 1_767_225_600, "to": 1_767_225_600_000})) == made[11:]
    uri = f"{project.replace('-', '')}://笔记"
    assert api.post("/api/notes", {"uri": uri, "content": "内容", "project": project}).status == 200
    (note,) = timeline(api, project=project, kind="note")["items"]
    assert (note["ref"], note["uri"], note["kind"]) == (uri, uri, "note")
    assert numbers(timeline(api, project=project)) == made


def test_the_session_of_a_row_is_named(api: Server, project: str) -> None:
    number = api.post(
        "/api/sessions/init", {"contentSessionId": f"t-{project}", "project": project, "prompt": "问"}
    ).json["sessionDbId"]
    (item,) = timeline(api, project=project)["items"]
    assert (item["session"], item["session_key"], item["title"]) == (number, f"t-{project}", "问")


def test_memories_are_counted_up_to_a_bound(api: Server, project: str, made: list[int]) -> None:
    for query, count in (({}, 12), ({"kind": "prompt"}, 4), ({"kind": ["note", "summary"]}, 4)):
        reply = api.request("GET", f"/api/memories/count?{urlencode({'project': project, **query}, doseq=True)}").json
        assert require(api, "GET", "/api/memories/count", reply) == {"count": count, "more": False}
    assert api.request("GET", "/api/memories/count").json["count"] >= 12


@pytest.mark.parametrize(
    "query,status",
    [
        ("kind=chunk", 400), ("kind=odd", 400), ("limit=0", 400), ("limit=201", 400), ("from=yesterday", 400),
        ("to=x", 400), ("cursor=x", 400), ("direction=up", 400), ("anchor=two%20words", 400),
        ("anchor=%23999999999", 404), ("anchor=nothing://here", 404), ("to=9999-99-99", 400),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(api: Server, query: str, status: int) -> None:
    reply = api.request("GET", f"{PATH}?{query}")
    assert (reply.status, "error" in reply.json) == (status, True), reply.body
