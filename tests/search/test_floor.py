"""What is a result at all."""

from __future__ import annotations

from typing import Any

from codexmem.search import floor, tokens
from tests._support.pools import candidate, pool

USE = "use-multilingual-v3"
NEAR, FAR = floor.ENCODERS[USE].near, floor.ENCODERS[USE].far
TEXTS = [candidate(1, "The port is 8443."), candidate(2, "Retries use jitter."), candidate(3, "又一条")]


def fits(
    query: str, lexical: list[float], dense: list[float] | None, model: str | None = USE, **beside: Any
) -> list[bool]:
    return floor.fits(tokens.terms(query), pool(TEXTS, lexical=lexical, dense=dense, **beside), model)


def test_one_character_is_evidence_only_where_the_query_has_nothing_longer() -> None:
    assert floor.evidence(tokens.terms("乌龟吃 2")) == ["乌龟", "龟吃"]
    assert floor.evidence(tokens.terms("猫 狗")) == ["猫", "狗"]
    assert floor.evidence(tokens.terms("hunter2")) == ["hunter2", "hunter"]


def test_without_evidence_there_is_no_result() -> None:
    assert fits("zebra quantum", [0, 0, 0], [NEAR - 0.01, 0.2, -0.1]) == [False] * 3


def test_a_near_meaning_is_enough_and_lets_others_in_that_are_not_foreign() -> None:
    assert fits("zebra quantum", [0, 0, 0], [NEAR, FAR, FAR - 0.01]) == [True, True, False]


def test_half_of_the_words_are_enough_without_any_meaning() -> None:
    assert fits("port zebra", [1.0, 0, 0], [0.0, 0.0, 0.0]) == [True, False, False]
    assert fits("port zebra quantum", [1.0, 0, 0], [0.0, 0.0, 0.0]) == [False] * 3


def test_fewer_words_need_some_meaning() -> None:
    assert fits("port zebra quantum", [1.0, 0, 0], [0.1, 0.0, 0.0]) == [True, False, False]


def test_who_stands_beside_a_result_is_one() -> None:
    assert fits("port", [1.0, 0, 0], [0.0, 0.0, 0.0], after=[1, None, None], before=[None, 0, None]) == [
        True,
        True,
        False,
    ]
    assert fits("zebra", [0, 0, 0], [0.0, 0.0, 0.0], after=[1, None, None], before=[None, 0, None]) == [False] * 3


def test_without_vectors_a_word_is_enough() -> None:
    assert fits("port zebra quantum", [1.0, 0, 0], None, None) == [True, False, False]


def test_an_encoder_that_nobody_measured_is_trusted() -> None:
    assert fits("zebra", [0, 0, 0], [0.0, -0.5, 0.1], "another") == [True] * 3


def test_a_code_is_found_by_its_spelling_only() -> None:
    near = [0.9, 0.9, 0.9]
    assert fits("3f9a77c0d1", [0, 0, 0], near) == [False] * 3
    assert fits("3f9a77c0d1", [0, 1.0, 0], near) == [False, True, False]
    assert fits("E11000", [0, 0, 0], near, "another") == [False] * 3
    assert fits("2023-05-08", [0, 0, 0], near) == [True] * 3
    assert fits("port of 3f9a77c0d1", [0, 0, 0], near) == [True] * 3
