"""What speaks for a candidate whoever else was found: the share of the query's information that it has, and how
improbable it is that a stranger of its length would have as much by chance.

How much a word tells depends on how common it is in general (`background.txt`, counted over other people's texts) and
in this store, so that neither "test" nor the name of one's own project is evidence, however small the store is.
"""

import functools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from codexmem.kernel.search import tokens, wording
from codexmem.kernel.search.stopwords import BETWEEN
from codexmem.kernel.store.candidates import SearchCandidate

_PIECE = 20  # terms that are judged together: a long text says many things, and a memory answers one of them
_WHOLE = 30  # terms of a query that is not cut
_COMMON = 0.9  # the share of texts that the most common word is taken to be in
_UNLISTED = 20 / 15_000  # share of texts that a word of which nothing is known is taken to be in
_MOST = 0.5  # share of the texts here: a word that so many have tells nothing
_FEW = 20  # texts that a store must have before its own counts tell much
_SHORTEST = 0.05  # of the length of a text of the background
_SUFFIX, _SHORT_SUFFIX, _SHORT = 5, 3, 3  # letters that may follow a stem, and a stem of few letters

_NAME = re.compile(r'"[a-z_]+":')  # of a field


@dataclass(frozen=True, slots=True)
class Background:
    """How many texts in general have each word; pairs are of scripts with spaces and without."""

    having: Mapping[str, int]
    texts: tuple[int, int]
    length: tuple[int, int]  # characters of such a text


def read(table: str) -> Background:
    """The table: texts and their length by script, then a line for each count with the words that have it."""
    spaced, unspaced, *lines = (line.split() for line in table.splitlines())
    having = {word: int(count) for count, *words in lines for word in words}
    return Background(
        having, (int(spaced[0]), int(unspaced[0])), (int(spaced[1]), int(unspaced[1]))
    )  # fmt: skip


@functools.cache
def background() -> Background:
    """The table that ships, read once."""
    return read(Path(__file__).with_name("background.txt").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What is known of the store that is searched."""

    texts: int  # that it has
    having: Mapping[str, int]  # about how many of them have each term of the query
    reachable: int  # about how many memories the search may return


class WordEvidence(NamedTuple):
    """What speaks for one candidate."""

    share: float  # of the query's information
    surprise: float  # how improbable it is that a stranger of its length has these words; a sum of logarithms
    every: bool = False  # whether it has all words, however little they tell


class _Term(NamedTuple):
    part: str  # what of it stands in a text
    unspaced: bool
    worth: float  # by how rare it is in general; nothing if most texts here have it
    common: float  # share of texts that have it, in general or here
    spare: bool


class Wanted:
    """A piece of a query, ready to be looked for. That a text lacks a `spare` word is not held against it."""

    def __init__(self, terms: Sequence[str], store: StoreCounts, spare: Collection[str] = ()) -> None:
        spare = spare if any(each not in spare for each in terms) else ()
        self._terms = [_term(each, store, spare=each in spare) for each in terms]
        self._needed = sum(not each.spare for each in self._terms)
        self._worth = sum(rarity(each) for each in terms if each not in spare)

    def found(self, text: "CandidateText") -> WordEvidence:
        """What this text has of it."""
        low = text.low
        # Most terms do not stand there at all, which is soon seen.
        has = [each for each in self._terms if each.part in low and (each.unspaced or text.has_word(each.part))]
        if not has:
            return WordEvidence(0.0, 0.0)
        surprise = sum(-math.log(1.0 - (1.0 - each.common) ** text.stretch[each.unspaced]) for each in has)
        spared = sum(each.worth for each in has if each.spare)
        share = sum(each.worth for each in has) / (self._worth + spared)
        return WordEvidence(share, surprise, sum(not each.spare for each in has) == self._needed)


class CandidateText:
    """What a candidate says, as far as it is read."""

    def __init__(self, candidate: SearchCandidate, whole: str | None = None) -> None:
        if whole is None:
            whole = f"{candidate.title}\n{candidate.opening}\n{_NAME.sub(' ', candidate.attrs)}"
        self._text = whole
        self.low = self._text.lower()
        if len(self.low) != len(self._text):
            self._text = self.low
        # Three bytes to a character of a script without spaces.
        wide = 0 if self.low.isascii() else (len(self.low.encode("utf-8", "replace")) - len(self.low)) // 2
        spaced, unspaced = background().length
        # How often such a text has the chance that one of the background has once.
        self.stretch = max(_SHORTEST, (len(self.low) - wide) / spaced), max(_SHORTEST, wide / unspaced)

    def has_word(self, part: str) -> bool:
        """Whether a word stands in it of which this is the stem."""
        at = self.low.find(part)
        while at >= 0:
            if self._begins(at) and self._ends(at + len(part), _SHORT_SUFFIX if len(part) <= _SHORT else _SUFFIX):
                return True
            at = self.low.find(part, at + 1)
        return False

    def _begins(self, at: int) -> bool:
        """Whether a word begins there: after what is no letter of its script, or at the hump of an identifier."""
        before = self.low[at - 1] if at else " "
        if not before.isalnum() or not before.isascii() or before.isdigit() != self.low[at].isdigit():
            return True
        return self._text[at].isupper() and not self._text[at - 1].isupper()

    def _ends(self, at: int, most: int) -> bool:
        after = self.low[at : at + most + 1]
        return not (len(after) > most and after.isascii() and after.isalpha())


def pieces(terms: Sequence[str], store: StoreCounts, asking: Collection[str] = ()) -> list[Wanted]:
    """The terms as they are judged together. Of a short query, words that only ask are spare, and what is no word."""
    if len(terms) <= _WHOLE:
        return [Wanted(terms, store, {*asking, *_crossing(terms, store)})]
    return [Wanted(terms[at : at + _PIECE], store) for at in range(0, len(terms), _PIECE)]


def telling(terms: Sequence[str]) -> Sequence[str]:
    """The terms that can show that a text fits: one character says nothing, unless the query has nothing longer."""
    return [term for term in terms if len(term) > 1] or terms


def rarity(term: str) -> float:
    """How much a word tells, by how few texts in general have it."""
    return -math.log(_general(term))


def _crossing(terms: Sequence[str], store: StoreCounts) -> set[str]:
    """Pairs of characters that are no word, but end one and begin the next: that a memory lacks them tells nothing.

    Nobody has them, and their characters stand elsewhere; or they join what stands between words.
    """
    pairs = [each for each in terms if len(each) == 2 and all(map(wording.UNSPACED.match, each))]
    unheard = {each for each in pairs if not background().having.get(each) and not store.having.get(each)}
    elsewhere = BETWEEN.union(*(each for each in pairs if each not in unheard))
    return {each for each in pairs if (elsewhere if each in unheard else BETWEEN).issuperset(each)}


def _term(text: str, store: StoreCounts, *, spare: bool) -> _Term:
    unspaced, common = wording.UNSPACED.search(text) is not None, _general(text)
    # The one that is judged may have it; what counts is whether others have it too.
    here = max(0, store.having.get(text, 0) - 1) / (store.texts + _FEW)
    part = text if unspaced else tokens.part_of(text)
    return _Term(part, unspaced, -math.log(common) if here < _MOST else 0.0, min(_COMMON, max(common, here)), spare)


def _general(text: str) -> float:
    """The share of general texts that have this word."""
    general, unspaced = background(), wording.UNSPACED.search(text) is not None
    unlisted = _UNLISTED * general.texts[unspaced]
    return min(_COMMON, (general.having.get(text, unlisted) + 0.5) / (general.texts[unspaced] + 1))
