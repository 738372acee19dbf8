"""How far an answer is believed, and what that does to its rank: one Bayesian estimate, bounded and forgetful.

**The question.** An item is right with an unknown rate q: of the times that it is put before somebody, the share in
which it helps. `confidence` is the expected q after everything that was reported about it.

**Prior.** q ~ Beta(S·m, S·(1 - m)), where m is the confidence its author gave it and S = `PRIOR_STRENGTH` = 2: the
claim is worth two trials, and m = 0.5, the default, is the uniform Beta(1, 1). m counts as at least 0.05 and at most
0.95, for nobody's word is certain.

**Signals.** Each is one look at q through a channel that flips the truth with a rate e. What comes out is "good" with
probability e + (1 - 2e)·q, so its Fisher information about q, next to that of a look without error, is (1 - 2e)² where
q is 1/2. That share of a trial is what a signal adds to the evidence for or against: a channel that flips every second
bit (e = 1/2) adds nothing, one without error adds one trial. A reporter with an error rate of its own is a second
channel behind the first, and channels in a row multiply their 1 - 2e: hence `strength`, the reporter's 1 - 2e. The
weight is (strength · fidelity)² with fidelity = 1 - 2e of the signal (`FIDELITY`), so strength 0 adds nothing and half
strength a quarter. We weigh and do not correct: the estimate of a noisy stream stays nearer to one half than the truth,
on the right side of it as long as less than half of the signals are wrong.

**Decay.** Evidence halves every `HALF_LIFE_MS`; without news the estimate returns to its prior. Signals may come in any
order: each is discounted by its own age, so the sum is the same.

**Bound.** Evidence is never more than `MAX_EVIDENCE` trials; beyond it the old is scaled down for the new. So a change
of mind takes a bounded number of signals (from the firmest belief to below one half: about MAX_EVIDENCE·ln 2 / weight),
and the estimate never reaches 0 or 1.

**Rank.** `ranked` multiplies the odds of relevance by at most `INFLUENCE`, or divides them by it: the most that belief
can do. A validated item is never below its relevance and a candidate never above it, whatever their confidences, so an
unproven item cannot outrank a proven one of equal relevance.

Pure: no clock, no store. All functions take any float or integer (NaN and infinities count as nothing known) and cost
the same however many signals there were: a belief is three numbers.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from codexmem.kernel.model.memory import Status

PRIOR_STRENGTH = 2.0  # trials that the author's own confidence is worth
SUREST_CLAIM = 0.95  # of an author; the least is its complement
HALF_LIFE_MS = 90 * 86_400_000  # a quarter of a year: what was true of a code base then is half known now
MAX_EVIDENCE = 16.0  # trials
INFLUENCE = 2.0  # factor on the odds of relevance, at most, up or down: the best and the worst stand 4 to 1

PROVEN = 0.75  # from here on an item is validated by evidence alone
DOUBTED = 0.35  # below, a validated item has to prove itself again
DISPROVEN = 0.15  # below, an item is no longer offered


class Signal(StrEnum):
    """Something that was reported about an item."""

    SHOWN = "shown"  # put before somebody who did not use it, as far as is known: weak evidence against
    USED = "used"  # relied upon in an answer; outweighs the show that came with it
    CONFIRMED = "confirmed"  # tried, and it worked
    REFUTED = "refuted"  # tried, and it failed


# 1 - 2e for the flip rate e of each signal. An item in a list of several is passed over easily, good or not (e = 0.4,
# which takes "passed over" to be 1.5 times as likely for a bad one); a wrong one is now and then relied upon (e = 0.2,
# four times as likely for a good one); a trial misleads one time in twenty.
FIDELITY = {Signal.SHOWN: 0.2, Signal.USED: 0.6, Signal.CONFIRMED: 0.9, Signal.REFUTED: 0.9}
_FOR = frozenset({Signal.USED, Signal.CONFIRMED})

_LONGEST = 64 * HALF_LIFE_MS  # after it nothing is left that a float could tell from nothing


@dataclass(frozen=True, slots=True)
class Belief:
    """Evidence about one item beyond its prior, in trials, as it stood at a moment."""

    good: float = 0.0
    bad: float = 0.0
    at_ms: int = 0


def weight(signal: Signal, strength: float = 1.0) -> float:
    """The trials that one signal is worth, between 0 and 1; `strength` is the reporter's 1 - 2e, from 0 to 1."""
    return (_within(strength, 0.0, 1.0, unknown=0.0) * FIDELITY[signal]) ** 2


