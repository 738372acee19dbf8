"""Rerankers: what is sent, what each failure becomes, that a dead server is left alone, and models in a folder."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codexmem.installation import install_command
from codexmem.kernel.embed.choice import RerankerChoice, choose_reranker
from codexmem.kernel.embed.fastembed import CrossEncoder
from codexmem.kernel.embed.rerank import ApiReranker
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, RateLimited, Unavailable
from tests._support.embedding_server import Answer, Asked, EmbeddingServer
from tests._support.toy_models import write_model

KEY = "rk-very-secret-0123456789"


def judged(asked: Asked) -> Answer:
    """As most servers answer: longer texts are better, the best first."""
    if "documents" not in asked.body:
        return 422, {"detail": "field required: documents"}
    rows = [{"index": at, "relevance_score": len(text) / 100} for at, text in enumerate(asked.body["documents"])]
    return 200, {"id": "x", "results": sorted(rows, key=lambda row: -row["relevance_score"])}


def judged_barely(asked: Asked) -> Answer:
    """As text-embeddings-inference answers."""
    if "texts" not in asked.body:
        return 422, {"error": "missing field `texts`"}
    return 200, [{"index": at, "score": len(text) / 100} for at, text in enumerate(asked.body["texts"])][::-1]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer(script=judged) as running:
        yield running


def reranker(server: EmbeddingServer, **more: Any) -> ApiReranker:
    return ApiReranker(server.url, model="judge", api_key=KEY, **more)


def test_each_text_has_its_score_whatever_the_order_of_the_answer(server: EmbeddingServer) -> None:
    assert reranker(server).scores("q 问", ["four", "", "sixsix", "四"]) == [0.04, 0.0, 0.06, 0.01]
    asked = server.asked[0]
    assert (asked.path, asked.key) == ("/v1/rerank", f"Bearer {KEY}")
    assert asked.body == {"model": "judge", "query": "q 问", "documents": ["four", "", "sixsix", "四"], "top_n": 4}


def test_without_model_and_key_neither_is_sent(server: EmbeddingServer) -> None:
    ApiReranker(server.url + "/").scores("q", ["a"])
    assert (server.asked[0].path, server.asked[0].key) == ("/v1/rerank", "")
    assert "model" not in server.asked[0].body


def test_no_texts_are_no_request(server: EmbeddingServer) -> None:
    assert reranker(server).scores("q", []) == []
    assert server.asked == []


def test_the_other_form_is_found_out_once(server: EmbeddingServer) -> None:
    server.script = judged_barely
    asking = reranker(server)
    assert [asking.scores("q", ["one", "three"]) for _ in range(3)] == [[0.03, 0.05]] * 3
    assert ["texts" in asked.body for asked in server.asked] == [False, True, True, True]
    assert server.asked[-1].body["truncate"] is True


@pytest.mark.parametrize(
    "status, meant, requests",
    [(400, InvalidArgument, 2), (413, InvalidArgument, 2), (422, InvalidArgument, 2), (401, Unavailable, 1),
     (403, Unavailable, 1), (404, Unavailable, 1), (429, RateLimited, 1), (302, Unavailable, 1), (500, Unavailable, 1),
     (503, Unavailable, 1)],
)  # fmt: skip
def test_each_refusal_becomes_one_error_without_the_key(
    server: EmbeddingServer, status: int, meant: type[CodexmemError], requests: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = lambda asked: (status, {"message": f"bad {asked.key}"})
    asking = reranker(server)
    with caplog.at_level(logging.DEBUG), pytest.raises(meant) as refused:
        asking.scores("q", ["a private text"])
    said = f"{refused.value.message} {refused.value.hint} {refused.value!r} {refused.value.__cause__} {asking!r}"
    assert KEY not in said + caplog.text
    assert "private" not in said + caplog.text
    assert len(server.asked) == requests


@pytest.mark.parametrize(
    "body",
    [
        {}, [], None, "x", {"results": None}, {"results": [{"index": 0, "relevance_score": 1.0}]},
        [{"index": 0, "score": 1}, {"index": 0, "score": 1}], [{"index": 0, "score": 1}, {"index": 2, "score": 1}],
        [{"index": 0, "score": float("nan")}, {"index": 1, "score": 1}], [{"index": 0, "score": None}, {"index": 1}],
        [{"index": 0, "score": 1}, {"index": 1, "score": float("inf")}], [0.1, 0.2],
    ],
)  # fmt: skip
def test_a_strange_answer_is_unavailable(server: EmbeddingServer, body: Any) -> None:
    server.script = lambda _: (200, body)
    with pytest.raises(Unavailable, match="not one score for each text"):
        reranker(server).scores("q", ["a", "b"])


def test_a_slow_server_costs_a_search_its_time_out_and_no_more(server: EmbeddingServer) -> None:
    over = threading.Event()

    def slow(asked: Asked) -> Answer:
        over.wait()
        return judged(asked)

    server.script = slow
    with pytest.raises(Unavailable, match="in time"):
        reranker(server, ask_s=0.2).scores("q", ["a"])
    over.set()


def test_a_dead_server_is_not_asked_again_until_the_pause_is_over(server: EmbeddingServer) -> None:
    now = [100.0]
    asking = reranker(server, breaker=Breaker(first_s=10.0), now_s=lambda: now[0])
    asking.scores("q", ["warm"])
    server.stop()
    with pytest.raises(Unavailable, match="does not answer as expected"):
        asking.scores("q", ["a"])
    server.start()
    for _ in range(20):
        with pytest.raises(Unavailable, match="retrying later"):
            asking.scores("q", ["a"])
    assert len(server.asked) == 1
    now[0] += 10.0
    assert [asking.scores("q", ["a"]) for _ in range(2)] == [[0.01], [0.01]]


def test_texts_that_are_refused_do_not_keep_the_next_ones_away(server: EmbeddingServer) -> None:
    server.script = lambda asked: (413, {}) if "long" in str(asked.body) else judged(asked)
    asking = reranker(server)
    with pytest.raises(InvalidArgument, match="refuses the texts"):
        asking.scores("q", ["long"])
    assert asking.scores("q", ["a"]) == [0.01]


def test_a_key_that_no_header_takes_is_not_shown(server: EmbeddingServer) -> None:
    with pytest.raises(Unavailable) as refused:
        ApiReranker(server.url, api_key="s\u00e9cret\n").scores("q", ["a"])
    assert "cret" not in f"{refused.value!r} {refused.value.__cause__}"


def test_a_cross_encoder_is_read_from_its_folder_at_the_first_question(tmp_path: Path) -> None:
    encoder = CrossEncoder(str(tmp_path / "model"), depth=7)
    assert encoder.depth == 7
    write_model(tmp_path / "model")
    texts = [word for word in ("poor", "good", "fair") for _ in range(5)]  # more than are judged in one go
    poor, good, fair = encoder.scores("good", texts)[::5]
    assert poor < fair < good
    assert encoder.scores("good", []) == []
    again = CrossEncoder(str(tmp_path / "model"))
    assert again.scores("good", ["good good", "poor"]) == [4.0, pytest.approx(2.0)]


def test_a_cross_encoder_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no model folder"):
        CrossEncoder(str(tmp_path / "nothing")).scores("q", ["a"])
    with pytest.raises(Unavailable, match="is not a model folder"):
        CrossEncoder(str(tmp_path)).scores("q", ["a"])
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(Unavailable, match="cannot be loaded"):
        CrossEncoder(str(tmp_path)).scores("q", ["a"])
    (write_model(tmp_path / "model") / "tokenizer.json").unlink()
    with pytest.raises(Unavailable, match="does not take the reranker"):
        CrossEncoder(str(tmp_path / "model")).scores("q", ["a"])
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(Unavailable) as refused:
        CrossEncoder(str(tmp_path / "model")).scores("q", ["a"])
    assert refused.value.hint == install_command("fastembed")


def test_each_name_chooses_its_reranker() -> None:
    assert choose_reranker(RerankerChoice()) is None
    api = choose_reranker(RerankerChoice("api", url="https://ai.example.com/v2", model="m", api_key=KEY, depth=5))
    assert isinstance(api, ApiReranker)
    assert (api.depth, repr(api)) == (5, "ApiReranker('ai.example.com', model='m', depth=5)")
    local = choose_reranker(RerankerChoice("fastembed:/models/judge", depth=9))
    assert isinstance(local, CrossEncoder)
    assert local.depth == 9
    assert KEY not in repr(RerankerChoice("api", api_key=KEY))


@pytest.mark.parametrize("name", ["", "cohere", "fastembed:", "fastembed"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="is not a reranker"):
        choose_reranker(RerankerChoice(name))


def test_the_api_without_a_server_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no server for reranking"):
        choose_reranker(RerankerChoice("api"))
