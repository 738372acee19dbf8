"""Figures against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from codexmem.measure.corpus import Question, Split
from codexmem.measure.metrics import QuestionResult, figures, ndcg, percentile, reciprocal_rank, tokens


def outcome(ranked: str, gold: str, *, ms: float = 1.0, used: int = 0) -> QuestionResult:
    scores = tuple(1 - place / 100 for place in range(len(ranked)))
    return QuestionResult(Question("?", "c", Split.HELD_OUT), frozenset(gold), tuple(ranked), scores, used, ms)


def test_recall_in_three_senses() -> None:
    found = figures([outcome("abcdef", "af"), outcome("xyz", "a"), outcome("b", "b")])
    assert found["n"] == 3
    assert (found["any@1"], found["all@1"], found["mean@1"]) == (0.6667, 0.3333, 0.5)
    assert (found["any@5"], found["all@5"], found["mean@5"]) == (0.6667, 0.3333, 0.5)
    assert (found["any@10"], found["all@10"], found["mean@10"]) == (0.6667, 0.6667, 0.6667)


def test_no_questions_give_no_figures() -> None:
    assert figures([]) == {"n": 0}


def test_ndcg_is_measured_against_everything_that_should_have_been_found() -> None:
    # One of two found, at the second place. Normalised by the retrieved list alone it would be 1/log2(3).
    half = 1 / math.log2(3)
    assert ndcg("xa", frozenset("ab"), 10) == pytest.approx(half / (1 + half))
    assert ndcg("ab", frozenset("ab"), 10) == pytest.approx(1.0)
    assert ndcg("xyz", frozenset("ab"), 10) == 0.0
    # More gold than places: the ideal fills the places.
    assert ndcg("a", frozenset("abc"), 1) == 1.0
    assert ndcg("xxxxxxxxxxa", frozenset("a"), 10) == 0.0


def test_a_repeated_result_gains_once() -> None:
    assert ndcg("aa", frozenset("ab"), 10) == ndcg("ax", frozenset("ab"), 10)


def test_reciprocal_rank() -> None:
    assert [reciprocal_rank(ranked, frozenset("ab")) for ranked in ("ax", "xb", "xxxa", "xx", "")] == [
        1, 0.5, 0.25, 0, 0,
    ]  # fmt: skip


def test_percentiles_are_values_that_occurred() -> None:
    values = [5.0, 1.0, 3.0, 2.0, 4.0]
    assert (percentile(values, 0.5), percentile(values, 0.95), percentile([], 0.5)) == (3.0, 5.0, 0.0)
    found = figures([outcome("a", "a", ms=ms, used=10) for ms in values])
    assert (found["p50_ms"], found["p95_ms"], found["tokens@10"]) == (3.0, 5.0, 10)


@pytest.mark.parametrize(
    "text,count",
    [
        ("", 0),
        ("abcdefgh", 2),
        ("abcde", 2),
        ("部署脚本", 4),
        ("部署 deploy。", 5),  # two characters and a full stop, and seven Latin ones
        ("ありがとう", 5),
        ("Größe", 2),
    ],
)
def test_tokens_are_estimated_by_script(text: str, count: int) -> None:
    assert tokens(text) == count