def learn(belief: Belief, signal: Signal, *, strength: float, now_ms: int) -> Belief:
    """The belief after one more signal that was given at `now_ms`, be that before or after what is known already."""
    at_ms = max(belief.at_ms, now_ms)
    good, bad = _left(belief, at_ms)
    gained = weight(signal, strength) * _kept(at_ms - now_ms)
    if signal in _FOR:
        good += gained
    else:
        bad += gained
    return Belief(*_bounded(good, bad), at_ms)


def unlearn(belief: Belief, signal: Signal, *, strength: float, given_ms: int) -> Belief:
    """The belief without one signal that was given at `given_ms`: as if it had never been, but for the bound."""
    lost = weight(signal, strength) * _kept(belief.at_ms - given_ms)
    if signal in _FOR:
        return Belief(max(0.0, belief.good - lost), belief.bad, belief.at_ms)
    return Belief(belief.good, max(0.0, belief.bad - lost), belief.at_ms)


def confidence(belief: Belief, *, prior: float, now_ms: int) -> float:
    """The expected rate of being right, strictly between 0 and 1; without evidence the prior."""
    claimed = _within(prior, 1.0 - SUREST_CLAIM, SUREST_CLAIM, unknown=0.5)
    good, bad = _left(belief, now_ms)
    return (PRIOR_STRENGTH * claimed + good) / (PRIOR_STRENGTH + good + bad)


def standing(status: Status, belief: Belief, *, prior: float, now_ms: int) -> Status:
    """Where evidence alone puts an item that is a candidate or validated; any other status is somebody's decision.

    An author's high claim does not help a candidate over the line, nor a low one a validated item off it: the prior
    counts only where it stands against the change. The lines lie apart, so that one signal does not swing it back.
    """
    if status not in (Status.CANDIDATE, Status.VALIDATED):
        return status
    sceptical = confidence(belief, prior=min(0.5, _within(prior, 0.0, 1.0, unknown=0.5)), now_ms=now_ms)
    lenient = confidence(belief, prior=max(0.5, _within(prior, 0.0, 1.0, unknown=0.5)), now_ms=now_ms)
    if lenient < DISPROVEN:
        return Status.DEPRECATED
    if status is Status.CANDIDATE:
        return Status.VALIDATED if sceptical >= PROVEN else status
    return Status.CANDIDATE if lenient < DOUBTED else status


def agrees(belief: Belief, signal: Signal) -> bool:
    """Whether all evidence, this signal included, leans the way that it does; only then may one report decide alone.

    Without this, a single wrong report of somebody who is sure takes away what many have confirmed.
    """
    return (belief.good >= belief.bad) is (signal in _FOR)


def ranked(relevance: float, confidence: float, status: Status) -> float:
    """The score to order by, 0 to 1, rising with relevance, with confidence and from candidate to validated.

    The odds of relevance times INFLUENCE ** c for what is in use, and times INFLUENCE ** (c - 1) for a candidate.
    What is neither (deprecated, expired, …) counts as a candidate that nobody believes.
    """
    relevant = _within(relevance, 0.0, 1.0, unknown=0.0)
    believed = _within(confidence, 0.0, 1.0, unknown=0.0)
    if status in (Status.VALIDATED, Status.ACTIVE):
        # The comparisons with `relevant` keep the promise to the last bit, which rounding alone would not.
        return max(relevant, _at_odds(relevant, INFLUENCE**believed))
    if status is not Status.CANDIDATE:
        believed = 0.0
    return min(relevant, _at_odds(relevant, INFLUENCE ** (believed - 1.0)))


def _at_odds(probability: float, factor: float) -> float:
    raised = probability * factor
    return min(1.0, raised / (raised + (1.0 - probability)))


def _left(belief: Belief, now_ms: int) -> tuple[float, float]:
    # A clock that went back does not make evidence stronger than it was.
    kept = _kept(now_ms - belief.at_ms)
    good, bad = _bounded(
        _within(belief.good, 0.0, MAX_EVIDENCE, unknown=0.0), _within(belief.bad, 0.0, MAX_EVIDENCE, unknown=0.0)
    )
    return good * kept, bad * kept


def _kept(age_ms: int) -> float:
    return float(0.5 ** (min(max(age_ms, 0), _LONGEST) / HALF_LIFE_MS))


def _bounded(good: float, bad: float) -> tuple[float, float]:
    total = good + bad
    if total <= MAX_EVIDENCE:
        return good, bad
    return good * MAX_EVIDENCE / total, bad * MAX_EVIDENCE / total


def _within(value: float, least: float, most: float, *, unknown: float) -> float:
    return unknown if math.isnan(value) else min(most, max(least, value))
