"""Contract 001 §4.3, §8.3, §8.4 and §8.5: hits, validations and expiry."""

from __future__ import annotations

from typing import Any

import pytest

from tests._support.asking import DAY_MS, PROJECT, Endpoint

HIT, VALIDATE, EXPIRE = "/v1/qa/hit", "/v1/qa/validate", "/v1/qa/expire"


@pytest.fixture
def qa_id(endpoint: Endpoint) -> str:
    """A candidate."""
    return endpoint.add("What is the default port?", "It is port 8080.")


def hit(endpoint: Endpoint, *references: dict[str, Any]) -> Any:
    return endpoint.said(HIT, {"project_id": PROJECT, "references": list(references)})


def item(endpoint: Endpoint, qa_id: str) -> Any:
    return endpoint.get(f"/v1/qa/items/{qa_id}").json


@pytest.mark.clause(
    "001 §8.3", "references are counted; what is unknown is told, what was reported before is not counted"
)
def test_hits(endpoint: Endpoint, qa_id: str) -> None:
    run = {"qa_id": qa_id, "shown": True, "used": True, "message_id": "m-1", "context": "injected:system"}
    assert hit(endpoint, run, {"qa_id": "qa-unknown"}) == {"accepted": 1, "deduped": 0, "unknown": ["qa-unknown"]}
    assert hit(endpoint, run) == {"accepted": 0, "deduped": 1, "unknown": []}
    assert item(endpoint, qa_id)["hits"] == {"shown": 1, "used": 1}
    assert hit(endpoint) == {"accepted": 0, "deduped": 0, "unknown": []}


@pytest.mark.clause(
    "001 §4.3", "only qa_id is required: alone it means shown; used means shown too, unless that is denied"
)
def test_what_a_reference_means(endpoint: Endpoint, qa_id: str) -> None:
    counts = []
    for reference in (
        {},
        {"used": True},
        {"shown": False, "used": True},
        {"shown": None, "used": False},
        {"used": None},
    ):
        before = item(endpoint, qa_id)["hits"]
        hit(endpoint, {"qa_id": qa_id, **reference})
        after = item(endpoint, qa_id)["hits"]
        counts.append((after["shown"] - before["shown"], after["used"] - before["used"]))
    assert counts == [(1, 0), (1, 1), (0, 1), (0, 0), (1, 0)]


@pytest.mark.clause("001 §4.3", "message_id is the run's; context may be any value")
def test_messages_and_contexts(endpoint: Endpoint, qa_id: str) -> None:
    for context in ("section:design", {"section": "设计"}, ["a", 1], None, "x" * 5_000):
        hit(endpoint, {"qa_id": qa_id, "shown": True, "message_id": f"m-{str(context)[:20]}", "context": context})
    assert item(endpoint, qa_id)["hits"] == {"shown": 5, "used": 0}


@pytest.mark.clause("001 §8.3", "what does not fit is 422, and nothing of it counts")
def test_hits_that_do_not_fit(endpoint: Endpoint) -> None:
    unfit: list[dict[str, Any]] = [
        {"references": []}, {"project_id": PROJECT}, {"project_id": PROJECT, "references": {}},
        {"project_id": PROJECT, "references": [{"shown": True}]},
        {"project_id": PROJECT, "references": [{"qa_id": ""}]},
        {"project_id": PROJECT, "references": [{"qa_id": "qa-1"}] * 201},
        {"project_id": PROJECT, "references": [{"qa_id": "qa-1", "message_id": "m" * 201}]},
        {"project_id": PROJECT, "references": [{"qa_id": "qa-1", "shown": "perhaps"}]},
    ]  # fmt: skip
    assert [endpoint.post(HIT, body).status for body in unfit] == [422] * len(unfit)


@pytest.mark.clause(
    "001 §8.4", "a report with every field; the answer says where the item stands and how far it is believed"
)
def test_a_validation(endpoint: Endpoint, qa_id: str) -> None:
    body = {
        "project_id": PROJECT, "qa_id": qa_id, "result": "pass", "signal_strength": 0.9, "success": True,
        "strong_signal": True, "source": "ci", "context": "tests/unit", "client": "mem-codecli/1",
        "payload": {"exit": 0}, "ts": 1_800_000_000,
    }  # fmt: skip
    told = endpoint.said(VALIDATE, body)
    assert told == {
        "qa_id": qa_id, "status": "validated", "previous_status": "candidate", "confidence": told["confidence"],
        "unproven": False, "hits": {"shown": 0, "used": 0}, "validations": {"success": 1, "failure": 0},
    }  # fmt: skip
    assert told["confidence"] > 0.5


