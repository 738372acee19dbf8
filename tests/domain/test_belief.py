"""Belief: bounded, forgetful, the same in any order, and never letting the unproven stand above the proven."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given

from codexmem.kernel.model.memory import Status
from codexmem.qa.model import belief
from codexmem.qa.model.belief import HALF_LIFE_MS, MAX_EVIDENCE, PRIOR_STRENGTH, Belief, Signal

NOW = 1_770_000_000_000
TOLERANCE = 1e-9

UNIT = st.floats(0, 1)
ANY = st.floats(allow_nan=True, allow_infinity=True)
SIGNALS = st.sampled_from(Signal)
TIMES = st.integers(NOW - 3 * HALF_LIFE_MS, NOW)
STREAM = st.lists(st.tuples(SIGNALS, UNIT, TIMES), max_size=15)
HELD = st.builds(Belief, st.floats(0, MAX_EVIDENCE / 2), st.floats(0, MAX_EVIDENCE / 2), TIMES)


def after(stream: list[tuple[Signal, float, int]]) -> Belief:
    held = Belief()
    for signal, strength, at_ms in stream:
        held = belief.learn(held, signal, strength=strength, now_ms=at_ms)
    return held


def believed(held: Belief, *, prior: float = 0.5, now_ms: int = NOW) -> float:
    return belief.confidence(held, prior=prior, now_ms=now_ms)


@pytest.mark.parametrize("prior", [0.05, 0.3, 0.5, 0.9])
def test_without_evidence_the_author_is_believed(prior: float) -> None:
    assert believed(Belief(), prior=prior) == pytest.approx(prior)


@pytest.mark.parametrize("claimed, counted", [(0.0, 0.05), (1.0, 0.95)])
def test_nobodys_word_is_certain(claimed: float, counted: float) -> None:
    assert believed(Belief(), prior=claimed) == pytest.approx(counted)


def test_the_estimate_is_the_mean_of_the_beta_distribution() -> None:
    held = after([(Signal.CONFIRMED, 1.0, NOW), (Signal.USED, 1.0, NOW), (Signal.REFUTED, 0.5, NOW)])
    good, bad = 0.9**2 + 0.6**2, (0.5 * 0.9) ** 2
    assert believed(held, prior=0.7) == pytest.approx((2 * 0.7 + good) / (2 + good + bad))


def test_a_weight_is_the_information_of_its_channel() -> None:
    """Next to a look without error, at q = 1/2, where p = e + (1 - 2e)q is seen as good."""
    for signal, fidelity in belief.FIDELITY.items():
        e, q, step = (1 - fidelity) / 2, 0.5, 1e-6

        def seen(q: float, e: float = e) -> float:
            return e + (1 - 2 * e) * q

        slope = (seen(q + step) - seen(q - step)) / (2 * step)
        information = slope**2 / (seen(q) * (1 - seen(q)))
        assert belief.weight(signal) == pytest.approx(information / (1 / (q * (1 - q))))


def test_use_outweighs_the_show_that_came_with_it() -> None:
    both = after([(Signal.SHOWN, 1.0, NOW), (Signal.USED, 1.0, NOW)])
    assert believed(both) > believed(Belief()) > believed(after([(Signal.SHOWN, 1.0, NOW)]))


@given(STREAM, ANY)
def test_a_confidence_lies_strictly_between_0_and_1(stream: list[tuple[Signal, float, int]], prior: float) -> None:
    held = after(stream)
    assert 0.0 < believed(held, prior=prior) < 1.0
    assert 0.0 <= held.good + held.bad <= MAX_EVIDENCE + TOLERANCE


@given(HELD, SIGNALS, UNIT, UNIT, TIMES)
def test_each_signal_moves_the_estimate_its_own_way(
    held: Belief, signal: Signal, strength: float, prior: float, at_ms: int
) -> None:
    now_ms = max(held.at_ms, at_ms)
    before = believed(held, prior=prior, now_ms=now_ms)
    then = believed(belief.learn(held, signal, strength=strength, now_ms=at_ms), prior=prior, now_ms=now_ms)
    if signal in (Signal.USED, Signal.CONFIRMED):
        assert then >= before - TOLERANCE
    else:
        assert then <= before + TOLERANCE


@given(HELD, SIGNALS, UNIT, UNIT)
@pytest.mark.slow
def test_a_stronger_reporter_moves_it_farther(held: Belief, signal: Signal, one: float, two: float) -> None:
    weak, strong = (
        abs(believed(belief.learn(held, signal, strength=strength, now_ms=NOW)) - believed(held))
        for strength in sorted((one, two))
    )
    assert weak <= strong + TOLERANCE


@given(HELD, UNIT, UNIT)
def test_a_better_prior_is_believed_more(held: Belief, one: float, two: float) -> None:
    low, high = sorted((one, two))
    assert believed(held, prior=low) <= believed(held, prior=high)


@given(HELD, UNIT)
def test_what_is_not_repeated_is_forgotten(held: Belief, prior: float) -> None:
    claimed = believed(Belief(), prior=prior)
    distances = [
        abs(believed(held, prior=prior, now_ms=held.at_ms + months * 30 * 86_400_000) - claimed)
        for months in (0, 1, 3, 12, 240)
    ]
    assert all(later <= sooner + TOLERANCE for sooner, later in pairwise(distances))
    assert distances[-1] < 1e-3


def test_evidence_halves_with_its_half_life() -> None:
    held = belief.learn(Belief(), Signal.CONFIRMED, strength=1.0, now_ms=NOW)
    later = belief.learn(held, Signal.REFUTED, strength=0.0, now_ms=NOW + HALF_LIFE_MS)
    assert later.good == pytest.approx(held.good / 2)


@given(STREAM, st.randoms(use_true_random=False))
def test_the_order_of_reports_does_not_matter(stream: list[tuple[Signal, float, int]], order: random.Random) -> None:
    """Below the bound, which fifteen signals cannot reach; above it the newer of two reports counts a little more."""
    shuffled = order.sample(stream, len(stream))
    assert believed(after(shuffled)) == pytest.approx(believed(after(stream)), abs=TOLERANCE)


def test_a_clock_that_went_back_makes_nothing_stronger() -> None:
    held = after([(Signal.CONFIRMED, 1.0, NOW)])
    assert believed(held, now_ms=NOW - HALF_LIFE_MS) == believed(held, now_ms=NOW)


@pytest.mark.parametrize("first, then", [(Signal.CONFIRMED, Signal.REFUTED), (Signal.REFUTED, Signal.CONFIRMED)])
def test_a_change_of_mind_takes_a_bounded_number_of_signals(first: Signal, then: Signal) -> None:
    held = after([(first, 1.0, NOW)] * 1_000)
    firm = believed(held) > 0.5
    turned = 0
    while (believed(held) > 0.5) is firm:
        held = belief.learn(held, then, strength=1.0, now_ms=NOW)
        turned += 1
    assert turned <= math.ceil(MAX_EVIDENCE * math.log(2) / belief.weight(then)) + 1


@given(UNIT, UNIT, UNIT)
def test_a_candidate_never_outranks_a_validated_item_of_equal_relevance(
    relevance: float, unproven: float, proven: float
) -> None:
    candidate = belief.ranked(relevance, unproven, Status.CANDIDATE)
    assert candidate <= relevance <= belief.ranked(relevance, proven, Status.VALIDATED)


@given(UNIT, UNIT, UNIT, UNIT, st.sampled_from(Status))
def test_a_rank_rises_with_relevance_and_with_confidence(
    one: float, two: float, less: float, more: float, status: Status
) -> None:
    (one, two), (less, more) = sorted((one, two)), sorted((less, more))
    assert belief.ranked(one, less, status) <= belief.ranked(two, less, status) + TOLERANCE
    assert belief.ranked(one, less, status) <= belief.ranked(one, more, status) + TOLERANCE


@given(st.floats(1e-6, 1 - 1e-6), UNIT, st.sampled_from(Status))
def test_belief_moves_the_odds_by_a_bounded_factor(relevance: float, confidence: float, status: Status) -> None:
    score = belief.ranked(relevance, confidence, status)
    factor = score / (1 - score) / (relevance / (1 - relevance))
    assert 1 / belief.INFLUENCE - 1e-6 <= factor <= belief.INFLUENCE + 1e-6


@given(UNIT)
def test_what_is_no_longer_offered_ranks_last(confidence: float) -> None:
    assert belief.ranked(0.5, confidence, Status.DEPRECATED) <= belief.ranked(0.5, 0.0, Status.CANDIDATE)


@given(st.builds(Belief, ANY, ANY, st.integers()), SIGNALS, ANY, ANY, st.integers(), st.sampled_from(Status))
def test_hostile_numbers_give_numbers(
    held: Belief, signal: Signal, strength: float, other: float, now_ms: int, status: Status
) -> None:
    learned = belief.learn(held, signal, strength=strength, now_ms=now_ms)
    assert 0.0 <= learned.good + learned.bad <= MAX_EVIDENCE + TOLERANCE
    for each in (held, learned):
        assert 0.0 < believed(each, prior=other, now_ms=now_ms) < 1.0
        belief.standing(status, each, prior=other, now_ms=now_ms)
    assert 0.0 <= belief.ranked(strength, other, status) <= 1.0


@pytest.mark.parametrize("extreme", [10**400, -(10**400), 2**63, -(2**63)])
def test_times_beyond_any_float_are_ages_too(extreme: int) -> None:
    held = belief.learn(Belief(1.0, 1.0, NOW), Signal.USED, strength=1.0, now_ms=extreme)
    assert 0.0 < believed(held, now_ms=extreme) < 1.0


def stands(status: Status, held: Belief, prior: float = 0.5) -> Status:
    return belief.standing(status, held, prior=prior, now_ms=NOW)


def test_evidence_and_not_a_claim_validates_a_candidate() -> None:
    confirmed = after([(Signal.CONFIRMED, 1.0, NOW)] * 3)
    assert stands(Status.CANDIDATE, Belief(), prior=1.0) is Status.CANDIDATE
    assert stands(Status.CANDIDATE, confirmed) is Status.VALIDATED
    assert stands(Status.CANDIDATE, after([(Signal.CONFIRMED, 1.0, NOW)]), prior=1.0) is Status.CANDIDATE


def test_refutations_take_a_validated_item_back_and_then_away() -> None:
    seen = [stands(Status.VALIDATED, after([(Signal.REFUTED, 1.0, NOW)] * times), prior=0.1) for times in range(12)]
    assert seen[:2] == [Status.VALIDATED] * 2
    assert seen.index(Status.CANDIDATE) < seen.index(Status.DEPRECATED)
    assert seen[-1] is Status.DEPRECATED


@given(HELD, UNIT, st.sampled_from([Status.CANDIDATE, Status.VALIDATED]))
def test_a_standing_is_settled_by_one_look(held: Belief, prior: float, status: Status) -> None:
    once = stands(status, held, prior)
    assert stands(once, held, prior) is once


@given(HELD, UNIT)
def test_a_decision_is_not_undone_by_signals(held: Belief, prior: float) -> None:
    for decided in set(Status) - {Status.CANDIDATE, Status.VALIDATED}:
        assert stands(decided, held, prior) is decided


@given(HELD, st.sampled_from(list(Signal)), UNIT, st.integers(0, 400))
def test_a_signal_that_is_taken_back_leaves_nothing(held: Belief, signal: Signal, strength: float, days: int) -> None:
    fresh = Belief(held.good / 4, held.bad / 4, NOW)  # within the bound, beyond which the old was scaled down
    learned = belief.learn(fresh, signal, strength=strength, now_ms=NOW)
    later = NOW + days * 86_400_000
    with_it = belief.learn(learned, Signal.USED, strength=0.5, now_ms=later)
    without = belief.learn(fresh, Signal.USED, strength=0.5, now_ms=later)
    left = belief.unlearn(with_it, signal, strength=strength, given_ms=NOW)
    assert (left.good, left.bad) == pytest.approx((without.good, without.bad), abs=1e-9)


def test_one_report_decides_only_with_the_evidence_behind_it() -> None:
    fresh = {signal: after([(signal, 1.0, NOW)]) for signal in (Signal.CONFIRMED, Signal.REFUTED)}
    assert all(belief.agrees(held, signal) for signal, held in fresh.items())
    confirmed = after([(Signal.CONFIRMED, 1.0, NOW)] * 3 + [(Signal.REFUTED, 1.0, NOW)])
    assert not belief.agrees(confirmed, Signal.REFUTED)
    assert belief.agrees(confirmed, Signal.CONFIRMED)


@given(HELD, st.sampled_from([Signal.CONFIRMED, Signal.REFUTED]))
def test_of_two_opposite_reports_one_may_decide(held: Belief, signal: Signal) -> None:
    assert belief.agrees(held, Signal.CONFIRMED) is not belief.agrees(held, Signal.REFUTED)
    sure = after([(signal, 1.0, NOW)] * 60)
    assert belief.agrees(sure, signal)


def test_the_prior_is_worth_two_trials() -> None:
    assert PRIOR_STRENGTH == 2.0
    assert believed(Belief(good=2.0, at_ms=NOW), prior=0.5) == pytest.approx(0.75)
