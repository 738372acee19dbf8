"""Beyond the contract: correcting items, looking at them side by side, and taking decisions back, evidence included."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.store.database import Database
from codexmem.qa import wire
from codexmem.qa.store import Beliefs, Learned
from tests._support.asking import DAY_MS, PROJECT, Endpoint
from tests.surfaces._kit import asgi
from tests.surfaces._kit.asgi import Answer

QUESTION, ANSWER = "怎样更改服务器的端口？", "1. 设置 CODEXMEM_PORT。\n2. 重新启动服务器；仅限本机。"


def patch(endpoint: Endpoint, qa_id: str, body: dict[str, Any]) -> Answer:
    raw = json.dumps(body, ensure_ascii=False).encode()
    return asgi.call(endpoint.app, "PATCH", f"/v1/qa/items/{qa_id}", headers=[asgi.JSON], body=raw)


def item(endpoint: Endpoint, qa_id: str) -> Any:
    shown = endpoint.get(f"/v1/qa/items/{qa_id}").json
    return {name: shown[name] for name in wire.QAItem.model_fields if name not in {"updated_at_ms", "version"}}


def learned(endpoint: Endpoint, db: Database, qa_id: str) -> Learned:
    return Beliefs(db).of([endpoint.memory(qa_id).seq])[endpoint.memory(qa_id).seq]


def undo(endpoint: Endpoint, qa_id: str, delta: str) -> Any:
    return endpoint.said(f"/v1/qa/items/{qa_id}/undo", {"delta": delta})


def test_a_person_corrects_an_item(endpoint: Endpoint) -> None:
    qa_id = endpoint.add(QUESTION, ANSWER, tags=("端口",), summary="旧")
    edited = patch(
        endpoint, qa_id, {"question": "如何修改端口？", "tags": ["端口", "设置"], "summary": "", "version": 1}
    ).json
    assert (edited["question"], edited["answer"], edited["tags"]) == ("如何修改端口？", ANSWER, ["端口", "设置"])
    assert (edited["summary"], edited["version"], edited["status"]) == (None, 2, "candidate")
    assert endpoint.memory(qa_id).state.title == "如何修改端口？"
    assert [each.memory.id for each in endpoint.find("如何修改端口")] == [qa_id]
    assert patch(endpoint, qa_id, {"answer": "晚了一步的修改。", "version": 1}).status == 409
    same = patch(endpoint, qa_id, {"summary": ""}).json
    assert (same["delta"], same["version"]) == (None, 2)
    restored = undo(endpoint, qa_id, edited["delta"])
    assert (restored["question"], restored["tags"], restored["summary"]) == (QUESTION, ["端口"], "旧")
    assert (restored["undone"], restored["version"]) == (True, 3)


@pytest.mark.parametrize("body", [{}, {"question": " "}, {"answer": "<private>秘密</private>"}, {"tags": "x"}])
def test_corrections_that_do_not_fit_are_422(endpoint: Endpoint, body: dict[str, Any]) -> None:
    assert patch(endpoint, endpoint.add(QUESTION, ANSWER), body).status == 422


def test_secrets_are_masked_and_strangers_see_nothing(endpoint: Endpoint) -> None:
    qa_id = endpoint.add(QUESTION, ANSWER)
    secret = "sk-proj-" + "a1B2" * 12
    assert secret not in str(patch(endpoint, qa_id, {"answer": f"用 {secret} 登录。"}).json)
    assert patch(endpoint, qa_id, {"answer": "x", "project_id": "elsewhere"}).status == 404
    assert patch(endpoint, "qa-x", {"answer": "x"}).status == 404


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_decision_is_taken_back_with_its_evidence(endpoint: Endpoint, database: Database, verb: str) -> None:
    qa_id = endpoint.add(QUESTION, ANSWER, confidence=0.6)
    endpoint.used(qa_id)
    before, known = item(endpoint, qa_id), learned(endpoint, database, qa_id)
    decided = endpoint.said(f"/v1/qa/items/{qa_id}/{verb}", {"project_id": PROJECT})
    assert decided["status"] in {"validated", "deprecated"}
    assert decided["confidence"] != before["confidence"]
    restored = undo(endpoint, qa_id, decided["delta"])
    assert (restored["status"], restored["undone"]) == ("candidate", True)
    assert item(endpoint, qa_id) == before
    assert learned(endpoint, database, qa_id) == known
    again = undo(endpoint, qa_id, decided["delta"])
    assert (again["undone"], again["status"]) == (False, "candidate")
    assert learned(endpoint, database, qa_id) == known


def test_what_was_learned_since_stays(endpoint: Endpoint) -> None:
    with_it, without = endpoint.add(QUESTION, ANSWER), endpoint.add("Which shell runs the hooks?", "The shell is bash.")
    delta = endpoint.said(f"/v1/qa/items/{with_it}/approve", {})["delta"]
    for qa_id in (with_it, without):
        endpoint.used(qa_id, f"m-{qa_id}")
    endpoint.real.clock.advance(5 * DAY_MS)
    restored = undo(endpoint, with_it, delta)
    beside = endpoint.get(f"/v1/qa/items/{without}").json
    assert (restored["status"], restored["validations"]) == ("candidate", {"success": 0, "failure": 0})
    assert restored["confidence"] == pytest.approx(beside["confidence"], abs=0.001)
    assert restored["hits"] == {"shown": 1, "used": 1}


def test_approving_what_is_approved_is_taken_back_too(endpoint: Endpoint, database: Database) -> None:
    qa_id = endpoint.add(QUESTION, ANSWER)
    endpoint.said(f"/v1/qa/items/{qa_id}/approve", {})
    once, known = item(endpoint, qa_id), learned(endpoint, database, qa_id)
    delta = endpoint.said(f"/v1/qa/items/{qa_id}/approve", {})["delta"]
    assert undo(endpoint, qa_id, delta)["status"] == "validated"
    assert (item(endpoint, qa_id), learned(endpoint, database, qa_id)) == (once, known)


@pytest.mark.parametrize("asked_about", ["merged", "into"])
def test_a_merge_is_taken_back_from_either_side(endpoint: Endpoint, database: Database, asked_about: str) -> None:
    one = endpoint.add("What is the default port?", "It is port 8080.")
    other = endpoint.add("Which port does it use?", "Port 8080, unless PORT says otherwise.")
    before = (item(endpoint, one), item(endpoint, other), learned(endpoint, database, other))
    delta = endpoint.said(f"/v1/qa/items/{other}/merge", {"into": one})["delta"]
    assert endpoint.get(f"/v1/qa/items/{other}").json["status"] == "deprecated"
    undo(endpoint, {"merged": other, "into": one}[asked_about], delta)
    assert (item(endpoint, one), item(endpoint, other), learned(endpoint, database, other)) == before


def test_what_was_written_since_is_not_overwritten(endpoint: Endpoint) -> None:
    qa_id = endpoint.add(QUESTION, ANSWER)
    delta = endpoint.said(f"/v1/qa/items/{qa_id}/approve", {})["delta"]
    later = patch(endpoint, qa_id, {"tags": ["端口"]}).json["delta"]
    refused = endpoint.post(f"/v1/qa/items/{qa_id}/undo", {"delta": delta})
    assert (refused.status, item(endpoint, qa_id)["status"]) == (409, "validated")
    assert item(endpoint, qa_id)["validations"] == {"success": 1, "failure": 0}
    undo(endpoint, qa_id, later)
    assert item(endpoint, qa_id)["tags"] == []


def test_only_decisions_about_this_item_are_taken_back(endpoint: Endpoint) -> None:
    qa_id, other = endpoint.add(QUESTION, ANSWER), endpoint.add("Which shell runs the hooks?", "The shell is bash.")
    delta = endpoint.said(f"/v1/qa/items/{other}/approve", {})["delta"]
    foreign = endpoint.real.history.open_delta("session:1", "approve", WriteContext("test")).id
    for wrong in (delta, foreign, "delta_0"):
        assert endpoint.post(f"/v1/qa/items/{qa_id}/undo", {"delta": wrong}).status == 404
    assert endpoint.post(f"/v1/qa/items/{other}/undo", {"delta": delta, "project_id": "elsewhere"}).status == 404
    assert endpoint.post(f"/v1/qa/items/{other}/undo", {}).status == 422


def test_similar_items_stand_side_by_side(endpoint: Endpoint) -> None:
    one = endpoint.add("What is the default port of the server?", "It is port 8080.")
    clash = endpoint.add("What is the default port of the server?", "It is port 9090.")
    near = endpoint.add("How do I change the default port of the server?", "Set the variable PORT and start it again.")
    endpoint.add("谁写了这份文档？", "文档组。")
    found = endpoint.get(f"/v1/qa/items/{one}/similar", limit=2).json
    shown = wire.QASimilarAnswer.model_validate(found)
    assert [each.qa_id for each in shown.items] == [clash, near]
    assert (shown.items[0].likeness, shown.items[0].agreement) == ("same", "contradicts")
    assert shown.items[0].similarity > shown.items[1].similarity > 0.2
    assert shown.count == 2
    assert endpoint.get(f"/v1/qa/items/{one}/similar", project_id="elsewhere").status == 404
    assert endpoint.get(f"/v1/qa/items/{one}/similar", limit=21).status == 422


def test_what_a_review_looks_up_is_nobodys_search(endpoint: Endpoint) -> None:
    one = endpoint.add("What is the default port of the server?", "It is port 8080.")
    assert endpoint.get(f"/v1/qa/items/{one}/similar").status == endpoint.get(f"/v1/qa/items/{one}").status == 200
    endpoint.real.traces.flush()
    logged = {
        name: len(endpoint.real.events.of_type(f"search.{name}", from_ms=0, to_ms=2**62, limit=9))
        for name in ("answered", "looked_up")
    }
    assert logged == {"answered": 0, "looked_up": 3}


def test_counts_by_status(endpoint: Endpoint) -> None:
    one, two, _ = (
        endpoint.add(f"What is the port of service{number}?", f"It is port {number}.") for number in range(3)
    )
    endpoint.said(f"/v1/qa/items/{one}/approve", {})
    endpoint.said(f"/v1/qa/items/{two}/reject", {})
    endpoint.add("别的项目的端口？", "是 1 号端口。", project="别处")
    everywhere, here = endpoint.get("/v1/qa/counts").json, endpoint.get("/v1/qa/counts", project_id=PROJECT).json
    assert everywhere["counts"] == {"active": 0, "candidate": 2, "deprecated": 1, "expired": 0, "validated": 1}
    assert here["counts"] == everywhere["counts"] | {"candidate": 1}
    assert endpoint.get("/v1/qa/counts", project_id="nowhere").json["counts"]["candidate"] == 0


def test_the_gatekeepers_rules_are_told(endpoint: Endpoint) -> None:
    good = endpoint.add(QUESTION, ANSWER, metadata='{"gatekeeper": "soft"}')
    poor = endpoint.add("现在怎么样了？", "刚才已经修好了。")
    told = endpoint.get(f"/v1/qa/items/{good}").json["gatekeeper"]
    assert told["mode"] == "soft"
    assert [rule["name"] for rule in told["rules"]] == ["reusable", "form", "safe"]
    assert told["rules"][2] == {
        "name": "safe", "passed": True, "why": "no secret was found in it", "why_zh": "没有发现密钥等秘密",
    }  # fmt: skip
    doubtful = endpoint.get(f"/v1/qa/items/{poor}").json["gatekeeper"]
    assert (doubtful["mode"], all(rule["passed"] for rule in doubtful["rules"])) == (None, False)
