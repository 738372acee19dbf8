"""Beyond the contracts: GET /api/sessions and what happened in one, turn by turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from codexmem.recall.sessions import EVENTS
from tests._support.described import require
from tests._support.server import Server, create_key
from tests._support.waiting import eventually


class Told:
    """One session as hooks report it."""

    def __init__(self, api: Server, project: str, name: str = "s") -> None:
        self.api = api
        self.project = project
        self.key = f"{name}-{project}"
        self.calls = 0

    def say(self, verb: str, **more: Any) -> Any:
        body = {
            "contentSessionId": self.key,
            "project": self.project,
            "platform": "claude-code",
            "cwd": "/工作",
            **more,
        }
        reply = self.api.post(f"/api/sessions/{verb}", body)
        assert reply.status == 200, reply.body
        return reply.json

    def ask(self, prompt: str) -> int:
        number: int = self.say("init", prompt=prompt)["sessionDbId"]
        return number

    def use(self, tool: str, given: Any, response: Any) -> None:
        self.calls += 1
        told = {"tool_name": tool, "tool_input": given, "tool_response": response, "tool_use_id": f"c{self.calls}"}
        assert self.say("observations", **told)["status"] == "queued"

    def handed(self, prompt: str = "") -> str:
        query = urlencode({"project": self.project, "session": self.key, "prompt": prompt})
        return self.api.request("GET", f"/api/context?{query}").body.decode()


def get(api: Server, path: str, template: str, **query: Any) -> Any:
    reply = api.request("GET", f"{path}?{urlencode(query)}")
    assert reply.status == 200, reply.body
    return require(api, "GET", template, reply.json)


def sessions(api: Server, **query: Any) -> Any:
    return get(api, "/api/sessions", "/api/sessions", **query)


def turns(api: Server, number: int, **query: Any) -> Any:
    return get(api, f"/api/sessions/{number}/turns", "/api/sessions/{number}/turns", **query)


def extracted(api: Server, project: str, kind: str, *, beside: int = 0) -> int:
    """The number of the one that was extracted, as soon as it is there."""

    def made() -> list[int]:
        items = api.request("GET", f"/api/{kind}?project={project}").json["items"]
        return [item["id"] for item in items if item["id"] != beside]

    (number,) = eventually(made)
    return number


def test_a_session_is_told_turn_by_turn(api: Server, project: str) -> None:
    saved = api.post("/api/memory/save", {"text": "deploy with make ship", "title": "部署", "project": project}).json
    told = Told(api, project)
    assert f"#{saved['id']}" in told.handed()
    number = told.ask("修复登录，谢谢")
    told.handed("修复登录，谢谢")
    told.use("Bash", {"command": "pytest"}, {"stdout": "1 failed 失败" + "x" * 2_000})
    told.say("summarize", last_assistant_message="修好了")
    told.ask("第二个问题")
    told.say("complete")
    observation = extracted(api, project, "observations", beside=saved["id"])
    summary = extracted(api, project, "summaries")

    page = turns(api, number)
    assert (page["session"], page["has_more"], [each["turn"] for each in page["items"]]) == (number, False, [0, 1, 2])
    before, first, second = page["items"]
    (given,) = before["injected"]
    assert (given["start"], given["count"] >= 1, given["tokens"] > 0) == (True, True, True)
    # Important notes of other tests are handed over in every project.
    assert (f"#{saved['id']}", True) in [(each["ref"], each["whole"]) for each in given["memories"]]
    assert (before["prompt"], before["events"], before["started_ms"]) == (None, [], None)

    assert (first["prompt"]["text"], first["prompt"]["private"]) == ("修复登录，谢谢", False)
    tool, stop = first["events"]
    assert (tool["kind"], tool["tool"], tool["kept"], tool["cut"]) == ("tool", "Bash", True, True)
    assert (tool["input"], tool["response"][:20]) == ('{"command": "pytest"}', '{"stdout": "1 failed')
    assert (stop["kind"], stop["message"], stop["input"]) == ("stop", "修好了", None)
    assert (tool["observations"], stop["observations"]) == ([observation, summary], [summary])
    assert [each["ref"] for each in first["observations"]] == [f"#{observation}"]
    assert [each["ref"] for each in first["summaries"]] == [f"#S{summary}"]
    assert {each["status"] for each in first["jobs"]} == {"completed"}
    assert all(each["wait_ms"] >= 0 and each["work_ms"] >= 0 and each["by"] == "rules" for each in first["jobs"])
    assert not any(each["start"] for each in first["injected"])
    assert first["started_ms"] <= first["ended_ms"] <= second["started_ms"]
    assert (second["prompt"]["text"], second["events"], second["continues"]) == ("第二个问题", [], False)

    whole = get(
        api, f"/api/sessions/{number}/events/{tool['seq']}", "/api/sessions/{number}/events/{seq}"
    )  # fmt: skip
    assert whole["response"] == {"stdout": "1 failed 失败" + "x" * 2_000}
    row = get(api, f"/api/sessions/{number}", "/api/sessions/{number}")
    assert (row["title"], row["turns"], row["status"], row["agent"]) == (
        "修复登录，谢谢",
        2,
        "completed",
        "claude-code",
    )
    assert (row["observations"], row["summaries"], row["counted"], row["source"]) == (1, 1, True, f"session:{number}")
    found = sessions(api, project=project, q="登录")
    assert [each["number"] for each in found["items"]] == [number]
    assert 0 < found["items"][0]["score"] <= 1


def test_what_was_undone_of_a_session_is_told_as_hidden_until_it_is_brought_back(api: Server, project: str) -> None:
    told = Told(api, project)
    number = told.ask("撤销我")
    told.use("Bash", {"command": "pytest"}, {"stdout": "1 failed"})
    told.say("complete")
    observation = extracted(api, project, "observations")
    path, described = f"/api/sessions/{number}", "/api/sessions/{number}"
    row = get(api, path, described)
    assert (row["hidden"], row["undone"]) == (0, [])

    delta = api.post("/api/undo", {"source": row["source"]}).json["delta"]
    row = get(api, path, described)
    assert (row["title"], row["observations"], row["hidden"], row["undone"]) == ("", 0, 2, [delta])
    (listed,) = sessions(api, project=project)["items"]
    assert (listed["hidden"], "undone" in listed) == (2, False)
    (turn,) = turns(api, number)["items"]
    assert (turn["prompt"], turn["observations"]) == (None, [])
    (turn,) = turns(api, number, hidden="true")["items"]
    assert (turn["prompt"]["text"], turn["prompt"]["hidden"]) == ("撤销我", True)
    assert [(each["seq"], each["hidden"]) for each in turn["observations"]] == [(observation, True)]

    assert api.post("/api/undo", {"delta": delta}).json["restored"] == 2
    row = get(api, path, described)
    assert (row["title"], row["hidden"], row["undone"]) == ("撤销我", 0, [])
    again = api.post("/api/undo", {"source": row["source"], "mode": "strict"}).json["delta"]
    assert get(api, path, described)["undone"] == [again]


def test_sessions_are_paged_by_last_activity_and_stand_still(api: Server, project: str) -> None:
    numbers = [Told(api, project, name).ask(f"{name} 问") for name in "abc"]
    first = sessions(api, project=project, limit=2)
    assert [each["number"] for each in first["items"]] == numbers[:0:-1]
    Told(api, project, "d").ask("later")
    rest = sessions(api, project=project, cursor=first["next_cursor"])
    assert [each["number"] for each in rest["items"]] == numbers[:1]
    assert (rest["has_more"], rest["next_cursor"]) == (False, None)
    assert len(sessions(api, limit=1)["items"]) == 1
    assert sessions(api, project="nobody's")["items"] == []


def test_private_turns_have_a_number_and_nothing_else(api: Server, project: str) -> None:
    told = Told(api, project)
    number = told.ask("<private>geheim</private>")
    told.ask("öffentlich")
    hidden, shown = turns(api, number)["items"]
    assert (hidden["prompt"]["text"], hidden["prompt"]["private"]) == ("", True)
    assert shown["prompt"]["text"] == "öffentlich"
    assert get(api, f"/api/sessions/{number}", "/api/sessions/{number}")["title"] == "öffentlich"


def test_long_turns_are_split_and_every_event_is_told_once(api: Server, project: str) -> None:
    told = Told(api, project)
    number = told.ask("一")
    for each in range(EVENTS + 20):
        told.use("Read", {"file_path": f"/src/{each}"}, "ok")
    told.ask("二")
    told.use("Bash", {"command": "make"}, "ok")
    told.ask("三")
    page = turns(api, number, limit=2)
    seen: list[tuple[int, int]] = []
    shapes = []
    while True:
        shapes.append([(each["turn"], each["continues"], each["prompt"] is not None) for each in page["items"]])
        seen += [(each["turn"], event["seq"]) for each in page["items"] for event in each["events"]]
        if not page["has_more"]:
            break
        page = turns(api, number, limit=2, cursor=page["next_cursor"])
    assert shapes == [[(1, True, True)], [(1, False, False), (2, False, True)], [(3, False, True)]]
    assert len(seen) == len(set(seen)) == EVENTS + 21
    assert [turn for turn, _ in seen] == [1] * (EVENTS + 20) + [2]


def test_a_forgotten_session_is_gone(api: Server, project: str) -> None:
    number = Told(api, project).ask("vergiss mich")
    assert api.post("/api/forget", {"sessionDbId": number}).status == 200
    for path in ("", "/turns", "/events/1"):
        reply = api.request("GET", f"/api/sessions/{number}{path}")
        assert (reply.status, "error" in reply.json) == (404, True), path


@pytest.mark.parametrize(
    "path,status",
    [
        ("?limit=0", 400), ("?cursor=x", 400), ("/1/turns?limit=51", 400), ("/1/turns?cursor=AAAA", 400),
        ("/99999999999999999999", 400), ("/init", 405), ("/0", 404), ("/no", 404),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(api: Server, path: str, status: int) -> None:
    assert api.request("GET", f"/api/sessions{path}").status == status


def test_a_cursor_of_another_session_is_refused(api: Server, project: str) -> None:
    told = Told(api, project)
    number = told.ask("一")
    told.ask("二")
    cursor = turns(api, number, limit=1)["next_cursor"]
    assert api.request("GET", f"/api/sessions/{number + 1}/turns?cursor={cursor}").status == 400


@pytest.mark.postgresql
def test_nobody_sees_another_tenants_sessions(postgresql_api: Server, postgres_url: str, tmp_path: Path, project: str
                                              ) -> None:  # fmt: skip
    told = Told(postgresql_api, project)
    number = told.ask("mine alone")
    told.use("Bash", {"command": "x"}, "y")
    seq = turns(postgresql_api, number)["items"][0]["events"][0]["seq"]
    other = {"Authorization": f"Bearer {create_key(tmp_path, postgres_url, 'another')}"}
    for path in ("", "/turns", f"/events/{seq}"):
        assert postgresql_api.request("GET", f"/api/sessions/{number}{path}", headers=other).status == 404, path
    for path in ("sessions", "sessions?q=alone", "memories/timeline"):
        assert postgresql_api.request("GET", f"/api/{path}", headers=other).json["items"] == [], path
