"""How well a question and its answer fit a query, between 0 and 1, independent of what else was found.

The product's search says which items come near; its score tells how they stand to each other in one list. A door that
promises a threshold (`min_score`) and reorders by what was learned needs a measure that two items of equal fit share,
wherever they stand in the list. It has two parts: words, weighed by how few of the items have them, and meaning, where
vectors took part. Pure; costs the length of the texts, of which it reads a beginning.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from codexmem.domain.qa.words import Words, words

CERTAIN = 0.98  # the most: belief must still be able to order two perfect fits
_ANSWER = 1_000  # characters of an answer that are read
_LEAST_ASKED = 3  # words of a question that a long query may be looked through for
_ASKED_SHARE = 0.9  # what a question counts that a longer query says in passing
_COVERED_SHARE = 0.8  # what a query counts whose words stand in the answer, not in the question
_STEEP = 1.5  # half of the words in common are less than half of a fit
# Of unrelated texts and of the same matter in other words, as the built-in encoder sees them.
_FAR, _NEAR = 0.2, 0.75
_MEANING_SHARE = 0.6  # what meaning alone can say


@dataclass(frozen=True, slots=True)
class Read:
    """An item's words."""

    questions: tuple[Words, ...]  # one for each phrasing
    all: Words


def read(questions: Sequence[str], tags: Sequence[str], summary: str, answer: str) -> Read:
    """The item as `fits` takes it."""
    asked = tuple(words(question) for question in questions)
    rest = words("\n".join((*tags, summary[:_ANSWER], answer[:_ANSWER])))
    return Read(asked, rest.union(*asked))


def fits(query: str, items: Sequence[Read], cosines: Sequence[float | None]) -> list[float]:
    """How well each item fits the query; `cosines` says how near the meanings are, None where that is not known."""
    wanted = words(query)
    worth = _worth(wanted, items)
    return [
        min(CERTAIN, 1.0 - (1.0 - _by_words(wanted, item, worth)) * (1.0 - _MEANING_SHARE * _by_meaning(cosine)))
        for item, cosine in zip(items, cosines, strict=True)
    ]


def _worth(wanted: Words, items: Sequence[Read]) -> dict[str, float]:
    """What each word counts: the fewer of the items have it, the more."""
    every = frozenset(word for item in items for asked in item.questions for word in asked) | wanted
    among = len(items) + 1
    return {word: math.log1p(among / (1 + sum(word in item.all for item in items))) for word in every}


def _by_words(wanted: Words, item: Read, worth: dict[str, float]) -> float:
    if not wanted:
        return 0.0
    sum_wanted = sum(worth[word] for word in wanted)
    best = _COVERED_SHARE * sum(worth[word] for word in wanted & item.all) / sum_wanted
    for asked in item.questions:
        sum_asked = sum(worth[word] for word in asked)
        if not sum_asked:
            continue
        common = sum(worth[word] for word in wanted & asked)
        best = max(best, 2 * common / (sum_wanted + sum_asked))
        if len(asked) >= _LEAST_ASKED:
            best = max(best, _ASKED_SHARE * common / sum_asked)
    return float(best**_STEEP)


def _by_meaning(cosine: float | None) -> float:
    if cosine is None or math.isnan(cosine):
        return 0.0
    return min(1.0, max(0.0, (cosine - _FAR) / (_NEAR - _FAR)))
