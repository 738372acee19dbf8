"""How two memories stand to each other, by their words alone: the same, nearly the same, in contradiction, or neither.

Sentences contradict each other if they are about the same thing and differ only in what they say of it: another number,
another name in the same place, a "not", or a word and its opposite. What differs in its subject too ("auth listens on
8080", "billing listens on 9090") is about two things. Pure; English and Chinese; reads the beginning of a long
text, and a pair costs the product of the sentences of both, of which it reads few.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from codexmem.kernel.model import agreement
from codexmem.kernel.model.attrs import KnowledgeAttrs, ObservationAttrs, QaAttrs
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.sentences import sentences
from codexmem.kernel.search import statement_words, tokens
from codexmem.kernel.search.evidence import rarity
from codexmem.kernel.search.stopwords import CHARACTERS, ENGLISH

# Measured by `bench/review.py`, which docs/decisions/0085-review-queue.md quotes.
DUPLICATE = 0.72  # of the information of both texts that they share, from which on they say the same
CLOSE = 0.45  # likewise, where their vectors say so too
MEANT_ALIKE = 0.90  # cosine of two vectors that do
_UNSURE, _NEARLY_ALL = 0.7, 0.9  # the most that counts where each has words of its own, unless they share nearly all
_ABOUT = 0.66  # of the information of two sentences, values aside: from here on they are about one thing
_NEGATED = 0.8  # likewise, where one says "not" or the opposite: both may, of different parts of it
_COMMON = 2  # words that both must have, values aside
_COMMON_HAN = 4  # characters
_READ = 6_000  # characters of a text
_SENTENCE = 300
_SENTENCES = 40
_LEAST = 3  # telling words of a text that can be nearly the same as another

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{_HAN}]|--?[A-Za-z][\w-]*|[A-Za-z0-9_@][\w@.:/+#%=-]*")
_ENDS_RUN = ".:/-=,"


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBER_WORDS = _listed(
    """
    one two three four five six seven eight nine ten twelve twenty thirty once twice half hourly daily weekly monthly
    monday tuesday wednesday thursday friday saturday sunday
    """
)
_NUMBER_HAN = re.compile(
    r"(?<![一二两三四五六七八九十百千万零半])[一二两三四五六七八九十百千万零半]++(?=[次个天周秒分小年月号点遍台条份])|"
    r"周[一二三四五六日天]"
)
# A number before one of these counts it; before another noun it may be part of a name.
_UNIT = re.compile(
    r"(?i)^(?:s|ms|sec\w*|min\w*|hour\w*|day\w*|week\w*|month\w*|year\w*|times?|percent|[kmg]i?b|bytes?|px|am|pm|"
    r"lines?|characters?|\w+s)$"
)
_STOP = ",.;:!?)，。；：、）"  # noqa: RUF001
_HAN_BEFORE_VALUE = re.compile(r"(?:用|使用|改用|采用|选用|是|为|到|在|成|于|选|跑|监听|部署|交给|放)$")
# What may follow a name that is itself what is said, and no part of a longer name.
_AFTER_NAME = _listed(
    """
    for as in on to with by when and or instead from at is are was were not now since because if than via over before
    after so but of
    """
)
# By which it is told that something is so, and not of what: one may stand for another.
_LIGHT = frozenset(
    stem
    for word in _listed(
        """
        use run execute call invoke type set simply just first then also open must should need please always every make
        sure remember note now keep stay want prefer ensure let get new current currently listen bind expose serve
        configure default equal take allow permit limit require live sit happen start store hold go change switch move
        decide agree available locate place write read give define value instead longer work rule policy convention
        decision choose choice pick
        """
    )
    for stem in tokens.words(word)
) | frozenset("请要须应需将已现用使监听设置定为跑行改成换到放存决采选由记住以后")
_NEGATION = _listed("not never no cannot without avoid don doesn dont don't doesn't can't won't isn't nor none")
_NEGATION_HAN = frozenset("不没无未勿别")
_rarity = lru_cache(50_000)(rarity)
_OUTPUT = re.compile(r"^[\u276f$>]\s|(?:\.\.\.|\u2026)$")  # what a terminal showed, which claims nothing
_TRAILING = " .。!！;；,，"  # noqa: RUF001


class FindingReason(StrEnum):
    """Why two memories should be looked at together."""

    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class PairFinding:
    """Two memories that a person should look at, and the sentences that show why."""

    reason: FindingReason
    score: float  # 0 to 1: how much of what they tell they share
    newer: str
    older: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: frozenset[str]  # what it is about: neither values nor words that only say that it is so
    values: frozenset[str]  # numbers, versions, flags, days
    names: frozenset[str]  # named things that stand where a value would
    is_negated: bool

    @property
    def enough(self) -> int:
        """Words that another must share with it to be about the same."""
        return _COMMON_HAN if any(len(word) == 1 and word > "\u33ff" for word in self.words) else _COMMON


class ComparedText:
    """One memory's text, taken apart once and compared often."""

    def __init__(self, text: str) -> None:
        self.text = unicodedata.normalize("NFKC", text[:_READ])

    @cached_property
    def same_as(self) -> str:
        """What two texts have in common that differ in case, spaces and their last stop only."""
        return " ".join(self.text.split()).rstrip(_TRAILING).casefold()

    @cached_property
    def terms(self) -> frozenset[str]:
        """The telling words of the whole text."""
        found = tokens.terms(self.text)
        return frozenset(term for term in found if len(term) > 1) or frozenset(found)

    @cached_property
    def parts(self) -> list[_Sentence]:
        """Its sentences, as far as they are read."""
        found: list[_Sentence] = []
        for text in sentences(self.text, _SENTENCE):
            if len(found) == _SENTENCES:
                break
            if _OUTPUT.search(text):
                continue
            found.append(_taken_apart(text))
        return found

    @cached_property
    def told(self) -> frozenset[str]:
        """All that it tells, values aside: of one sentence its words, of more the terms that are searched."""
        if len(self.parts) == 1:
            return self.parts[0].words | self.parts[0].names
        return self.terms

    @cached_property
    def negations(self) -> int:
        """How many of its sentences say that something is not so."""
        return sum(part.is_negated for part in self.parts)

    @cached_property
    def values(self) -> frozenset[str]:
        """Every number, version and day in it."""
        found = filter(_is_value, map(_bare, _RUN.findall(self.text.casefold())))
        return frozenset(found) | frozenset(_NUMBER_HAN.findall(self.text))


