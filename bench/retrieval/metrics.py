"""Figures about ranked results: recall in three senses, rank quality, latency and cost.

any@k is the share of questions with at least one gold result in the first k, all@k with every one, mean@k the mean
share of gold that was found. NDCG is measured against the ideal order of everything that should have been found, not of
what happened to be found. Every figure is a share between 0 and 1 unless its name says otherwise.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.retrieval.corpus import Question
from codexmem.kernel.model.search import SearchMode

CUTS = (1, 5, 10, 20)
DEPTH = max(CUTS)  # how many results are asked for; ranks beyond it do not exist
SHOWN = 10  # results whose text would be handed to a model

# Scripts in which a tokenizer spends about one token on a character.
_WIDE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC", "FULLWIDTH")


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What one question got."""

    question: Question
    gold: frozenset[str]
    ranked: tuple[str, ...]  # best first
    scores: tuple[float, ...]  # of `ranked`
    tokens: int  # of the first ten results' text
    ms: float
    mode: SearchMode = SearchMode.LEXICAL  # by which means it was found, as the answer says

    @property
    def top(self) -> float:
        """The best score; 0 if nothing was found."""
        return self.scores[0] if self.scores else 0.0


def figures(outcomes: Sequence[QuestionResult]) -> dict[str, float]:
    """Every figure over these questions, each of which has gold; with none, only `n`."""
    found: dict[str, float] = {"n": len(outcomes)}
    if not outcomes:
        return found
    for cut in CUTS:
        shares = [len(set(each.ranked[:cut]) & each.gold) / len(each.gold) for each in outcomes]
        found[f"any@{cut}"] = mean(share > 0 for share in shares)
        found[f"all@{cut}"] = mean(share == 1 for share in shares)
        found[f"mean@{cut}"] = mean(shares)
    found["ndcg@10"] = mean(ndcg(each.ranked, each.gold, 10) for each in outcomes)
    found["mrr"] = mean(reciprocal_rank(each.ranked, each.gold) for each in outcomes)
    found["p50_ms"] = percentile([each.ms for each in outcomes], 0.50)
    found["p95_ms"] = percentile([each.ms for each in outcomes], 0.95)
    found["tokens@10"] = mean(each.tokens for each in outcomes)
    return {name: round(value, 4) for name, value in found.items()}


def ndcg(ranked: Sequence[str], gold: frozenset[str], cut: int) -> float:
    """Discounted gain of the first `cut`, as a share of the best possible; a repeated result gains nothing."""
    ideal = sum(_discount(place) for place in range(min(cut, len(gold))))
    first = {key: place for place, key in reversed(list(enumerate(ranked[:cut])))}
    gained = sum(_discount(place) for key, place in first.items() if key in gold)
    return gained / ideal


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """One over the place of the first gold result; 0 if there is none."""
    return next((1 / place for place, key in enumerate(ranked, start=1) if key in gold), 0.0)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of the values does not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; 0 for none."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def tokens(text: str) -> int:
    """About how many tokens a model would read: one for a Chinese, Japanese or Korean character, else one for four."""
    if text.isascii():
        return math.ceil(len(text) / 4)
    wide = sum(unicodedata.name(char, "").startswith(_WIDE) for char in text if not char.isascii())
    return wide + math.ceil((len(text) - wide) / 4)


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)
