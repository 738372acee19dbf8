"""Scores of turns are fitted so that they are as high as results with the answer are frequent."""

from __future__ import annotations

import random

from bench import fit_turns
from bench.fit_turns import ScoredResult


def results(seed: int, count: int = 3_000) -> list[ScoredResult]:
    """Results of two projects that follow a curve that is known."""
    dice = random.Random(seed)
    made = []
    for number in range(count):
        total, place = dice.uniform(0.2, 2.0), number % 10
        each = ScoredResult(("shop", "mill")[number % 2], "own", place, total, 99, 0.5, 0.05, right=False)
        (chance,) = fit_turns.scores([each], {"bias": 1.0, "score": 2.0, "place": -0.4})
        made.append(ScoredResult(each.project, "own", place, total, 99, 0.5, 0.05, dice.random() < chance))
    return made


def test_the_curve_behind_the_results_is_found() -> None:
    found = fit_turns.curve(results(1))
    assert abs(found["score"] - 2.0) < 0.3
    assert abs(found["place"] + 0.4) < 0.2


def test_a_project_is_judged_by_a_curve_that_has_not_seen_it() -> None:
    seen = results(2)
    told = fit_turns.shown([(each, each.score) for each in seen])
    judged = fit_turns.shown(fit_turns.left_out(seen))
    assert judged["results"] == len(seen)
    assert told["error"] is not None
    assert judged["error"] is not None
    assert judged["error"] < 0.03 < told["error"]
    strange = [ScoredResult("shop", "own", 0, 0.1, 9, 0.5, 0.9, right=False)] * 50
    assert fit_turns.left_out([*seen, *strange])[-1][0].project == "mill"
    assert fit_turns.curve([each for each in [*seen, *strange] if each.project == "mill"]) == fit_turns.curve(
        [each for each in seen if each.project == "mill"]
    )


def test_what_is_called_strong_is_counted_by_who_asked() -> None:
    rows = [ScoredResult("shop", who, place, 1.0, 9, 0.5, 0.0, right=False)
            for who, place in (("stranger", 0), ("stranger", 1), ("absent", 0), ("own", 0))]  # fmt: skip
    told = fit_turns.shown(list(zip(rows, (0.5, 0.9, 0.1, 0.2), strict=True)))
    assert (told["stranger_strong"], told["absent_strong"], told["own_fair"]) == (1.0, 0.0, 1.0)
