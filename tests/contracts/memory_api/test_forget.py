"""Beyond the contracts: POST /api/forget."""

from __future__ import annotations

from typing import Any

import pytest

from tests._support.server import Server


def saved(api: Server, project: str, text: str) -> int:
    number: int = api.post("/api/memory/save", {"text": text, "project": project}).json["id"]
    return number


def there(api: Server, numbers: list[int]) -> list[int]:
    return sorted(each["id"] for each in api.post("/api/observations/batch", {"ids": numbers}).json)


def forget(api: Server, **what: Any) -> Any:
    reply = api.post("/api/forget", what)
    assert reply.status == 200, reply.body
    return reply.json


def test_memories_are_forgotten_by_number(api: Server, project: str) -> None:
    first, second = saved(api, project, "记住这个"), saved(api, project, "and this")
    preview = forget(api, ids=[first, second], preview=True)
    assert (preview["erased"], preview["found"], preview["more"]) == (0, 2, False)
    assert [each["seq"] for each in preview["first"]] == [first, second]
    assert there(api, [first, second]) == sorted([first, second])
    assert forget(api, ids=[first, 10**12]) == {"success": True, "erased": 1}
    assert there(api, [first, second]) == [second]
    assert forget(api, ids=[first]) == {"success": True, "erased": 0}


def test_a_project_is_forgotten_whole(api: Server, project: str) -> None:
    kept = saved(api, f"{project}-other", "stays")
    numbers = [saved(api, project, f"第 {n} 条") for n in range(3)]
    assert forget(api, project=project, preview=True)["found"] == 3
    assert forget(api, project=project)["erased"] == 3
    assert there(api, [*numbers, kept]) == [kept]


def test_a_session_is_forgotten_with_what_was_captured(api: Server, project: str) -> None:
    session = f"session-of-{project}"
    begun = api.post("/api/sessions/init", {"contentSessionId": session, "project": project, "prompt": "忘掉我"}).json
    assert forget(api, session=session, preview=True)["found"] == 1
    assert forget(api, sessionDbId=begun["sessionDbId"], preview=True)["found"] == 1
    assert forget(api, sessionDbId=begun["sessionDbId"])["erased"] == 1
    assert forget(api, session=session)["erased"] == 0
    again = api.post("/api/sessions/init", {"contentSessionId": session, "project": project, "prompt": "x"}).json
    assert again["sessionDbId"] != begun["sessionDbId"]
    assert again["promptNumber"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {}, {"preview": True}, {"ids": [1], "project": "x"}, {"ids": []}, {"ids": ["x"]}, {"ids": [1] * 1001},
        {"project": ""}, {"everything": True}, {"session": 5},
    ],
)  # fmt: skip
def test_exactly_one_thing_is_named(api: Server, body: dict[str, Any]) -> None:
    reply = api.post("/api/forget", body)
    assert (reply.status, "error" in reply.json) == (400, True)
