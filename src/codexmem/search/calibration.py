"""From weighted signals to an order and to probabilities.

The order is that of the sums. The probability of each follows a logistic curve over its sum and over facts that all
candidates of the query share, and over its place, so that it never contradicts the order: how much the words say
together, how near the nearest meaning is, how far the first leads, how many there are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codexmem.domain.ranking import EXPLAINED, Placed, Ranking
from codexmem.search.pool import Pool
from codexmem.search.recipes import Recipe

_LEAD = 10  # the first is compared with the tenth


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A pool in order."""

    order: list[int]  # places in the pool, best first
    probabilities: list[float]  # along the pool
    shares: Mapping[str, Sequence[float]]  # each signal's part of the sum, along the pool

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
    sums = list(map(sum, zip(*shares.values(), strict=True))) if shares and len(pool) else [0.0] * len(pool)
    order = sorted(range(len(pool)), key=lambda place: (-sums[place], -pool.candidates[place].seq))
    if not order:
        return Calibrated([], [], shares)
    firsts: dict[object, int] = {}
    for place in order:
        firsts.setdefault(units[place] if units is not None else place, place)
    leading = list(firsts.values())
    ranks = {unit: rank for rank, unit in enumerate(firsts)}
    curve = recipe.calibration if pool.dense is None else recipe.calibration_hybrid
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
    return Calibrated(order, chances, shares)


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else math.exp(value) / (1.0 + math.exp(value))
