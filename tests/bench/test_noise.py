"""Strangers should be given nothing, and insiders their answer: both are counted."""

from __future__ import annotations

from typing import Any

import pytest

from bench import noise
from bench.noise import ANSWERABLE, ASKED, SAME_TRADE, STRANGERS, UNASKED, Given, Piece, Query
from bench.noise_texts import NONSENSE, OTHER_TRADES, SMALL_TALK


def piece(number: int, text: str = "") -> Piece:
    return Piece(text or f"passage {number}", f"prompt {number}", "s", number)


def question(number: int, answer: str) -> dict[str, Any]:
    return {"question": f"what about {answer}?", "answers": [answer] if answer else [],
            "evidence": [{"session": "s", "items": [number]}]}  # fmt: skip


def test_passages_are_whole_sentences_of_some_length() -> None:
    short, long = "Too short.", "This sentence is long enough to be remembered as a passage of its own, it seems."
    assert list(noise.cut(short)) == []
    assert list(noise.cut(f"{long} {long} {long}")) == [long, long, long]


def test_a_store_has_answers_and_evenly_taken_others() -> None:
    material = [piece(at) for at in range(100)]
    material[40] = piece(40, "the port is 8080 there")
    store = noise.store_of(5, material, [question(40, "8080"), question(41, "9090")])
    assert len(store) == len(set(store)) == 5
    assert (store[0].item, store[0].asked) == (40, "what about 8080?")
    assert noise.evenly(range(10), 5) == [0, 2, 4, 6, 8]


def test_a_small_store_is_not_answers_alone() -> None:
    material = [piece(at, f"the port is 80{at:02} there") for at in range(20)]
    asked = [question(at, f"80{at:02}") for at in range(20)]
    store = noise.store_of(5, material, asked)
    made = noise.insiders(asked, store, None)
    assert sum(query.asker == ANSWERABLE for query in made) == 5
    assert sum(query.asker == SAME_TRADE for query in made) == 15


def test_a_question_without_answers_is_never_answerable() -> None:
    (query,) = noise.insiders([question(1, "")], [piece(1)], None)
    assert query == Query("what about ?", SAME_TRADE)


@pytest.mark.parametrize(
    "given,expected",
    [
        ([], (False, False, False)),
        (["x"], (True, False, False)),
        (["x", "8080"], (True, True, False)),
        (["8080"], (True, True, True)),
    ],
)
def test_what_was_given_is_judged(given: list[str], expected: tuple[bool, bool, bool]) -> None:
    row = noise.judge("i", Query("q", ANSWERABLE, ("8080",)), 5, "h", given)
    assert (row.something, row.right, row.first) == expected


def test_a_stranger_is_never_right() -> None:
    assert not noise.judge("i", Query("q", STRANGERS[0]), 5, "h", ["anything"]).right


def rows(interface: str, asker: str, given: int, of: int, right: int = 0, findable: int = 0) -> list[Given]:
    return [Given(interface, asker, 5, "h", at < given, at < right, at < right, at < findable) for at in range(of)]


def test_figures_tell_silence_and_recall_together() -> None:
    given = [
        *rows(UNASKED, STRANGERS[0], 1, 4), *rows(UNASKED, STRANGERS[2], 0, 4), *rows(UNASKED, SAME_TRADE, 1, 4),
        *rows(UNASKED, ANSWERABLE, 4, 4, right=1, findable=2), *rows(ASKED, ANSWERABLE, 4, 4, right=3, findable=2),
        *rows(ASKED, STRANGERS[1], 2, 4), *rows(ASKED, SAME_TRADE, 4, 4), *rows(UNASKED, STRANGERS[4], 0, 2),
        *rows(noise.COMMAND, STRANGERS[3], 1, 1),
        *rows("QA search", STRANGERS[3], 1, 4), *rows("QA search", ANSWERABLE, 2, 2, right=1),
    ]  # fmt: skip
    made = noise.figures(given)
    assert (made["unasked_foreign"], made["unasked_kept"], made["unasked_refused"]) == (0.125, 0.5, 0.75)
    assert (made["asked_foreign"], made["asked_kept"], made["asked_refused"]) == (0.5, 1.0, 0.0)
    assert (made["nonsense"], made["qa_foreign"], made["qa_first"]) == (0.25, 0.25, 0.5)
    assert noise.by_interface(given)["QA search"] == {STRANGERS[3]: 0.25, ANSWERABLE: 0.5}


def test_both_languages_have_as_many_texts() -> None:
    for texts in (SMALL_TALK, NONSENSE, OTHER_TRADES):
        assert len(texts["en"]) == len(texts["zh"]) == len(set(texts["en"])) == len(set(texts["zh"]))
