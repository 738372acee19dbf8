"""From weighted signals to an order and to probabilities.

The order is that of the sums. The probability of each follows a logistic curve over its sum and over facts that all
candidates of the query share, and over its place, so that it never contradicts the order: how much the words say
together, how near the nearest meaning is, how far the first leads, how many there are.

What was asked, what was observed meanwhile and what the agent said in the end stand in several memories and are one
answer. A turn is ranked by all of them, and its summary, which tells the most, is the result; the others step behind
the results that tell something else.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.ranking import EXPLAINED, Placed, Ranking
from codexmem.kernel.search.pool import Pool
from codexmem.kernel.search.recipes import Recipe

_LEAD = 10  # the first is compared with the tenth
_MORE = 0.2  # of what the second and third of a turn add to its best
_ADDING = 3


class RankedTurn(NamedTuple):
    """The places in a pool of one turn's memories."""

    result: int  # that stands for the turn
    others: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A pool in order."""

    order: list[int]  # places in the pool, best first
    probabilities: list[float]  # along the pool
    shares: Mapping[str, Sequence[float]]  # each signal's part of the sum, along the pool
    turns: Sequence[RankedTurn] = ()

    def given(self, chance: float) -> "Calibrated":
        """The same where it is not certain that anything fits: all odds fall by that chance, and the order stays."""
        fallen = [value * chance / (value * chance + 1.0 - value) if value else 0.0 for value in self.probabilities]
        return replace(self, probabilities=fallen)

    def explain(self, place: int) -> dict[str, float]:
        """Each signal's part of one candidate's sum; signals that say nothing are left out."""
        return {name: round(values[place], 4) for name, values in self.shares.items() if values[place]}

    def ranking(self, pool: Pool, page: Sequence[int]) -> Ranking:
        """The first of these places for a trace: what is computed already, kept and not worked on."""
        names, columns = tuple(self.shares), tuple(self.shares.values())
        placed = tuple(
            Placed(pool.candidates[place].seq, place, tuple([values[place] for values in columns]))
            for place in page[:EXPLAINED]
        )
        return Ranking(names, placed, self.order, pool.lexical, pool.dense)


def calibrate(
    pool: Pool, shares: Mapping[str, Sequence[float]], recipe: Recipe, units: Sequence[object] | None = None
) -> Calibrated:
    """Order the pool by its sums and say how likely each candidate is to be relevant.

    `units` says what each candidate counts for, where several are one result: the first of a session speaks for it.
    """
    sums: list[float] = (
        list(map(sum, zip(*shares.values(), strict=True))) if shares and len(pool) else [0.0] * len(pool)
    )
    turns = ranked_turns(pool, sums) if units is None else []
    behind = {place for turn in turns for place in turn.others}
    if turns:
        lift = [0.0] * len(pool)
        for turn in turns:
            lift[turn.result] = turn.score - sums[turn.result]
            sums[turn.result] = turn.score
        shares = {**shares, "turn": lift}
    order = sorted(range(len(pool)), key=lambda place: (place in behind, -sums[place], -pool.candidates[place].seq))
    if not order:
        return Calibrated([], [], shares)
    firsts: dict[object, int] = {}
    for place in order:
        firsts.setdefault(units[place] if units is not None else place, place)
    leading = list(firsts.values())
    ranks = {unit: rank for rank, unit in enumerate(firsts)}
    curve = recipe.calibration_for(vectors=pool.dense is not None, turns=has_summaries(pool))
    shared = (
        curve.bias
        + curve.words * max(pool.lexical)
        + curve.meaning * (max(pool.dense) if pool.dense is not None else 0.0)
        + curve.lead * (sums[leading[0]] - sums[leading[min(_LEAD, len(leading)) - 1]])
        + curve.crowd * math.log1p(len(pool))
    )
    chances = [
        _logistic(
            shared + curve.score * value + curve.place * math.log1p(ranks[units[place] if units is not None else place])
        )
        for place, value in enumerate(sums)
    ]
    for before, place in pairwise(order) if behind else ():
        chances[place] = min(chances[place], chances[before])
    return Calibrated(order, chances, shares, turns)


def has_summaries(pool: Pool) -> bool:
    """Whether agents have summed up what people asked, so that most candidates belong to a turn."""
    return any(candidate.kind is Kind.SUMMARY for candidate in pool.candidates)


def ranked_turns(pool: Pool, sums: Sequence[float]) -> list[RankedTurn]:
    """The turns whose summary was found together with others of them; the cost grows with the pool."""
    found: dict[tuple[str, int], list[int]] = {}
    for place, candidate in enumerate(pool.candidates):
        if candidate.session is not None and candidate.turn is not None:
            found.setdefault((candidate.session, candidate.turn), []).append(place)
    turns = []
    for places in found.values():
        places.sort(key=lambda place: -sums[place])
        result = _result(pool, places)
        if result is not None and len(places) > 1:
            score = sums[places[0]] + _MORE * sum(sums[place] for place in places[1:_ADDING])
            turns.append(RankedTurn(result, tuple(place for place in places if place != result), score))
    return turns


def _result(pool: Pool, places: Sequence[int]) -> int | None:
    """The summary, unless what the person said fits better and is more than a question. None without a summary, and
    where the best is an observation with words of the query and the summary has none: it would not show why it fits.
    """
    summary = next((place for place in places if pool.candidates[place].kind is Kind.SUMMARY), None)
    if summary is None:
        return None
    best = pool.candidates[places[0]]
    if best.kind is Kind.PROMPT and not best.asks:
        return places[0]
    wordless = best.kind is Kind.OBSERVATION and pool.lexical[places[0]] and not pool.lexical[summary]
    return None if wordless else summary


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else math.exp(value) / (1.0 + math.exp(value))
