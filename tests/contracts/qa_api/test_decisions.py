"""Beyond the contract: correcting items, looking at them side by side, and taking decisions back, evidence included."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.domain.history import By
from codexmem.store.beliefs import Beliefs, Learned
from codexmem.store.database import Database
from codexmem.surfaces.qa_api import answers
from tests._support.asking import DAY_MS, PROJECT, Door
from tests.surfaces._kit import asgi
from tests.surfaces._kit.asgi import Answer

QUESTION, ANSWER = "怎样更改服务器的端口？", "1. 设置 CODEXMEM_PORT。\n2. 重新启动服务器；仅限本机。"


def patch(door: Door, qa_id: str, body: dict[str, Any]) -> Answer:
    raw = json.dumps(body, ensure_ascii=False).encode()
    return asgi.call(door.app, "PATCH", f"/v1/qa/items/{qa_id}", headers=[asgi.JSON], body=raw)


def item(door: Door, qa_id: str) -> Any:
    shown = door.get(f"/v1/qa/items/{qa_id}").json
    return {name: shown[name] for name in answers.QAItem.model_fields if name not in {"updated_at_ms", "version"}}


def learned(door: Door, db: Database, qa_id: str) -> Learned:
    return Beliefs(db).of([door.memory(qa_id).seq])[door.memory(qa_id).seq]


def undo(door: Door, qa_id: str, delta: str) -> Any:
    return door.said(f"/v1/qa/items/{qa_id}/undo", {"delta": delta})


def test_a_person_corrects_an_item(door: Door) -> None:
    qa_id = door.add(QUESTION, ANSWER, tags=("端口",), summary="旧")
    edited = patch(
        door, qa_id, {"question": "如何修改端口？", "tags": ["端口", "设置"], "summary": "", "version": 1}
    ).json
    assert (edited["question"], edited["answer"], edited["tags"]) == ("如何修改端口？", ANSWER, ["端口", "设置"])
    assert (edited["summary"], edited["version"], edited["status"]) == (None, 2, "candidate")
    assert door.memory(qa_id).state.title == "如何修改端口？"
    assert [each.memory.id for each in door.find("如何修改端口")] == [qa_id]
    assert patch(door, qa_id, {"answer": "晚了一步的修改。", "version": 1}).status == 409
    same = patch(door, qa_id, {"summary": ""}).json
    assert (same["delta"], same["version"]) == (None, 2)
    restored = undo(door, qa_id, edited["delta"])
    assert (restored["question"], restored["tags"], restored["summary"]) == (QUESTION, ["端口"], "旧")
    assert (restored["undone"], restored["version"]) == (True, 3)


@pytest.mark.parametrize("body", [{}, {"question": " "}, {"answer": "<private>秘密</private>"}, {"tags": "x"}])
def test_corrections_that_do_not_fit_are_422(door: Door, body: dict[str, Any]) -> None:
    assert patch(door, door.add(QUESTION, ANSWER), body).status == 422


def test_secrets_are_masked_and_strangers_see_nothing(door: Door) -> None:
    qa_id = door.add(QUESTION, ANSWER)
    secret = "sk-proj-" + "a1B2" * 12
    assert secret not in str(patch(door, qa_id, {"answer": f"用 {secret} 登录。"}).json)
    assert patch(door, qa_id, {"answer": "x", "project_id": "elsewhere"}).status == 404
    assert patch(door, "qa-x", {"answer": "x"}).status == 404


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_decision_is_taken_back_with_its_evidence(door: Door, database: Database, verb: str) -> None:
    qa_id = door.add(QUESTION, ANSWER, confidence=0.6)
    door.used(qa_id)
    before, known = item(door, qa_id), learned(door, database, qa_id)
    decided = door.said(f"/v1/qa/items/{qa_id}/{verb}", {"project_id": PROJECT})
    assert decided["status"] in {"validated", "deprecated"}
    assert decided["confidence"] != before["confidence"]
    restored = undo(door, qa_id, decided["delta"])
    assert (restored["status"], restored["undone"]) == ("candidate", True)
    assert item(door, qa_id) == before
    assert learned(door, database, qa_id) == known
    again = undo(door, qa_id, decided["delta"])
    assert (again["undone"], again["status"]) == (False, "candidate")
    assert learned(door, database, qa_id) == known


def test_what_was_learned_since_stays(door: Door) -> None:
    with_it, without = door.add(QUESTION, ANSWER), door.add("Which shell runs the hooks?", "The shell is bash.")
    delta = door.said(f"/v1/qa/items/{with_it}/approve", {})["delta"]
    for qa_id in (with_it, without):
        door.used(qa_id, f"m-{qa_id}")
    door.real.clock.advance(5 * DAY_MS)
    restored = undo(door, with_it, delta)
    beside = door.get(f"/v1/qa/items/{without}").json
    assert (restored["status"], restored["validations"]) == ("candidate", {"success": 0, "failure": 0})
    assert restored["confidence"] == pytest.approx(beside["confidence"], abs=0.001)
    assert restored["hits"] == {"shown": 1, "used": 1}


def test_approving_what_is_approved_is_taken_back_too(door: Door, database: Database) -> None:
    qa_id = door.add(QUESTION, ANSWER)
    door.said(f"/v1/qa/items/{qa_id}/approve", {})
    once, known = item(door, qa_id), learned(door, database, qa_id)
    delta = door.said(f"/v1/qa/items/{qa_id}/approve", {})["delta"]
    assert undo(door, qa_id, delta)["status"] == "validated"
    assert (item(door, qa_id), learned(door, database, qa_id)) == (once, known)


@pytest.mark.parametrize("asked_about", ["merged", "into"])
def test_a_merge_is_taken_back_from_either_side(door: Door, database: Database, asked_about: str) -> None:
    one = door.add("What is the default port?", "It is port 8080.")
    other = door.add("Which port does it use?", "Port 8080, unless PORT says otherwise.")
    before = (item(door, one), item(door, other), learned(door, database, other))
    delta = door.said(f"/v1/qa/items/{other}/merge", {"into": one})["delta"]
    assert door.get(f"/v1/qa/items/{other}").json["status"] == "deprecated"
    undo(door, {"merged": other, "into": one}[asked_about], delta)
    assert (item(door, one), item(door, other), learned(door, database, other)) == before


def test_what_was_written_since_is_not_overwritten(door: Door) -> None:
    qa_id = door.add(QUESTION, ANSWER)
    delta = door.said(f"/v1/qa/items/{qa_id}/approve", {})["delta"]
    later = patch(door, qa_id, {"tags": ["端口"]}).json["delta"]
    refused = door.post(f"/v1/qa/items/{qa_id}/undo", {"delta": delta})
    assert (refused.status, item(door, qa_id)["status"]) == (409, "validated")
    assert item(door, qa_id)["validations"] == {"success": 1, "failure": 0}
    undo(door, qa_id, later)
    assert item(door, qa_id)["tags"] == []


def test_only_decisions_about_this_item_are_taken_back(door: Door) -> None:
    qa_id, other = door.add(QUESTION, ANSWER), door.add("Which shell runs the hooks?", "The shell is bash.")
    delta = door.said(f"/v1/qa/items/{other}/approve", {})["delta"]
    foreign = door.real.history.open_delta("session:1", "approve", By("test")).id
    for wrong in (delta, foreign, "delta_0"):
        assert door.post(f"/v1/qa/items/{qa_id}/undo", {"delta": wrong}).status == 404
    assert door.post(f"/v1/qa/items/{other}/undo", {"delta": delta, "project_id": "elsewhere"}).status == 404
    assert door.post(f"/v1/qa/items/{other}/undo", {}).status == 422


def test_similar_items_stand_side_by_side(door: Door) -> None:
    one = door.add("What is the default port of the server?", "It is port 8080.")
    clash = door.add("What is the default port of the server?", "It is port 9090.")
    near = door.add("How do I change the default port of the server?", "Set the variable PORT and start it again.")
    door.add("谁写了这份文档？", "文档组。")
    found = door.get(f"/v1/qa/items/{one}/similar", limit=2).json
    shown = answers.QASimilarAnswer.model_validate(found)
    assert [each.qa_id for each in shown.items] == [clash, near]
    assert (shown.items[0].likeness, shown.items[0].agreement) == ("same", "contradicts")
    assert shown.items[0].similarity > shown.items[1].similarity > 0.2
    assert shown.count == 2
    assert door.get(f"/v1/qa/items/{one}/similar", project_id="elsewhere").status == 404
    assert door.get(f"/v1/qa/items/{one}/similar", limit=21).status == 422


def test_counts_by_status(door: Door) -> None:
    one, two, _ = (door.add(f"What is the port of service{number}?", f"It is port {number}.") for number in range(3))
    door.said(f"/v1/qa/items/{one}/approve", {})
    door.said(f"/v1/qa/items/{two}/reject", {})
    door.add("别的项目的端口？", "是 1 号端口。", project="别处")
    everywhere, here = door.get("/v1/qa/counts").json, door.get("/v1/qa/counts", project_id=PROJECT).json
    assert everywhere["counts"] == {"active": 0, "candidate": 2, "deprecated": 1, "expired": 0, "validated": 1}
    assert here["counts"] == everywhere["counts"] | {"candidate": 1}
    assert door.get("/v1/qa/counts", project_id="nowhere").json["counts"]["candidate"] == 0


def test_the_gatekeepers_rules_are_told(door: Door) -> None:
    good = door.add(QUESTION, ANSWER, metadata='{"gatekeeper": "soft"}')
    poor = door.add("现在怎么样了？", "刚才已经修好了。")
    told = door.get(f"/v1/qa/items/{good}").json["gatekeeper"]
    assert told["mode"] == "soft"
    assert [rule["name"] for rule in told["rules"]] == ["reusable", "form", "safe"]
    assert told["rules"][2] == {
        "name": "safe", "passed": True, "why": "no secret was found in it", "why_zh": "没有发现密钥等秘密",
    }  # fmt: skip
    doubtful = door.get(f"/v1/qa/items/{poor}").json["gatekeeper"]
    assert (doubtful["mode"], all(rule["passed"] for rule in doubtful["rules"])) == (None, False)
