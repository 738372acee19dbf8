"""The search benchmark measures what it says: a store as the product leaves one, and the indexes' own statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bench import report, search_latency
from bench.corpus import KINDS, MODEL, Corpus
from bench.stores import stores
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import SearchMode
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.search import tokens
from codexmem.kernel.search.text_of import words_of
from codexmem.kernel.store.database import acting_as

SIZE = 240


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(3)


@pytest.fixture
def store(engine_name: str, corpus: Corpus) -> Iterator[tuple[Any, Any, Any]]:
    """The product, a bare connection and some questions."""
    with acting_as(LOCAL), stores(engine_name, durable=False) as made:
        url, questions = search_latency.filled(made, corpus, SIZE, 12, report.Progress("test"))
        with search_latency.opened(url, corpus, SIZE) as (product, bare):
            yield product, bare, questions


def test_words_are_cut_as_the_product_cuts_them(corpus: Corpus) -> None:
    lengths = []
    for made in corpus.memories(200):
        assert made.words == words_of(made.memory, tokens.words)
        lengths.append(len(made.words.body))
    assert 30 < sum(lengths) / len(lengths) < 50


@pytest.mark.timeout(180)
def test_bare_statements_are_those_of_the_indexes(store: tuple[Any, Any, Any]) -> None:
    product, bare, questions = store
    asked = set()
    for scope in search_latency.SCOPES:
        for question in questions:
            heard = product.overhear(question, scope)
            _, found = bare.ask(heard)
            asked.add(tuple(each.index for each in heard))
            for overheard, answers in zip(heard, found, strict=True):
                scored = [
                    rows for (text, _), rows in zip(overheard.statements, answers, strict=True) if "score" in text
                ]
                hits = [hit.seq for hit in overheard.hits]
                assert hits
                assert [row[0] for row in scored[-1]][: len(hits)] == hits
    assert asked == {("lexical", "vectors")}


@pytest.mark.timeout(180)
def test_a_filled_store_lacks_nothing_that_search_needs(store: tuple[Any, Any, Any]) -> None:
    product, _, questions = store
    finder = product._core.recall._finder
    assert finder._text.missing(limit=10) == []
    assert finder._vectors.count(MODEL) == SIZE
    answer = product.search(questions[0], "project")
    assert answer.mode is SearchMode.HYBRID
    assert answer.notes == ()
    assert {found.memory.state.project for found in answer.results} == {questions[0].project}
    assert finder._table.many([SIZE], Filter(KINDS).kinds)[SIZE].session == f"session-{(SIZE - 1) // 20}"


@pytest.mark.timeout(180)
def test_figures_are_of_both_ways(engine_name: str, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_latency, "Corpus", lambda seed: corpus)  # its words take seconds to make
    (figures,) = search_latency.run(engine_name, [SIZE], queries=15, seed=1, parent=None)
    assert figures["memories"] == SIZE
    assert [row["scope"] for row in figures["rows"]] == list(search_latency.SCOPES)
    for row in figures["rows"]:
        assert all(value > 0 for name, value in row.items() if name.endswith("_ms") and name != "steps_p50_ms")
        assert row["bare_p50_ms"] < row["product_p50_ms"]  # of 15 queries the slowest tells of the machine
        assert row["kept"] == (row["ratio_p95"] <= search_latency.LIMIT_RATIO)
        assert row["results"] > 0
        assert row["statements"] >= 4