@pytest.mark.clause("001 §8.4", "where success is missing, the words of result say it, in English and Chinese")
def test_results_in_words(endpoint: Endpoint, qa_id: str) -> None:
    worked, failed = ("pass", "success", "OK", "通过", True), ("fail", "失败", False)
    for result in (*worked, *failed, "skipped"):
        endpoint.said(VALIDATE, {"project_id": PROJECT, "qa_id": qa_id, "result": result})
    assert item(endpoint, qa_id)["validations"] == {"success": len(worked), "failure": len(failed)}


@pytest.mark.clause("001 §8.4", "fields that contradict each other are refused with the reason; an unknown item is 404")
def test_validations_that_do_not_fit(endpoint: Endpoint, qa_id: str) -> None:
    unfit: list[tuple[dict[str, Any], int, str]] = [
        ({"success": True, "result": "失败"}, 422, "says the opposite"), ({}, 422, "neither success nor result"),
        ({"result": "maybe"}, 422, "no word that is known"),
        ({"success": True, "signal_strength": 2}, 422, "between 0 and 1"),
        ({"success": True, "ts": "yesterday"}, 422, "ts must be"), ({"success": True, "qa_id": "qa-x"}, 404, "qa-x"),
        ({"success": True, "project_id": "elsewhere"}, 404, "project"), ({"success": "si"}, 422, "success"),
    ]  # fmt: skip
    for fields, status, said in unfit:
        reply = endpoint.post(VALIDATE, {"project_id": PROJECT, "qa_id": qa_id, **fields})
        assert reply.status == status, fields
        assert said in reply.json["error"]
    assert item(endpoint, qa_id)["validations"] == {"success": 0, "failure": 0}


@pytest.mark.clause(
    "001 §8.4", "the loop learns: confidence rises and falls with what is reported, and so does the order"
)
def test_the_loop_learns(endpoint: Endpoint) -> None:
    one = endpoint.add("Which cache do we use?", "We use Redis.")
    other = endpoint.add("Which cache do we use?", "We use Memcached.")
    for number in range(3):
        endpoint.said(VALIDATE, {"project_id": PROJECT, "qa_id": other, "result": "ok", "context": number})
        endpoint.said(VALIDATE, {"project_id": PROJECT, "qa_id": one, "success": False})
    found = endpoint.said("/v1/qa/search", {"project_id": PROJECT, "query": "which cache do we use"})["items"]
    assert [(each["qa_id"], each["unproven"]) for each in found] == [(other, False), (one, True)]
    assert found[0]["confidence"] > 0.5 > found[1]["confidence"]
    assert found[0]["score"] > found[1]["score"]


@pytest.mark.clause("001 §8.5", "batch_size is 200 unless given; the answer counts and says whether more are due")
def test_expiry(endpoint: Endpoint) -> None:
    for number in range(3):
        endpoint.add(f"What is the port of service{number}?", f"It is port {number}.")
    assert endpoint.said(EXPIRE, {}) == {"expired": 0, "remaining": False, "delta": None}
    endpoint.real.clock.advance(91 * DAY_MS)
    first = endpoint.said(EXPIRE, {"batch_size": 1})
    assert (first["expired"], first["remaining"]) == (1, True)
    assert first["delta"].startswith("delta_")
    assert endpoint.said(EXPIRE, {"batch_size": 1000})["expired"] == 2
    assert (
        endpoint.said("/v1/qa/search", {"project_id": PROJECT, "query": "port service", "min_score": 0})["items"] == []
    )


@pytest.mark.clause("001 §8.5", "batch_size lies between 1 and 1000; a body is not needed")
def test_expiry_bounds(endpoint: Endpoint) -> None:
    for size in (0, 1001, -5, "all", 2.5):
        assert endpoint.post(EXPIRE, {"batch_size": size}).status == 422
    for body in ({"batch_size": 1}, {"batch_size": 1000}, {"batch_size": 200}, {}, {"batch_size": None}, b""):
        assert endpoint.post(EXPIRE, body).status == 200


@pytest.mark.clause("001 §8.3", "the same Idempotency-Key counts once, for hits and for validations")
def test_repeating_is_safe(endpoint: Endpoint, qa_id: str) -> None:
    hits = {"project_id": PROJECT, "references": [{"qa_id": qa_id, "shown": True}]}
    tried = {"project_id": PROJECT, "qa_id": qa_id, "success": True}
    for path, body in ((HIT, hits), (VALIDATE, tried)):
        replies = {endpoint.post(path, body, {"idempotency-key": "k"}).body for _ in range(3)}
        assert len(replies) == 1
    assert item(endpoint, qa_id)["hits"]["shown"] == 1
    assert item(endpoint, qa_id)["validations"]["success"] == 1