def compared_text(memory: Memory) -> ComparedText:
    """What a memory says, as it is compared: its title too, unless the content begins with it."""
    state, attrs = memory.state, memory.state.attrs
    texts = [state.title, state.content]
    if isinstance(attrs, QaAttrs):
        texts = [attrs.question, state.content]
    elif isinstance(attrs, ObservationAttrs):
        texts += attrs.facts
    elif isinstance(attrs, KnowledgeAttrs):
        texts.append(attrs.summary)
    head, *rest = texts
    repeated = any(each.startswith(head.rstrip("\u2026. ")) for each in rest)
    return ComparedText("\n".join(each for each in (rest if repeated else texts) if each.strip()))


def are_equal(newer: ComparedText, older: ComparedText) -> bool:
    """Whether two texts are the same but for case, spaces and their last stop."""
    return newer.same_as == older.same_as and len(newer.text) < _READ


def contradiction(newer: ComparedText, older: ComparedText) -> PairFinding | None:
    """The two sentences that contradict each other most certainly, if any do."""
    best: PairFinding | None = None
    for ours in newer.parts:
        for theirs in older.parts:
            score = _clash(ours, theirs)
            if score > (best.score if best is not None else 0.0):
                best = PairFinding(FindingReason.CONTRADICTION, round(score, 3), ours.text, theirs.text)
    return best


def shared(newer: ComparedText, older: ComparedText) -> float:
    """How much of what both tell they share; 0 where one has a number or a "not" that the other has not.

    Where each has something that the other has not, that may be what each is about, unless it is little.
    """
    if newer.values != older.values or newer.negations != older.negations:
        return 0.0
    ours, theirs = newer.told, older.told
    if min(len(ours), len(theirs)) < _LEAST:
        return 0.0
    score = _share(ours, theirs)
    apart = _each_its_own(ours - _LIGHT, theirs - _LIGHT)
    return min(score, _UNSURE) if apart and score < _NEARLY_ALL else score


