"""The least that must speak for a result, so that a search for what is not there finds nothing.

Ranking compares candidates with each other, so something is always first. Whether anything fits at all, only evidence
can tell that does not depend on the other candidates: the share of the query's words that a candidate has, and the
cosine of its meaning, of which is known what strangers reach. One candidate must have enough of both together; then
others are results too that have a word, are not wholly foreign in meaning, or stand beside one that is a result.
Decision 0059 says how the figures were measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codexmem.search import tokens
from codexmem.search.pool import Pool

_ENOUGH = 0.5  # of the query's words, where meaning says nothing


@dataclass(frozen=True, slots=True)
class Measured:
    """Cosines of one encoder."""

    near: float  # enough without any word in common: strangers rarely come so near
    far: float  # too little even where other candidates fit


ENCODERS = {"use-multilingual-v3": Measured(near=0.25, far=0.1)}  # by model


def evidence(terms: Sequence[str]) -> Sequence[str]:
    """The terms that show that a text fits: one character says nothing, unless the query has nothing longer."""
    return [term for term in terms if len(term) > 1] or terms


def fits(terms: Sequence[str], pool: Pool, model: str | None) -> list[bool]:
    """Whether each candidate is a result. Without vectors a word is enough; an encoder nobody measured is trusted."""
    measured = ENCODERS.get(model or "")
    if pool.dense is None or _only_codes(terms):
        found = list(pool.worded)
    elif measured is None:
        found = [True] * len(pool)
    elif not _any_fits(terms, pool, pool.dense, measured):
        return [False] * len(pool)
    else:
        found = [word or cosine >= measured.far for word, cosine in zip(pool.worded, pool.dense, strict=True)]
    # An answer is found by the question before it.
    return [
        own or any(place is not None and found[place] for place in beside)
        for own, beside in zip(found, zip(pool.before, pool.after, strict=True), strict=True)
    ]


def _only_codes(terms: Sequence[str]) -> bool:
    """Whether the query is a commit, an error code or the like: those have no meaning, only a spelling. Dates have."""
    wanted = evidence(terms)
    digits = all(any(map(str.isdigit, term)) for term in wanted)
    return digits and any(any(map(str.isalpha, term)) for term in wanted)


def _any_fits(terms: Sequence[str], pool: Pool, cosines: Sequence[float], measured: Measured) -> bool:
    wanted = evidence(terms)
    for candidate, word, cosine in zip(pool.candidates, pool.worded, cosines, strict=True):
        lacking = _ENOUGH * (1.0 - max(0.0, cosine) / measured.near)  # share of the words
        if lacking <= 0.0:
            return True
        if word:
            text = f"{candidate.title}\n{candidate.opening}".lower()
            # The index found at least one, be it in a label or further down.
            if max(1, sum(tokens.part_of(term) in text for term in wanted)) >= lacking * len(wanted):
                return True
    return False
