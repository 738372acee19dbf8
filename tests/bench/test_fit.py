"""Fitting finds the signal that tells, and a calibration that is right."""

from __future__ import annotations

import numpy as np

from bench.fit import Case, calibration_error, fit_calibration, fit_weights, measured

NAMES = ["noise", "tells"]


def cases(count: int, seed: int) -> list[Case]:
    """Questions with ten candidates, one gold, which one of two signals shows most of the time."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        values = chance.random((10, 2))
        gold = np.zeros(10, bool)
        gold[0] = True
        values[0, 1] += 0.5
        made.append(Case("toy", "tuning", "c", values, gold, list(range(10)), 1, (1.0, 0.0), False))
    return made


def test_the_signal_that_tells_gets_the_weight_and_finds_more() -> None:
    weights = fit_weights(NAMES, cases(60, 1), {"toy": 1.0}, rounds=120)
    assert weights["tells"] > 0.3
    assert weights["tells"] > 4 * abs(weights.get("noise", 0.0))
    fresh = cases(200, 2)
    assert measured(NAMES, fresh, weights, 1) > measured(NAMES, fresh, {"noise": 1.0}, 1) + 20


def test_probabilities_are_right_on_questions_not_seen() -> None:
    weights = {"tells": 1.0}
    curve = fit_calibration(NAMES, cases(300, 3), weights)
    assert curve["score"] > 0
    assert calibration_error(NAMES, cases(300, 4), weights, curve) < 5.0
