"""The short form of `just bench-qa-loop`: learning gains on the real service, and the program says so honestly."""

from __future__ import annotations

from typing import Any

import pytest

from bench import qa_loop
from bench.qa_world import Grade, World, judged

QUESTIONS, TOPICS = 200, 6  # as many questions a topic as in the long form


@pytest.mark.sqlite
def test_the_loop_gains_what_was_promised_while_one_signal_in_ten_is_wrong() -> None:
    figures = qa_loop.measure([9], [qa_loop.ORDINARY], questions=QUESTIONS, topics=TOPICS)
    (row,) = figures["loop"]
    assert row["late"] > figures["without"]["late"]
    assert row["gain"] >= qa_loop.GAIN
    assert qa_loop.kept(figures)
    assert figures["repetitions"] < figures["items"] / 5  # what competes is stored, not merged away


def row(error: float, gain: float, least: float) -> dict[str, Any]:
    return {"wrong_signals": error, "gain": gain, "least_gain": least}


@pytest.mark.parametrize(
    "rows, kept",
    [
        ([row(0.0, 0.2, 0.1), row(0.3, 0.05, 0.0)], True),
        ([row(0.1, 0.09, 0.05)], False),  # too little
        ([row(0.1, 0.2, 0.1), row(0.3, 0.04, -0.01)], False),  # a seed that loses
        ([row(0.1, 0.2, 0.1), row(0.4, -0.2, -0.3)], True),  # nothing was promised for so much noise
    ],
)
def test_what_counts_as_kept(rows: list[dict[str, Any]], kept: bool) -> None:
    assert qa_loop.kept({"loop": rows}) is kept


def test_a_seed_decides_everything_and_seeds_differ() -> None:
    one, again, other = World(1, topics=8), World(1, topics=8), World(2, topics=8)
    assert (one.items, one.habits) == (again.items, again.habits)
    assert [one.ask() for _ in range(50)] == [again.ask() for _ in range(50)]
    assert one.habits != other.habits
    assert {tongue for tongue, _, _ in World(1).topics} == {"en", "zh"}


def test_every_topic_has_a_right_answer_at_every_time() -> None:
    world = World(3)
    for topic in range(len(world.topics)):
        for gone in (0.0, 0.5, 0.99):
            assert world.ideal(topic, gone).count(Grade.RIGHT) == 1


def test_the_measure_is_one_for_the_best_order_and_none_without_a_hit() -> None:
    ideal = [Grade.RIGHT, Grade.HALF, Grade.NONE]
    assert judged(ideal, ideal, 5) == 1.0
    assert judged([Grade.NONE] * 5, ideal, 5) == 0.0
    assert 0.0 < judged([Grade.HALF, Grade.RIGHT], ideal, 5) < 1.0
