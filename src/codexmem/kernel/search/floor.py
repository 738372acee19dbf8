"""The least that must speak for a result, so that a search for what is not there finds nothing.

Ranking compares candidates with each other, so something is always first. Whether anything fits at all, only evidence
can tell that does not depend on the other candidates: the share of the query's information that a candidate has, how
improbable that is by chance, the cosine of its meaning, of which is known what strangers reach, and how many memories
had the chance to look alike. A weighted sum of these is its grade. The best grade opens the gate; then others are
results too that come near it or, for who asked, stand beside one. Decision 0068 says how the figures were measured.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codexmem.kernel.model.search import Floor
from codexmem.kernel.search import tokens
from codexmem.kernel.search.evidence import CandidateText, StoreCounts, Wanted, WordEvidence, pieces, telling
from codexmem.kernel.search.parsed_query import ParsedQuery
from codexmem.kernel.search.pool import Pool
from codexmem.kernel.store.candidates import OPENING

_TAIL = 2.0  # by which others may lie below what opens the gate
_SOME = 0.5  # of a grade, that a meaning adds which is not foreign
_WHOLE = 16  # memories that are read wholly
FITS = 0.45  # relevance, a little below the line for what is told unasked, that few strangers reach
_LITERAL = FITS  # relevance of what has all words that were asked for


class Threshold(NamedTuple):
    """The grade that the best candidate must reach, in scripts with spaces and without; in scripts with spaces a lower
    one does if the candidate has a good share of the query's information.
    """

    spaced: float
    unspaced: float
    sharing: float = math.inf
    share: float = 0.0

    def passed(self, grade: float, share: float, *, unspaced: bool) -> bool:
        """Whether this opens the gate."""
        if unspaced:
            return grade >= self.unspaced
        return grade >= self.spaced or (grade >= self.sharing and share >= self.share)

    def lowest(self, *, unspaced: bool) -> float:
        """The least grade that may open it."""
        return self.unspaced if unspaced else min(self.spaced, self.sharing)


@dataclass(frozen=True, slots=True)
class RelevanceGate:
    """What each fact counts, and what the best candidate must reach: fitted for words alone, or with one encoder."""

    share: float
    surprise: float  # of the logarithm
    cosine: float
    crowd: float  # of the logarithm of how many memories the search may return
    bias: float
    lines: dict[Floor, Threshold]

    def grade(self, weighed: "Weighed", crowd: float) -> float:
        """How much speaks for a candidate."""
        (share, surprise, _), cosine = weighed
        words = self.share * share + self.surprise * math.log1p(surprise)
        return words + self.cosine * cosine + self.crowd * crowd + self.bias


# Unasked, the grade that few strangers reach; asked, the one that 95 of 100 right answers in real projects reach.
WORDS = RelevanceGate(
    2.0, 1.51, 0.0, -0.30, -3.59,
    {
        Floor.UNASKED: Threshold(-0.40, -1.5, -1.3, 0.5),
        Floor.AHEAD: Threshold(-1.22, -2.73),
        Floor.ASKED: Threshold(-1.22, -2.1, -2.5, 0.3),
    },
)  # fmt: skip
ENCODERS = {
    "use-multilingual-v3": RelevanceGate(
        2.37, 0.71, 4.96, -0.30, -3.78,
        {
            Floor.UNASKED: Threshold(-0.47, -1.9, -1.3, 0.5),
            Floor.AHEAD: Threshold(-1.58, -3.21),
            Floor.ASKED: Threshold(-2.6, -2.6),
        },
    )
}  # by model  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """What is a result; along the pool."""

    fits: list[bool]
    level: Floor  # at which they do
    relevance: list[float]  # between 0 and 1; one half is the line for what is told unasked

    @property
    def best(self) -> float:
        """What speaks for the best."""
        return max(self.relevance, default=0.0)


class Weighed(NamedTuple):
    """One candidate's evidence, as a gate takes it."""

    evidence: WordEvidence
    cosine: float


def weigh(query: ParsedQuery, pool: Pool, store: StoreCounts,
          whole: Callable[[Sequence[int]], Mapping[int, str]]) -> tuple[list[Weighed], float]:  # fmt: skip
    """What speaks for each candidate, and the logarithm of how many had the chance to look alike."""
    parts = pieces(_terms(query), store, query.asking)
    cosines = pool.dense if pool.dense is not None else [0.0] * len(pool)
    weighed = list(map(Weighed, _evidence(pool, parts, whole), cosines))
    return weighed, math.log(max(1, store.reachable) * len(parts))


