"""How texts are ranked: BM25 with the same parameters and the same counts on every engine.

A memory's words are counted into a `Bag`, which bounds them, so that any memory can be indexed anywhere: an engine must
store all of a bag and nothing beyond it, or the engines would rank the same text differently.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codexmem.kernel.store.index import IndexedTokens

K1 = 1.2
B = 0.75
HEAD_WEIGHT = 2  # a word in the head counts as two in the body; whole, because PostgreSQL stores it as positions
LEAST_IDF = 1e-6  # a word that most texts have says nothing, but never speaks against a text
# A word counts so often at most: PostgreSQL keeps 255 positions of one, and BM25 has nearly saturated long before.
HEAD_MOST, BODY_MOST = 64, 127
# A tsvector ends at 1 MiB. Words beyond it, by order of first appearance, are not indexed: some 60,000 distinct English
# words fit, or as many distinct pairs of Chinese characters.
MOST_BYTES = 900_000
_SURE_TO_FIT = MOST_BYTES // 300  # words: one has 64 characters of four bytes at most, and its places
MOST_LABELS = 2_000  # scope tokens of one memory
# A search ranks what its rarest terms find, about so many texts at most, or where even the rarest is more common, texts
# that have it and another term; the other terms add to scores. If too few are found so, all texts with any are ranked.
ENOUGH = 20_000


@dataclass(frozen=True, slots=True)
class Bag:
    """What is indexed of one memory: how often each word counts in each field, and the scope tokens."""

    head: Mapping[str, int]
    body: Mapping[str, int]
    scope: tuple[str, ...]

    @property
    def length(self) -> int:
        """In tokens, all fields together, as BM25 measures a document."""
        return sum(self.head.values()) + sum(self.body.values()) + len(self.scope)

    def weighted(self) -> dict[str, int]:
        """How much each word counts, head and body together; 255 at most."""
        found = {word: HEAD_WEIGHT * count for word, count in self.head.items()}
        for word, count in self.body.items():
            found[word] = found.get(word, 0) + count
        return found


def counted(words: IndexedTokens, scope: Iterable[str]) -> Bag:
    """The bag of these words."""
    head, body = Counter(words.head), Counter(words.body)
    labels = tuple(itertools.islice(scope, MOST_LABELS))
    if len(words.head) + len(words.body) <= _SURE_TO_FIT:
        return Bag(_up_to(head, HEAD_MOST), _up_to(body, BODY_MOST), labels)
    used = 0
    kept_head: dict[str, int] = {}
    kept_body: dict[str, int] = {}
    for word in dict.fromkeys(itertools.chain(head, body)):
        in_head, in_body = min(head[word], HEAD_MOST), min(body[word], BODY_MOST)
        used += len(word.encode()) + 4 + 2 * (HEAD_WEIGHT * in_head + in_body)
        if used > MOST_BYTES:
            break
        if in_head:
            kept_head[word] = in_head
        if in_body:
            kept_body[word] = in_body
    return Bag(kept_head, kept_body, labels)


def _up_to(counts: Mapping[str, int], most: int) -> dict[str, int]:
    return {word: min(count, most) for word, count in counts.items()}


def choice(terms: Sequence[str], having: Mapping[str, int]) -> tuple[Sequence[str], Sequence[str]]:
    """Terms of which a text must have one to be ranked, and if any are named, those of which it must have one too."""
    ordered = sorted(terms, key=lambda term: having[term])
    sums = itertools.accumulate(having[term] for term in ordered)
    rare = [term for term, total in zip(ordered, sums, strict=True) if total <= ENOUGH]
    return (rare, ()) if rare else (ordered[:1], ordered[1:])


def idf(documents: float, having: float) -> float:
    """How much a word tells, by how many of the documents have it."""
    return max(math.log(max(documents - having + 0.5, 1e-9) / (having + 0.5)), LEAST_IDF)


def score(weighted: Mapping[str, int], length: int, mean: float, weights: Mapping[str, float]) -> float:
    """The rank of one document for words of these weights (their idf)."""
    pull = K1 * (1 - B + B * length / mean)
    return sum(
        weight * count * (K1 + 1) / (count + pull) for word, weight in weights.items() if (count := weighted.get(word))
    )
