"""Of texts that a search found, the passages that bear on the query, within a number of tokens."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from codexmem.kernel.model import text_size
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.sentences import sentences
from codexmem.kernel.search import text_of, tokens

_SIZE = 150  # characters of a passage, of which many fit
_LONGEST = 20_000  # characters of a text that are read
_USUAL = 300  # characters, from which on length counts against a passage
_WHOLE, _RANK = 0.2, 0.6  # what its text and the rank of that add to a passage's own share
_NEAR = 0.5  # of the best score
_FEW = 15  # tokens that are left: nothing more will fit


class WordWeights:
    """What a word tells: the rarer among these texts, the more."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._count: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self._texts += 1
            self._count.update(set(tokens.words(text)))

    def of(self, word: str) -> float:
        """The weight of one word."""
        has = self._count[word]
        return math.log(1 + (self._texts - has + 0.5) / (has + 0.5))

    def shared(self, wanted: set[str], text: str) -> float:
        """The weight of those of the words that stand in a text."""
        return sum(self.of(word) for word in wanted & set(tokens.words(text)))

    def density(self, wanted: set[str], text: str) -> float:
        """The same, less for a long text."""
        return self.shared(wanted, text) / math.sqrt(1 + len(text) / _USUAL)


def cut(text: str, size: int) -> Iterator[str]:
    """Sentences together, up to so many characters."""
    passage = ""
    for sentence in sentences(text, size):
        if passage and len(passage) + len(sentence) > size:
            yield passage
            passage = ""
        passage = f"{passage} {sentence}" if passage else sentence
    if passage:
        yield passage


def full_text(memory: Memory) -> str:
    """What somebody reads of a memory who looks for an answer, nothing twice: a title is often its beginning."""
    title, said = text_of.names(memory)[:1], "\n".join(text_of.body(memory))
    return "\n".join((*(each for each in title if each not in said), said))[:_LONGEST]


def best_passages(query: str, texts: Sequence[str], scores: Sequence[float], budget: int) -> list[list[str]]:
    """For each text, the best text first, its passages that are among the best of all, in the order of the text.

    A text without any word of the query is read only if it fits by half as well as the best. Cost grows with the number
    and length of the texts, both of which callers bound.
    """
    wanted, weights = set(tokens.terms(query)), WordWeights(texts)
    whole = [weights.shared(wanted, text) for text in texts]
    least = _NEAR * max(scores, default=0.0)
    near = [at for at, share in enumerate(whole) if share or scores[at] >= least]
    found = [(at, passage) for at in near for passage in cut(texts[at], _SIZE)]
    own = [weights.density(wanted, passage) for _, passage in found]
    best = [max(values, default=0.0) or 1.0 for values in (own, whole, scores)]
    worth = [
        mine / best[0] + _WHOLE * whole[at] / best[1] + _RANK * scores[at] / best[2]
        for mine, (at, _) in zip(own, found, strict=True)
    ]
    left, kept, seen = budget, list[int](), set[str]()
    for place in sorted(range(len(found)), key=lambda place: (-worth[place], place)):
        passage = found[place][1]
        cost = text_size.tokens(passage)
        if left < _FEW:
            break
        if cost <= left and passage not in seen:
            left -= cost
            seen.add(passage)
            kept.append(place)
    chosen: list[list[str]] = [[] for _ in texts]
    for place in sorted(kept):
        chosen[found[place][0]].append(found[place][1])
    return chosen
