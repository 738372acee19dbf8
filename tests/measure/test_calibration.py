"""Calibration error and the abstention curve against values worked out by hand."""

from __future__ import annotations

import pytest

from codexmem.measure.corpus import Question, Split
from codexmem.measure.metrics import QuestionResult
from codexmem.measure.report import THRESHOLDS, abstention, calibration, refusal


def outcome(*scored: tuple[float, bool]) -> QuestionResult:
    keys = tuple(f"{'g' if relevant else 'x'}{place}" for place, (_, relevant) in enumerate(scored))
    gold = frozenset(key for key in keys if key.startswith("g")) or frozenset({"unfound"})
    return QuestionResult(Question("?", "c", Split.HELD_OUT), gold, keys, tuple(score for score, _ in scored), 0, 1.0)


def test_calibration_error_weighs_bins_by_their_results() -> None:
    found = calibration([outcome((0.92, True), (0.98, False), (0.31, False)), outcome((0.35, False))])
    # Upper bin: two results, mean score 0.95, half relevant. Lower bin: two, mean 0.33, none.
    assert found["ece"] == pytest.approx((2 * 0.45 + 2 * 0.33) / 4)
    assert (found["results"], found["questions"]) == (4, 2)
    assert found["bins"][9] == {"from": 0.9, "to": 1.0, "n": 2, "score": 0.95, "relevant": 0.5}
    assert [row["n"] for row in found["bins"]] == [0, 0, 0, 2, 0, 0, 0, 0, 0, 2]


def test_a_certain_score_falls_into_the_last_bin() -> None:
    found = calibration([outcome((1.0, True), (0.0, False))])
    assert (found["bins"][9]["n"], found["bins"][0]["n"], found["ece"]) == (1, 1, 0.0)


def test_nothing_returned_is_no_error() -> None:
    assert calibration([outcome()])["ece"] == 0.0


def test_the_abstention_curve_goes_by_the_best_score() -> None:
    answerable = [outcome((0.9, True), (0.1, False)), outcome((0.42, True))]
    absent = [outcome((0.3, False)), outcome()]
    found = abstention(answerable, absent)
    rows = {row["threshold"]: (row["refused_rightly"], row["refused_wrongly"]) for row in found["curve"]}
    assert tuple(rows) == THRESHOLDS
    assert (THRESHOLDS[0], THRESHOLDS[-1], len(THRESHOLDS)) == (0.05, 0.95, 19)
    assert rows[0.05] == (0.5, 0.0)
    assert rows[0.3] == (0.5, 0.0)
    assert rows[0.35] == (1.0, 0.0)
    assert rows[0.45] == (1.0, 0.5)
    assert rows[0.95] == (1.0, 1.0)
    assert refusal(found["curve"]) == {"threshold": 0.4, "refused_rightly": 1.0, "refused_wrongly": 0.0}


def test_a_suite_without_absent_questions_says_so() -> None:
    found = abstention([outcome((0.9, True))], [])
    assert found["absent"] == 0
    assert {row["refused_rightly"] for row in found["curve"]} == {None}
    assert refusal([]) is None
