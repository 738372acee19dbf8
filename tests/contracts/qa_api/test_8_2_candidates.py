"""Contract 001 §4.4 and §8.2: handing in candidates."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.qa.model.items import attrs_of
from tests._support.asking import PROJECT, Endpoint

CANDIDATES = "/v1/qa/candidates"
FULL = {
    "project_id": PROJECT, "question": "How do I rotate the signing key?", "answer": "Run gatewayctl rotate.",
    "summary": "rotation", "tags": ["gateway", "密钥"], "metadata": {"run": "r1", "files": ["a.py"]},
    "source": "codex", "author": "ada", "confidence": 0.9,
}  # fmt: skip
LEAST = {name: FULL[name] for name in ("project_id", "question", "answer")}
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"project_id": None}, "project_id"), ({"question": None}, "question"), ({"question": ""}, "question"),
    ({"answer": None}, "answer"), ({"answer": " "}, "answer"), ({"confidence": -0.01}, "confidence"),
    ({"confidence": 1.01}, "confidence"), ({"tags": "one"}, "tags"), ({"metadata": []}, "metadata"),
    ({"tags": ["t"] * 51}, "tags"), ({"status": "validated"}, "set by the server"),
    ({"qa_id": "qa-mine"}, "set by the server"), ({"question": "<private>x</private>"}, "question"),
]  # fmt: skip


@pytest.mark.clause("001 §8.2", "201 with the id and where it stands; every field is kept")
def test_a_candidate_is_stored(endpoint: Endpoint) -> None:
    told = endpoint.said(CANDIDATES, FULL, 201)
    assert told == {
        "qa_id": told["qa_id"], "status": "candidate", "created": True, "merged_into": None, "contradicts": [],
        "confidence": 0.9,
    }  # fmt: skip
    assert told["qa_id"].startswith("qa-")
    item = endpoint.get(f"/v1/qa/items/{told['qa_id']}").json
    assert {name: item[name] for name in FULL} == FULL


@pytest.mark.clause("001 §4.4", "only project_id, question and answer are required; confidence is 0.5 unless given")
def test_the_least_candidate(endpoint: Endpoint) -> None:
    told = endpoint.said(CANDIDATES, LEAST, 201)
    assert told["confidence"] == 0.5
    item = endpoint.get(f"/v1/qa/items/{told['qa_id']}").json
    assert (item["summary"], item["tags"], item["metadata"], item["source"], item["author"]) == (
        None,
        [],
        {},
        None,
        None,
    )
    nulls = {"summary": None, "tags": None, "metadata": None, "source": None, "author": None, "confidence": None}
    assert endpoint.said(CANDIDATES, {**LEAST, **nulls})["qa_id"] == told["qa_id"]


@pytest.mark.clause("001 §4.4", "confidence lies between 0 and 1, and every field keeps its kind: else 422")
def test_what_does_not_fit_is_422(endpoint: Endpoint) -> None:
    for change, said in UNFIT:
        reply = endpoint.post(CANDIDATES, {**FULL, **change})
        assert reply.status == 422, change
        assert said in reply.json["error"]
    assert endpoint.get("/v1/qa/items").json["count"] == 0


@pytest.mark.clause("001 §8.2", "a question that is known is not stored twice: 200, with the item that has it now")
def test_a_known_question_is_merged(endpoint: Endpoint) -> None:
    first = endpoint.said(CANDIDATES, FULL, 201)["qa_id"]
    told = endpoint.said(CANDIDATES, {**LEAST, "question": "how to rotate the signing keys"})
    assert (told["qa_id"], told["created"], told["merged_into"]) == (first, False, first)
    assert attrs_of(endpoint.memory(first)).phrasings == ("how to rotate the signing keys",)


@pytest.mark.clause("001 §8.2", "an answer that clashes is an item of its own, and names the other")
def test_a_clashing_answer_is_flagged(endpoint: Endpoint) -> None:
    first = endpoint.said(CANDIDATES, {**LEAST, "question": "默认端口是多少？", "answer": "默认端口是 8080"}, 201)[
        "qa_id"
    ]
    told = endpoint.said(CANDIDATES, {**LEAST, "question": "默认端口是多少？", "answer": "默认端口是 9090"}, 201)
    assert told["contradicts"] == [first]


@pytest.mark.clause("001 §8.2", "secrets and private regions are not kept")
def test_nothing_secret_is_kept(endpoint: Endpoint) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    body = {**FULL, "answer": f"use {secret} <private>here</private>", "metadata": {"token": secret, "x": 1}}
    item = endpoint.get(f"/v1/qa/items/{endpoint.said(CANDIDATES, body, 201)['qa_id']}").json
    assert secret not in str(item)
    assert "here" not in item["answer"]
    assert item["metadata"]["x"] == 1


@pytest.mark.clause(
    "001 §8.2", "the same Idempotency-Key is answered alike and stores once; with another body it is 409"
)
def test_repeating_is_safe(endpoint: Endpoint) -> None:
    key = {"idempotency-key": "k1"}
    replies = [endpoint.post(CANDIDATES, FULL, key) for _ in range(3)]
    assert [reply.status for reply in replies] == [201, 201, 201]
    assert len({reply.body for reply in replies}) == 1
    assert endpoint.post(CANDIDATES, LEAST, key).status == 409
