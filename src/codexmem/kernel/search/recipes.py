"""Recipes: how candidates are found and what each signal counts. Data, not code.

`default` serves every interface and benchmark. Its weights were fitted on declared tuning questions of four suites
together and rounded; decision 0021 says how, `docs/retrieval.md` what they give on questions held out.
"""

import math
from dataclasses import dataclass, field

from codexmem.kernel.model.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Calibration:
    """From a weighted sum to the probability that a result is relevant: a logistic curve over a few plain facts."""

    bias: float
    score: float  # of the weighted sum
    words: float  # of the best BM25 of the pool, which grows with what the words say together
    meaning: float  # of the best cosine of the pool, as far as it exceeds what unrelated texts have
    lead: float  # of the distance of the first from the tenth
    crowd: float = 0.0  # of the logarithm of how many candidates there are
    place: float = 0.0  # of the logarithm of the place; never above 0, or chances would contradict the order


_LEXICAL = Calibration(bias=-0.78, score=1.16, words=0.008, meaning=0.0, lead=-0.25, crowd=-0.52, place=-1.07)
_HYBRID = Calibration(bias=-1.09, score=1.61, words=0.006, meaning=-0.79, lead=0.02, crowd=-0.56, place=-1.08)
_TURNS = Calibration(bias=-1.07, score=2.13, words=0.0, meaning=0.0, lead=0.0, crowd=-0.5, place=-0.083)
_TURNS_HYBRID = Calibration(bias=-2.05, score=2.41, words=0.0, meaning=0.0, lead=0.0, crowd=-0.5, place=-0.11)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named search configuration."""

    name: str
    weights: dict[str, float]  # by signal, where words and vectors took part; those not named do not count
    weights_lexical: dict[str, float]  # the same where only words did
    lexical: int = 120  # candidates by words
    dense: int = 120  # candidates by meaning
    neighbours: int = 40  # of how many of the best the company is looked at
    share: float = 0.5  # of words in what a session is judged by
    share_unspaced: float = 0.35  # the same for Chinese, where a multilingual encoder sees more than words do
    unspaced: dict[str, float] = field(default_factory=dict)  # factors of weights for such queries, with vectors
    turns: dict[str, float] = field(default_factory=dict)  # factors where agents have summed up what people asked
    near_duplicate: float = 0.9  # of what likeness on a result steps behind what differs
    calibration: Calibration = _LEXICAL
    calibration_hybrid: Calibration = _HYBRID
    calibration_turns: Calibration = _TURNS  # where agents have summed up what people asked
    calibration_turns_hybrid: Calibration = _TURNS_HYBRID

    def calibration_for(self, *, vectors: bool, turns: bool) -> Calibration:
        """The curve of such a search."""
        if turns:
            return self.calibration_turns_hybrid if vectors else self.calibration_turns
        return self.calibration_hybrid if vectors else self.calibration

    def weights_for(self, *, vectors: bool, unspaced: bool, turns: bool) -> dict[str, float]:
        """What each signal counts in such a search."""
        factors = [self.unspaced] * (vectors and unspaced) + [self.turns] * turns
        weights = self.weights if vectors else self.weights_lexical
        return {name: weight * math.prod(each.get(name, 1.0) for each in factors) for name, weight in weights.items()}


DEFAULT = Recipe(
    "default",
    weights={
        "words": 0.22,
        "meaning": 0.58,
        "coverage": 0.20,
        "sought": 1.5,  # more than meaning, and whatever else speaks for one that has not the word, together
        "bridge": 0.05,
        "session": 0.71,
        "who": 0.47,
        "person": 0.39,
        "own": 0.08,
        "assistant": 0.25,
        "when": 0.61,
        "words_before": 0.13,
        "words_after": 0.02,
        "meaning_before": 0.05,
        "meaning_after": 0.18,
        "replies": 0.22,
        "question": -0.10,
        "length": 0.20,
        "standing": 0.26,
        "tells_time": 0.25,
        "tells_number": 0.13,
        "recency": 0.02,
        "priority": 0.05,
        "proven": 0.10,
        "doubted": -0.20,
    },
    weights_lexical={
        "words": 0.55,
        "coverage": 0.30,
        "bridge": 0.30,
        "session": 0.70,
        "who": 0.48,
        "person": 0.60,
        "own": 0.12,
        "assistant": 0.35,
        "when": 0.50,
        "words_before": 0.12,
        "words_after": 0.05,
        "replies": 0.18,
        "question": -0.15,
        "length": 0.05,
        "standing": 0.35,
        "tells_time": 0.25,
        "tells_number": 0.25,
        "recency": 0.02,
        "priority": 0.05,
        "proven": 0.10,
        "doubted": -0.20,
    },
    unspaced={"words": 0.7, "meaning": 1.6},
    # In a chat the answer is what a person said; of an agent's work it is what the agent did.
    turns={"person": 0.0, "own": 0.0, "session": 0.4},
)

# BM25 alone: what everything else is compared with.
WORDS = Recipe("words", weights={"words": 1.0}, weights_lexical={"words": 1.0}, near_duplicate=1.1)

# Vectors alone; where there are none, words.
MEANING = Recipe("meaning", weights={"meaning": 1.0}, weights_lexical={"words": 1.0}, near_duplicate=1.1)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (DEFAULT, WORDS, MEANING)}


def named(name: str) -> Recipe:
    """The recipe of that name."""
    try:
        return RECIPES[name]
    except KeyError:
        raise InvalidArgument(f"there is no recipe {name!r}", hint=f"there are: {', '.join(RECIPES)}") from None
