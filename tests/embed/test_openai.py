"""Embeddings over HTTP: what is sent, what each failure becomes, and that a dead server is left alone."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

from codexmem.kernel.embed.openai import OpenAIEmbedder
from codexmem.kernel.model.breaker import Breaker
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument, RateLimited, Unavailable
from tests._support.embedding_server import Answer, Asked, EmbeddingServer
from tests._support.toy_embedder import numbers_of

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


def embedder(server: EmbeddingServer, **more: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder("small", base_url=server.url, api_key=KEY, **more)


def test_texts_come_back_as_unit_vectors_in_their_order(server: EmbeddingServer) -> None:
    asking = embedder(server)
    vectors = asking.passages(["one two", "", "three"])
    assert asking.dimension == 32
    direction = array("f", vectors[2])
    assert direction.index(max(direction)) == numbers_of("three").index(1.0)
    assert sum(number * number for number in direction) == pytest.approx(1.0)
    asked = server.asked[0]
    assert (asked.path, asked.key) == ("/v1/embeddings", f"Bearer {KEY}")
    assert (asked.body["model"], asked.body["input"]) == ("small", ["one two", " ", "three"])


def test_the_model_id_names_model_and_host() -> None:
    assert OpenAIEmbedder("m", base_url="https://api.example.com/v1").model == "openai:m@api.example.com"


def test_many_texts_are_asked_for_in_bounded_requests(server: EmbeddingServer) -> None:
    asking = embedder(server)
    assert len(asking.passages([f"text {n}" for n in range(asking.batch * 2 + 1)])) == asking.batch * 2 + 1
    assert [len(asked.body["input"]) for asked in server.asked] == [asking.batch, asking.batch, 1]


@pytest.mark.parametrize(
    "status, meant",
    [(400, InvalidArgument), (401, Unavailable), (403, Unavailable), (404, Unavailable), (422, InvalidArgument),
     (429, RateLimited), (500, Unavailable), (503, Unavailable)],
)  # fmt: skip
def test_each_refusal_becomes_one_error_without_the_key(
    server: EmbeddingServer, status: int, meant: type[CodexmemError]
) -> None:
    server.script = lambda asked: (status, {"error": {"message": f"bad {asked.key}", "code": None}})
    with pytest.raises(meant) as refused:
        embedder(server).query("x")
    said = f"{refused.value.message} {refused.value.hint} {refused.value!r} {refused.value.__cause__}"
    assert KEY not in said
    assert len(server.asked) == 1  # a query is tried once


@pytest.mark.parametrize("body", [{}, {"data": []}, {"data": [{"index": 0, "embedding": "x"}]}, {"data": None}, []])
def test_a_strange_answer_is_unavailable(server: EmbeddingServer, body: Any) -> None:
    server.script = lambda _: (200, body)
    with pytest.raises(Unavailable):
        embedder(server).query("x")


def test_passages_are_tried_again(server: EmbeddingServer) -> None:
    failures: Iterator[Answer] = iter([(503, {}), (503, {})])
    server.script = lambda _: next(failures, None)
    assert len(embedder(server).passages(["x"])) == 1
    assert len(server.asked) == 3


def test_a_slow_server_costs_a_query_its_time_out_and_no_more(server: EmbeddingServer) -> None:
    over = threading.Event()

    def slow(_: Asked) -> Answer | None:
        over.wait()
        return None

    server.script = slow
    asking = embedder(server, query_s=0.2)
    with pytest.raises(Unavailable, match="in time"):
        asking.query("x")
    over.set()


def test_a_dead_server_is_not_asked_again_until_the_pause_is_over(server: EmbeddingServer) -> None:
    now = [100.0]
    asking = embedder(server, breaker=Breaker(first_s=10.0), now_s=lambda: now[0])
    asking.query("warm")
    server.stop()
    with pytest.raises(Unavailable, match="does not answer as expected"):
        asking.query("x")
    for _ in range(100):
        with pytest.raises(Unavailable, match="retrying later"):
            asking.query("x")
    server.start()
    now[0] += 10.0
    asking.query("x")
    asking.query("x")


def test_without_a_key_nothing_is_sent_to_the_default_server() -> None:
    with pytest.raises(Unavailable, match="no API key"):
        OpenAIEmbedder("small").query("x")


def test_breaker_pauses_double_and_one_call_tries() -> None:
    breaker = Breaker(first_s=10.0, longest_s=30.0)
    assert breaker.lets(0.0)
    breaker.failed(0.0)
    assert not breaker.lets(9.9)
    assert breaker.lets(10.0)
    assert not breaker.lets(10.1)  # while the first one tries
    breaker.failed(11.0)
    assert not breaker.lets(30.9)
    breaker.failed(31.0)
    breaker.failed(31.0)
    assert breaker.lets(61.0)  # never longer than the longest
    breaker.worked()
    assert breaker.lets(61.0)
    assert breaker.lets(61.0)


def test_calls_that_fail_together_are_one_failure_to_the_breaker() -> None:
    breaker = Breaker(first_s=10.0)
    assert all(breaker.lets(0.0) for _ in range(8))
    for number in range(8):
        breaker.failed(0.1 * number)
    assert not breaker.lets(9.9)
    assert breaker.lets(10.0)
    breaker.failed(10.5)
    breaker.failed(10.6)  # one that had waited for its answer all the time
    assert not breaker.lets(30.4)
    assert breaker.lets(30.5)
