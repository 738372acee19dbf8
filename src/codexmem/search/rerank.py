"""What a reranker's word does to a list: it decides which comes first, not how many are likely to be relevant.

A reranker's scores are of any size and mean nothing beyond one query. So the places it has judged keep the
probabilities they had, the highest for the new first: the list goes down as before, and as many results pass a least
score as without it.
"""

from collections.abc import Sequence
from dataclasses import replace

from codexmem.domain.ranking import RERANK
from codexmem.search import diversity
from codexmem.search.calibration import Calibrated
from codexmem.search.pool import Pool
from codexmem.store.candidates import Candidate

SHARE = RERANK  # under which an explanation tells the reranker's own score


def text_of(candidate: Candidate) -> str:
    """What a reranker reads of a candidate: its title, unless the content begins with it, and the beginning."""
    title, opening = candidate.title.strip(), candidate.opening
    return f"{title}\n{opening}" if title and not opening.startswith(title) else opening


def reorder(pool: Pool, order: Sequence[int], ranked: Calibrated, scores: Sequence[float], *,
            alike: float) -> tuple[list[int], Calibrated]:  # fmt: skip
    """The order with its first places, as many as there are scores, sorted by these; near duplicates stay behind."""
    head = order[: len(scores)]
    by_score = [place for _, _, place in sorted(zip([-score for score in scores], range(len(head)), head, strict=True))]
    by_score = diversity.spread(by_score, pool.candidates, alike=alike, depth=len(head))
    probabilities = list(ranked.probabilities)
    chances = sorted((probabilities[place] for place in head), reverse=True)
    told = [0.0] * len(probabilities)
    for place, score in zip(head, scores, strict=True):
        told[place] = score
    for place, chance in zip(by_score, chances, strict=True):
        probabilities[place] = chance
    shares = {**ranked.shares, SHARE: told}
    return [*by_score, *order[len(head) :]], replace(ranked, probabilities=probabilities, shares=shares)