def duplicate(newer: ComparedText, older: ComparedText, meaning: float | None = None) -> PairFinding | None:
    """Whether two texts say nearly the same; `meaning` is the cosine of their vectors, where they have some."""
    score = shared(newer, older)
    if score >= DUPLICATE or (score >= CLOSE and meaning is not None and meaning >= MEANT_ALIKE):
        return PairFinding(FindingReason.DUPLICATE, round(max(score, meaning or 0.0), 3), "", "")
    return None


def _clash(ours: _Sentence, theirs: _Sentence) -> float:
    """How surely two sentences are about the same and cannot both hold; 0 if they may."""
    common = ours.words & theirs.words
    if len(common) >= min(ours.enough, theirs.enough) and common - _LIGHT:
        score = _share(ours.words, theirs.words)
        # What each of them alone has may be what each is about.
        if score >= _ABOUT and not (ours.words - common - _LIGHT and theirs.words - common - _LIGHT):
            if score >= _NEGATED and (
                (ours.values == theirs.values and ours.is_negated != theirs.is_negated)
                or agreement.are_opposite(ours.text.casefold(), theirs.text.casefold())
            ):
                return score
            if _each_its_own(ours.values, theirs.values) or _each_its_own(ours.names, theirs.names):
                return score
    return statement_words.replaced_share(ours.text, theirs.text) if common else 0.0


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of what both tell they share; of words by which something is said, only those that both have count."""
    common = one & other
    told = sum(_rarity(word) for each in (one, other) for word in each if word in common or word not in _LIGHT)
    return 2 * sum(map(_rarity, common)) / told if told else 0.0


def _each_its_own(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one - other) and bool(other - one)


def _taken_apart(text: str) -> _Sentence:
    runs = [(match.start(), match.end(), match.group()) for match in _RUN.finditer(text)]
    counted = {at for match in _NUMBER_HAN.finditer(text) for at in range(match.start(), match.end())}
    words, values, names = set[str](), set[str](_NUMBER_HAN.findall(text)), set[str]()
    is_heading = _is_heading(text)
    for place, (start, end, run) in enumerate(runs):
        word = _bare(run)
        low = word.casefold()
        following = _bare(runs[place + 1][2]) if place + 1 < len(runs) else ""
        if len(run) == 1 and run > "\u33ff":
            if start not in counted and run not in CHARACTERS | _NEGATION_HAN:
                words.add(run)
        elif _is_value(low) and _is_free_number(following, text[end : end + 1]):
            values.add(low)
        elif place and not is_heading and _is_name(word, text, start) and _is_free_name(text, start, end, following):
            names.add(low)
        elif low not in ENGLISH and low not in _NEGATION:
            words.add(_stemmed(low))
    return _Sentence(
        text, frozenset(words), frozenset(values), frozenset(names), agreement.is_negated(text.casefold())
    )  # fmt: skip


def _stemmed(word: str) -> str:
    return next(iter(tokens.words(word)), word)


def _bare(run: str) -> str:
    return run.rstrip(_ENDS_RUN)


def _is_value(low: str) -> bool:
    return low[:1].isdigit() or (low[:1] == "v" and low[1:2].isdigit()) or low.startswith("--") or (
        low in _NUMBER_WORDS or ("=" in low and len(low) > 2)
    )  # fmt: skip


def _is_free_number(following: str, after: str) -> bool:
    """Whether a number is what is said, and not part of a name such as "Node 20 images"."""
    if not following or after in _STOP:
        return True
    low = following.casefold()
    return following > "\u33ff" or low in ENGLISH or low in _AFTER_NAME or _UNIT.match(low) is not None


def _is_heading(text: str) -> bool:
    """Whether all words begin with a capital letter, so that none is a name for that."""
    words = [word for word in text.split() if word[:1].isalpha() and word.casefold() not in ENGLISH]
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _is_name(word: str, text: str, start: int) -> bool:
    if text[start - 1 : start] == "`":
        return True
    if any(each > "\u33ff" for each in text):
        return len(word) > 1
    return word[:1].isupper() or any(each in word for each in "_./@") or any(map(str.isdigit, word))


def _is_free_name(text: str, start: int, end: int, following: str) -> bool:
    """Whether a name stands where a value would: at the end, or before what begins another phrase."""
    rest = text[end:].lstrip("` ")
    if not following or rest[:1] in _STOP:
        return True
    if following > "\u33ff":
        return _HAN_BEFORE_VALUE.search(text[:start].rstrip("` ")) is not None
    return following.casefold() in _AFTER_NAME
