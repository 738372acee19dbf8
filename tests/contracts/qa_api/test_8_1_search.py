"""Contract 001 §4.1 and §8.1: searching for answers."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem.kernel.embed.model import Embedder
from tests._support.asking import PROJECT, Endpoint

SEARCH = "/v1/qa/search"
ITEM = {
    "qa_id", "anchor", "project_id", "question", "answer", "summary", "tags", "phrasings", "confidence", "status",
    "unproven", "score", "hits", "validations", "contradicts", "source", "author", "created_at_ms", "updated_at_ms",
    "version",
}  # fmt: skip

UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"project_id": None}, "project_id"), ({"project_id": "  "}, "project_id"),
    ({"project_id": "x" * 201}, "project_id"), ({"query": None}, "query"),
    ({"query": ""}, "query"), ({"query": " \n"}, "query"), ({"query": 7}, "query"),
    ({"limit": 0}, "limit"), ({"limit": 21}, "limit"), ({"limit": "many"}, "limit"), ({"limit": 2.5}, "limit"),
    ({"min_score": -0.1}, "min_score"), ({"min_score": 1.1}, "min_score"), ({"query": "x" * 20_001}, "query"),
]  # fmt: skip


def search(endpoint: Endpoint, query: str, **fields: Any) -> Any:
    return endpoint.said(SEARCH, {"project_id": PROJECT, "query": query, **fields})


@pytest.mark.clause("001 §8.1", "an answer has items with everything a client injects, best first")
def test_an_item_carries_everything(endpoint: Endpoint, encoder: Embedder | None) -> None:
    metadata = '{"run": "r1"}'
    qa_id = endpoint.add(
        "How do I rotate the signing key?", "Run gatewayctl rotate.", summary="rotation", tags=("gateway", "keys"),
        metadata=metadata, source="codex", author="ada", confidence=0.7,
    )  # fmt: skip
    endpoint.used(qa_id, "m1")
    endpoint.tried(qa_id, success=True, strength=0.1)
    found = search(endpoint, "rotate the signing key")
    assert (found["count"], found["mode"]) == (1, "hybrid" if encoder else "lexical-only")
    assert set(found) - {"items", "count", "mode"} == (set() if encoder else {"degraded"})
    if not encoder:
        assert "no embedder is configured" in found["degraded"][0]
    (item,) = found["items"]
    assert set(item) == ITEM
    assert item["qa_id"] == qa_id
    assert item["anchor"] == f"[QA_REF {qa_id}]"
    assert (item["question"], item["answer"]) == ("How do I rotate the signing key?", "Run gatewayctl rotate.")
    assert (item["summary"], item["tags"], item["phrasings"]) == ("rotation", ["gateway", "keys"], [])
    assert (item["status"], item["unproven"], item["contradicts"]) == ("candidate", True, [])
    assert (item["hits"], item["validations"]) == ({"shown": 1, "used": 1}, {"success": 1, "failure": 0})
    assert (item["source"], item["author"], item["project_id"]) == ("codex", "ada", PROJECT)
    assert 0.7 < item["confidence"] < 1.0
    assert 0.2 <= item["score"] <= 1.0
    assert item["updated_at_ms"] >= item["created_at_ms"] > 0


@pytest.mark.clause("001 §4.1", "limit is 6 unless given, at most 20; min_score is 0.2 unless given")
@pytest.mark.slow
def test_limits_and_defaults(endpoint: Endpoint) -> None:
    for number in range(24):
        endpoint.add(f"What is the port of service{number}?", f"It is port {number}.")
    assert search(endpoint, "which port")["count"] == 6
    assert search(endpoint, "which port", limit=20)["count"] == 20
    assert search(endpoint, "which port", limit=None, min_score=None)["count"] == 6
    scores = [item["score"] for item in search(endpoint, "port of service1", limit=20, min_score=0)["items"]]
    assert scores == sorted(scores, reverse=True)
    assert search(endpoint, "port of service1", min_score=1.0)["count"] == 0
    endpoint.add("Who pays for the wine at the annual party?", "The manager does.")
    endpoint.add("How long is the annual leave?", "Six weeks, as the contract says.")
    query = "who pays the manager for the annual wine party at the port gateway tonight"
    every = [item["score"] for item in search(endpoint, query, min_score=0, limit=20)["items"]]
    assert min(every) < 0.2
    assert [item["score"] for item in search(endpoint, query, limit=20)["items"]] == [
        score for score in every if score >= 0.2
    ]


@pytest.mark.clause("001 §4.1", "project_id and query are required, and bounds are kept: 422 says which field")
def test_what_does_not_fit_is_422(endpoint: Endpoint) -> None:
    for change, said in UNFIT:
        reply = endpoint.post(SEARCH, {"project_id": PROJECT, "query": "port", **change})
        assert reply.status == 422, change
        assert said in reply.json["error"]


@pytest.mark.clause("001 §8.1", "fields that nobody knows are passed over; a body that is no JSON is 400")
def test_unknown_fields_and_broken_bodies(endpoint: Endpoint) -> None:
    assert search(endpoint, "port", session="s", tenant="other", top_k=3) == search(endpoint, "port")
    assert endpoint.post(SEARCH, b"{").status == 400
    assert endpoint.post(SEARCH, [1]).status == 422
    assert endpoint.get(SEARCH).status == 405


@pytest.mark.clause("001 §8.1", "Chinese is found as English is, and another project's items are not")
def test_chinese_and_projects(endpoint: Endpoint) -> None:
    qa_id = endpoint.add("如何清理构建缓存？", "执行 make clean 并删除 .cache 目录")
    endpoint.add("如何清理构建缓存？", "执行 make clean 并删除 .cache 目录", project="别的项目")
    assert [item["qa_id"] for item in search(endpoint, "构建缓存怎么清理")["items"]] == [qa_id]
    assert search(endpoint, "今天天气怎么样")["items"] == []


@pytest.mark.clause("001 §8.1", "clashing answers to one question are shown side by side, each naming the other")
def test_clashing_answers(endpoint: Endpoint) -> None:
    one = endpoint.add("What is the default port?", "It is port 8080.")
    other = endpoint.add("What is the default port?", "It is port 9090.")
    named = {item["qa_id"]: item["contradicts"] for item in search(endpoint, "default port")["items"]}
    assert named == {one: [other], other: [one]}


@pytest.mark.clause("001 §8.1", "/openapi.json names the payloads as the contract does, and every answer")
def test_the_interface_is_described(endpoint: Endpoint) -> None:
    described = endpoint.get("/openapi.json").json
    schemas = described["components"]["schemas"]
    payloads = {
        "search": "QASearchPayload", "candidates": "QACandidatePayload", "hit": "QAHitsPayload",
        "validate": "QAValidationPayload",
    }  # fmt: skip
    for path, name in payloads.items():
        route = described["paths"][f"/v1/qa/{path}"]["post"]
        assert route["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith(f"/{name}")
        assert route["responses"]["422"]["content"]["application/json"]["schema"]["$ref"].endswith("/Problem")
    assert {"QAReferencePayload", "QAExpirePayload", "QAItem", "QASearchAnswer", "QAExpireAnswer"} <= set(schemas)
    limit = schemas["QASearchPayload"]["properties"]["limit"]
    assert (limit["default"], limit["maximum"]) == (6, 20)
    assert schemas["QASearchPayload"]["properties"]["min_score"]["default"] == 0.2
    assert schemas["QACandidatePayload"]["properties"]["confidence"]["default"] == 0.5
    batch = schemas["QAExpirePayload"]["properties"]["batch_size"]
    assert (batch["minimum"], batch["maximum"], batch["default"]) == (1, 1000, 200)
