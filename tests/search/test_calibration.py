"""From sums to an order and probabilities that never contradict each other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codexmem.kernel.search.calibration import calibrate
from codexmem.kernel.search.recipes import DEFAULT, RECIPES, Calibration, Recipe
from tests._support.pools import candidate, pool

STEEP = replace(DEFAULT, calibration=Calibration(bias=-2.0, score=3.0, words=0.1, meaning=0.0, lead=0.5),
                calibration_hybrid=Calibration(bias=-3.0, score=3.0, words=0.1, meaning=2.0, lead=0.5))  # fmt: skip


def test_the_order_is_that_of_the_sums_and_the_newest_comes_first_among_equals() -> None:
    found = pool([candidate(seq) for seq in (1, 2, 3, 4)])
    made = calibrate(found, {"words": [0.1, 0.5, 0.1, 0.0], "when": [0.0, 0.0, 0.0, 0.9]}, STEEP)
    assert made.order == [3, 1, 2, 0]


def test_the_explanation_is_what_was_added_up() -> None:
    found = pool([candidate(1), candidate(2)])
    made = calibrate(found, {"words": [0.25, 0.5], "question": [-0.08, 0.0], "who": [0.0, 0.0]}, STEEP)
    assert made.explain(0) == {"words": 0.25, "question": -0.08}
    assert made.explain(1) == {"words": 0.5}


def test_no_candidates_no_order() -> None:
    made = calibrate(pool([]), {"words": []}, STEEP)
    assert (made.order, list(made.probabilities)) == ([], [])


def test_better_words_and_nearer_meanings_make_all_more_likely() -> None:
    shares = {"words": [0.5, 0.1]}
    both = [candidate(1), candidate(2)]

    def first(words: float, cosine: float | None) -> float:
        dense = None if cosine is None else [cosine, 0.0]
        return calibrate(pool(both, lexical=[words, 0.0], dense=dense), shares, STEEP).probabilities[0]

    assert first(20.0, None) > first(2.0, None)
    assert first(2.0, 0.9) > first(2.0, 0.3)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: str(recipe.name))
def test_every_recipe_lets_probability_rise_with_the_sum(recipe: Recipe) -> None:
    assert recipe.calibration.score > 0.0
    assert recipe.calibration_hybrid.score > 0.0
    assert recipe.calibration.meaning == 0.0  # there is none where only words took part


_sums = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


@given(_sums, st.floats(0, 1e6), st.none() | st.floats(-1, 1), st.sampled_from([STEEP, *RECIPES.values()]))
def test_probabilities_lie_between_0_and_1_and_fall_along_the_order(
    sums: list[float], words: float, cosine: float | None, recipe: Recipe
) -> None:
    found = [candidate(seq) for seq in range(1, len(sums) + 1)]
    dense = None if cosine is None else [cosine] * len(sums)
    made = calibrate(pool(found, lexical=[words] * len(sums), dense=dense), {"words": sums}, recipe)
    falling = [made.probabilities[place] for place in made.order]
    assert all(0.0 <= value <= 1.0 for value in falling)
    assert falling == sorted(falling, reverse=True)
    assert sorted(made.order) == list(range(len(sums)))
