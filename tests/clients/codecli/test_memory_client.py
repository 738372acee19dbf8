"""The memory over HTTP: what is sent, what is understood, and that no server can take longer than it is given."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from codexmem.client.starting import ServerLocation
from codexmem.codecli import surroundings
from codexmem.codecli.memory_client import ItemReference, MemoryClient, RecalledItem
from codexmem.kernel.model.errors import (
    CodexmemError,
    InvalidArgument,
    NotReady,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from tests._support.model_server import DRIP_HEADERS, RESET, SILENCE, Asked, Manner, Reply
from tests._support.qa_endpoint import ITEM, QaEndpoint


def client(url: str, timeout_ms: int = 2_000, key: str = "") -> MemoryClient:
    return MemoryClient(ServerLocation(Path("/nonexistent"), 9, url, key, may_start=False), timeout_ms)


@pytest.mark.clause(
    "001 §4.1", "search sends project_id, query, limit and min_score: 6 and 0.2 unless told; 20 at most"
)
def test_search_sends_the_contracts_fields() -> None:
    with QaEndpoint({"search": {"items": [ITEM] * 30, "count": 30}}) as endpoint:
        memory = client(endpoint.base, key="cm_key")
        found = memory.search("shop", "如何部署？")
        assert len(memory.search("shop", "x", 20, 0.5)) == 20
        first, second = endpoint.asked
    assert first.body == {"project_id": "shop", "query": "如何部署？", "limit": 6, "min_score": 0.2}
    assert (second.body["limit"], second.body["min_score"]) == (20, 0.5)
    assert first.key == "Bearer cm_key"
    assert len(found) == 6
    assert found[0].anchor == "[QA_REF qa-01]"
    assert (found[0].confidence, found[0].score, found[0].unproven) == (0.75, 0.8123, False)


@pytest.mark.clause("001 §4.3", "hit sends project_id and references with qa_id, shown, used, message_id and context")
def test_hit_sends_references() -> None:
    with QaEndpoint({"hit": {"accepted": 2}}) as endpoint:
        told = [ItemReference("qa-01", True, True, "run-1", "injected:system"), ItemReference("qa-02")]
        assert client(endpoint.base).hit("shop", told) == {"accepted": 2}
        (asked,) = endpoint.asked
    assert asked.path == "/v1/qa/hit"
    assert asked.body == {
        "project_id": "shop",
        "references": [
            {"qa_id": "qa-01", "shown": True, "used": True, "message_id": "run-1", "context": "injected:system"},
            {"qa_id": "qa-02", "shown": True, "used": False},
        ],
    }


@pytest.mark.clause(
    "001 §4.4", "a candidate's project_id, question, answer, summary, tags, metadata, source, author, confidence"
)
def test_candidate_sends_the_contracts_fields() -> None:
    with QaEndpoint({"candidates": Reply(201, {"qa_id": "qa-9", "created": True})}) as endpoint:
        memory = client(endpoint.base)
        memory.candidate("shop", "Q", "A")
        memory.candidate("shop", "问", "答", summary="s", tags=["a"], metadata={"run_id": "r"}, source="mem-codecli",
                         author="codex", confidence=0.5)  # fmt: skip
        short, whole = (asked.body for asked in endpoint.asked)
    assert short == {"project_id": "shop", "question": "Q", "answer": "A", "tags": [], "metadata": {}}
    assert whole == {
        "project_id": "shop", "question": "问", "answer": "答", "summary": "s", "tags": ["a"],
        "metadata": {"run_id": "r"}, "source": "mem-codecli", "author": "codex", "confidence": 0.5,
    }  # fmt: skip


def test_validate_and_expire_leave_out_what_is_not_given() -> None:
    with QaEndpoint({"validate": {}, "expire": {"expired": 0}}) as endpoint:
        client(endpoint.base).validate("shop", "qa-1", success=True, signal_strength=None, ts=5)
        client(endpoint.base).expire()
        assert [asked.body for asked in endpoint.asked] == [
            {"project_id": "shop", "qa_id": "qa-1", "success": True, "ts": 5}, {"batch_size": 200}
        ]  # fmt: skip


@pytest.mark.parametrize(
    "reply",
    [
        SILENCE,
        DRIP_HEADERS,
        Reply(200, {"items": []}, manner=Manner.DRIP),
        Reply(500, {"e": "x" * 90}, manner=Manner.DRIP),
    ],
    ids=["silence", "dripping headers", "dripping body", "dripping error"],
)
def test_no_server_takes_longer_than_it_is_given(reply: Reply) -> None:
    with QaEndpoint({"search": reply}) as endpoint:
        endpoint.silence_s = 600
        with pytest.raises(Unavailable, match="not within 200 ms"):
            client(endpoint.base, 200).search("p", "q")


@pytest.mark.parametrize(
    "reply,kind",
    [
        (RESET, Unavailable), (Reply(500, {"error": "no"}), Unavailable), (Reply(502, b"<html>"), Unavailable),
        (Reply(503, {"error": "starting"}), NotReady), (Reply(429, {"error": "slow"}), RateLimited),
        (Reply(401, {"error": "no"}), Unauthorized), (Reply(403, {}), Unauthorized),
        (Reply(400, {"error": {"message": "bad", "hint": "fix it"}}), InvalidArgument),
        (Reply(200, b"garbage"), Unavailable), (Reply(200, b""), Unavailable), (Reply(200, b"[1]"), Unavailable),
        (Reply(200, b"[" * 100_000), Unavailable), (Reply(200, {"items": "x"}), Unavailable),
        (Reply(200, b"\xff\xfe"), Unavailable), (Reply(200, b"x" * (5 << 20)), Unavailable),
        (Reply(302, {}, {"Location": "http://127.0.0.1:1/"}), Unavailable), (Reply(204, b""), Unavailable),
    ],
)  # fmt: skip
def test_whatever_is_answered_is_one_error_of_ours(reply: Reply, kind: type[CodexmemError]) -> None:
    with QaEndpoint({"search": reply}) as endpoint, pytest.raises(CodexmemError) as caught:
        client(endpoint.base, 3_000).search("p", "q")
    assert type(caught.value) is kind
    assert caught.value.message


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://no-such-host.invalid", "nonsense", "ftp://x", "http://[::1",
                                 "http://127.0.0.1:99999", "https://127.0.0.1:1"])  # fmt: skip
def test_no_server_at_all(url: str) -> None:
    with pytest.raises(CodexmemError):
        client(url, 1_000).search("p", "q")


def test_a_redirect_is_not_followed_with_our_key() -> None:
    with QaEndpoint({"search": {"items": []}}) as elsewhere:
        there = Reply(307, {}, {"Location": f"{elsewhere.base}/v1/qa/search"})
        with QaEndpoint({"search": there}) as endpoint, pytest.raises(Unavailable, match="elsewhere"):
            client(endpoint.base, key="cm_key").search("p", "q")
        assert elsewhere.asked == []


def test_a_path_in_the_address_is_kept() -> None:
    with QaEndpoint({"search": {"items": []}}) as endpoint:
        endpoint.endpoints["/under/v1/qa/search"] = endpoint.endpoints["/v1/qa/search"]
        assert client(f"{endpoint.base}/under/").search("p", "q") == []


def test_calls_that_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1_000.0
    monkeypatch.setattr(surroundings, "monotonic", lambda: now_s)
    with QaEndpoint({"search": {"items": []}, "hit": SILENCE}) as endpoint:
        endpoint.silence_s = 600
        together = client(endpoint.base, 400_000).together()
        now_s += 399.5
        assert together.search("p", "q") == []
        with pytest.raises(Unavailable):
            together.hit("p", [])  # which gets the half second that is left
        now_s += 1
        with pytest.raises(Unavailable):
            together.search("p", "q")
        assert client(endpoint.base, 400_000).search("p", "q") == []


def test_a_person_can_interrupt_a_search() -> None:
    me = threading.get_ident()

    def interrupts(_: str, __: Asked) -> Reply:
        signal.pthread_kill(me, signal.SIGINT)
        return SILENCE

    with QaEndpoint(interrupts) as endpoint:
        endpoint.silence_s = 600
        with pytest.raises(KeyboardInterrupt):
            client(endpoint.base, 600_000).search("p", "q")


@pytest.mark.parametrize("said", [{}, {"qa_id": ""}, {"qa_id": 5}, {"qa_id": None}, {"question": "q"}])
def test_what_names_no_item_is_none(said: dict[str, Any]) -> None:
    assert RecalledItem.of(said) is None


def test_an_item_with_odd_fields_is_still_one() -> None:
    odd: dict[str, object] = {"question": 5, "answer": None, "tags": "x", "confidence": True, "score": float("nan")}
    item = RecalledItem.of({"qa_id": " qa-1 ", "contradicts": [1, "qa-2"], "status": "candidate"} | odd)
    assert item == RecalledItem(
        "qa-1", "", "", anchor="[QA_REF qa-1]", status="candidate", unproven=True, contradicts=("qa-2",)
    )
