"""The words of a question as far as they say what is asked: for telling whether two questions are the same.

English words lose their endings, Chinese text becomes its characters and pairs of neighbours, and turns of phrase by
which people ask ("how do I", "如何", "please") are left out. What changes the question stays: why, when, where, who,
how many, and every "not". Pure, linear in the length of the text, the same on every machine.
"""

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterable
from enum import Enum

_READ = 20_000  # characters of a text that are looked at
_SAME_ENOUGH = 0.7  # of all words of two questions that both have: below, they are two questions
_NARROWER = 0.8  # the same where one question says all that the other does
_LEAST_WORD = 4  # letters that are left of an English word when its ending goes

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(rf"([{_HAN}]+)|([^\W_{_HAN}](?:[^\W{_HAN}]|[.+#/:'\u2019-](?=[^\W{_HAN}]))*(?:\+\+|#)?)")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_CONTRACTED = re.compile(r"n['\u2019]t$")

_ENGLISH = frozenset((
    "a", "about", "actually", "again", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being",
    "best", "but", "by", "can", "could", "correct", "correctly", "did", "do", "does", "doing", "done", "for", "from",
    "had", "has", "have", "having", "hello", "help", "hey", "hi", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "know", "let", "may", "me", "might", "my", "need", "now", "of", "on", "or", "our", "ours",
    "please", "properly", "right", "should", "so", "some", "tell", "than", "thank", "thanks", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "try", "trying", "us", "want", "was",
    "way", "we", "were", "what", "which", "will", "with", "would", "you", "your",
))  # fmt: skip
_NOT = frozenset((
    "no", "not", "never", "cannot", "without", "nor", "none",
))  # fmt: skip
_SAME_WORD = {"whom": "who", "whose": "who", "much": "many", "wherein": "where"} | dict.fromkeys(_NOT, "not")

# Chinese turns of phrase, the longest first: what is asked for becomes the English word for it, how it is asked goes.
_CHINESE_ASKS = (
    ("什么时候", "when"), ("为什么", "why"), ("为何", "why"), ("为啥", "why"), ("何时", "when"), ("哪里", "where"),
    ("哪儿", "where"), ("在哪", "where"), ("谁", "who"), ("多少", "many"), ("几个", "many"),
)  # fmt: skip
_CHINESE_PHRASES = (
    "怎么才能", "如何才能", "怎样才能", "有没有办法", "有什么办法", "应该怎么", "应该如何", "怎么样", "请问一下",
    "我想知道", "请告诉我", "帮我看看", "如何", "怎么", "怎样", "请问", "应该", "可以", "能否", "能不能", "是否",
    "是不是", "什么", "哪个", "哪些", "我们", "一下", "方法", "办法", "帮我", "想要",
)  # fmt: skip
_CHINESE_ASIDES = frozenset("的了吗呢啊吧呀把请我你您")
_ASKS = dict(_CHINESE_ASKS)
_PHRASES = re.compile("|".join(sorted((*_ASKS, *_CHINESE_PHRASES), key=len, reverse=True)))

Words = frozenset[str]


class Likeness(Enum):
    """How two questions stand to each other."""

    SAME = "same"  # they ask with the same words, but for how they ask
    NARROWER = "narrower"  # one says all that the other says, and a little more
    ALIKE = "alike"  # most words are the same, and each has one of its own
    OTHER = "other"


def words(text: str) -> Words:
    """The words that say what a text is about."""
    return frozenset(_words(unicodedata.normalize("NFKC", text[:_READ]).casefold()))


def key(question: str) -> str:
    """A label that two questions share if and only if they are the `SAME`, whatever order their words have."""
    said = " ".join(sorted(words(question))) or " ".join(question.casefold().split())
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=16).hexdigest()


def likeness(one: Words, other: Words) -> Likeness:
    """Whether two questions are the same, judged by their words."""
    if one == other:
        return Likeness.SAME if one else Likeness.OTHER
    share = shared(one, other)
    if share >= _NARROWER and (one < other or other < one):
        return Likeness.NARROWER
    return Likeness.ALIKE if share >= _SAME_ENOUGH else Likeness.OTHER


def shared(one: Words, other: Words) -> float:
    """The share of all their words that both have."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0


def _words(text: str) -> Iterable[str]:
    for match in _RUN.finditer(text):
        if match[1]:
            yield from _chinese(match[1])
        elif (word := _english(match[2])) is not None:
            yield word


def _chinese(run: str) -> Iterable[str]:
    for asked in _PHRASES.findall(run):
        if asked in _ASKS:
            yield _ASKS[asked]
    for piece in _PHRASES.split(run):
        left = [character for character in piece if character not in _CHINESE_ASIDES]
        yield from left
        yield from map("".join, itertools.pairwise(left))


def _english(word: str) -> str | None:
    if _CONTRACTED.search(word):
        return "not"
    word = _POSSESSIVE.sub("", word)
    word = _SAME_WORD.get(word, word)
    if word in _ENGLISH or not word:
        return None
    return _stem(word) if word.isascii() and word.isalpha() else word


def _stem(word: str) -> str:
    """The word without its ending: rotate, rotates, rotated and rotating are one. Crude, and the same for all texts."""
    if word.endswith("ies") and len(word) > _LEAST_WORD:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) >= _LEAST_WORD:
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_WORD - 1:
            word = word.removesuffix(ending)
            if word[-1] == word[-2] and word[-1] not in "ls":  # running, but not calling or passing
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) >= _LEAST_WORD else word