def judge(query: ParsedQuery, pool: Pool, store: StoreCounts, model: str | None, levels: Sequence[Floor],
          whole: Callable[[Sequence[int]], Mapping[int, str]]) -> Judged:  # fmt: skip
    """Judge each candidate at the first of these levels at which any fits, else at the last.

    `whole` reads all that the memories of these numbers say. Who asks for words is shown what has all of them, however
    common they are. An encoder nobody measured cannot open the gate, but is trusted once words did.
    """
    spelled = _only_codes(_terms(query))
    gate = WORDS if pool.dense is None or spelled else ENCODERS.get(model or "", WORDS)
    weighed, crowd = weigh(query, pool, store, whole)
    # Of one word the index knows better than its letters: ran is found by run.
    alone = len(_terms(query)) == 1 and not query.unspaced
    worded = [alone and score > 0.0 for score in pool.lexical]
    has_all_words = [word or each.evidence.every for each, word in zip(weighed, worded, strict=True)]
    literal = gate.lines[Floor.ASKED].lowest(unspaced=query.unspaced)
    grades = [
        max(_grade(gate, each, crowd, query, measured=place not in pool.unmeasured),
            literal if has_all_words[place] else -math.inf)
        for place, each in enumerate(weighed)
    ]  # fmt: skip
    shares = [max(each.evidence.share, float(has)) for each, has in zip(weighed, has_all_words, strict=True)]
    trusted, strict = gate is WORDS and pool.dense is not None and not spelled, gate.lines[Floor.UNASKED]
    # Without a word in common the meaning must say something.
    some = [
        word or share > 0.0 or gate.cosine * each.cosine >= _SOME
        for each, share, word in zip(weighed, shares, worded, strict=True)
    ]

    def at(level: Floor) -> Judged:
        line = gate.lines[level]
        relevance = [
            max(_logistic(grade - strict[query.unspaced]), _LITERAL if has and level is Floor.ASKED else 0.0)
            for grade, has in zip(grades, has_all_words, strict=True)
        ]
        if not any(line.passed(*each, unspaced=query.unspaced) for each in zip(grades, shares, strict=True)):
            return Judged([False] * len(pool), level, relevance)
        least = (line[query.unspaced] if line is strict else line.lowest(unspaced=query.unspaced)) - _TAIL
        found = [trusted or (near and grade >= least) for near, grade in zip(some, grades, strict=True)]
        if level is Floor.UNASKED:
            return Judged(found, level, relevance)
        # An answer is found by the question before it.
        fits = [
            own or any(place is not None and found[place] for place in beside)
            for own, beside in zip(found, zip(pool.before, pool.after, strict=True), strict=True)
        ]
        return Judged(fits, level, relevance)

    judged = at(levels[0])
    for level in levels[1:]:
        if not any(judged.fits):
            judged = at(level)
    return judged


def _grade(gate: RelevanceGate, each: Weighed, crowd: float, query: ParsedQuery, *, measured: bool) -> float:
    """The grade; what was just written and has no vector yet is graded by its words, as far from its line."""
    if measured:
        return gate.grade(each, crowd)
    own, words = gate.lines[Floor.UNASKED][query.unspaced], WORDS.lines[Floor.UNASKED][query.unspaced]
    return WORDS.grade(each, crowd) - words + own


def _terms(query: ParsedQuery) -> Sequence[str]:
    """The query's words, and the names that are no topic to an encoder."""
    return telling([*query.terms, *(term for name in sorted(query.people) for term in tokens.terms(name))])


def _evidence(
    pool: Pool, parts: Sequence[Wanted], whole: Callable[[Sequence[int]], Mapping[int, str]]
) -> list[WordEvidence]:
    """What each has of it. Of those that words found where this does not show it, the best are read wholly."""

    def found(text: CandidateText) -> WordEvidence:
        return max(part.found(text) for part in parts)

    said = [found(CandidateText(each)) for each in pool.candidates]
    hidden = [
        place
        for place, each in enumerate(pool.candidates)
        if pool.lexical[place] > 0.0 and (each.length > OPENING or not said[place].share)
    ]
    hidden = sorted(hidden, key=lambda place: -pool.lexical[place])[:_WHOLE]
    read = whole([pool.candidates[place].seq for place in hidden]) if hidden else {}
    for place in hidden:
        each = pool.candidates[place]
        if each.seq in read:
            said[place] = found(CandidateText(each, read[each.seq]))
    return said


def _only_codes(terms: Sequence[str]) -> bool:
    """Whether the query is a commit, an error code or the like: those have no meaning, only a spelling. Dates have."""
    digits = all(any(map(str.isdigit, term)) for term in terms)
    return digits and any(any(map(str.isalpha, term)) for term in terms)


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else math.exp(value) / (1.0 + math.exp(value))
