"""Whether two texts about one thing, such as answers to one question, agree: judged by words, values and negations.

Cautious on purpose. Agreement takes most words in common; a contradiction takes sentences that say nearly the same with
another value, with or without a "not", or with the opposite word. It may see contradictions where there are none, for
what is seen is only flagged and shown side by side. Pure; costs the product of the sentences, of which it reads few.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from codexmem.kernel.model.qa_words import Words, words

_READ = 8_000  # characters of an answer
_SENTENCES = 40
_SAME_SAID = 0.6  # of the words of two sentences, for them to speak of one thing
_AGREE = 0.6  # the same of two whole answers
_WITHIN = 0.85  # of a short answer's words that a longer one has
_SHORT = 6  # words up to which an answer is one statement
_REWORDED = 0.75  # of the words of two such answers, from which on they say the same in other words
_FEW = 2

_STOP = re.compile(r"[\n!?;。！？；]+|\.(?=\s|$)")  # noqa: RUF001  a dot inside a version or a path ends nothing
# What people put into settings and commands: numbers with what hangs on them, flags, assignments.
_VALUE = re.compile(r"(?<![\w.])--?[a-z][\w-]*|(?<!\w)\w++=[^\s,;`]+|(?<![\w.])v?\d[\w.:%/-]*", re.IGNORECASE)
_CODE = re.compile(r"`([^`\n]{1,80})`")
_NAME = re.compile(r"(?<=[\s(])[A-Z][A-Za-z0-9.+-]*")  # not the first word of a sentence
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.+_-]*")
_NEGATED = re.compile(
    r"\b(?:not|never|no|cannot|without|avoid)\b|n['\u2019]t\b|不要|不能|不会|不可|不是|不用|不得|没有|禁止|无法|避免|切勿|"
    r"未|勿|[^区]别(?=用|在|把|去|再)",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("enable", "disable"), ("on", "off"), ("true", "false"), ("yes", "no"), ("always", "never"), ("allow", "deny"),
    ("allow", "forbid"), ("add", "remove"), ("start", "stop"), ("increase", "decrease"), ("before", "after"),
    ("required", "optional"), ("safe", "unsafe"), ("supported", "unsupported"), ("with", "without"),
    ("开启", "关闭"), ("启用", "禁用"), ("允许", "禁止"), ("增加", "减少"), ("之前", "之后"), ("支持", "不支持"),
    ("需要", "不需要"), ("可以", "不可以"), ("安全", "不安全"),
)  # fmt: skip
_CHINESE = re.compile("[\u4e00-\u9fff]")
# By which it is told what to do, and not what is done.
_LIGHT = words("run execute use call invoke type set simply just first then also open 执行 运行 使用 输入 设置 用")


class Agreement(Enum):
    """What a second answer says of the first."""

    AGREES = "agrees"
    DIFFERS = "differs"  # other words, and nothing seen that both cannot be right about
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class _Said:
    """One sentence, taken apart."""

    words: Words  # without plain values
    values: Words  # plain values
    names: Words  # code and proper names, which are words as well
    negated: bool
    text: str


def compare(one: str, other: str) -> Agreement:
    """Whether two answers to the same question agree."""
    if " ".join(one.split()) == " ".join(other.split()):
        return Agreement.AGREES
    first, second = list(_said(one)), list(_said(other))
    all_one, all_other = _all(first), _all(second)
    if _one_statement_each(all_one, all_other) or any(_clash(a, b) for a in first for b in second):
        return Agreement.CONTRADICTS
    common, fewer = len(all_one & all_other), min(len(all_one), len(all_other))
    if not fewer:
        return Agreement.DIFFERS
    alike = 2 * common / (len(all_one) + len(all_other))
    inside = common / fewer if fewer > _FEW else 0.0
    return Agreement.AGREES if alike >= _AGREE or inside >= _WITHIN else Agreement.DIFFERS


def _said(answer: str) -> Iterable[_Said]:
    sentences = [each.strip() for each in _STOP.split(answer[:_READ]) if each.strip()]
    for text in sentences[:_SENTENCES]:
        names = [*_CODE.findall(text), *_NAME.findall(text)]
        if _CHINESE.search(text):
            names += _LATIN.findall(text)
        lowered = text.casefold()
        values = frozenset(map(_bare, _VALUE.findall(lowered)))
        rest = words(_VALUE.sub(" ", lowered).replace("`", " ")) - _LIGHT
        named = frozenset(_bare(name.casefold()) for name in names) - values
        yield _Said(rest, values - {""}, named - {""}, is_negated(lowered), lowered)


def _bare(value: str) -> str:
    return " ".join(value.strip("`.:,-/ ").split())


def _all(sentences: Iterable[_Said]) -> Words:
    return frozenset(word for said in sentences for word in (*said.words, *said.values))


def _one_statement_each(one: Words, other: Words) -> bool:
    """Two answers so short that each names one thing, and each names what the other does not."""
    if not (0 < len(one) <= _SHORT and 0 < len(other) <= _SHORT and _each_its_own(one, other)):
        return False
    return 2 * len(one & other) / (len(one) + len(other)) < _REWORDED


def _clash(one: _Said, other: _Said) -> bool:
    if not _of_one_thing(one.words - {"not"}, other.words - {"not"}):
        return False
    if one.negated != other.negated or are_opposite(one.text, other.text):
        return True
    return _each_its_own(one.values, other.values) or _each_its_own(one.names, other.names)


def _each_its_own(one: Words, other: Words) -> bool:
    return bool(one - other) and bool(other - one)


def _of_one_thing(one: Words, other: Words) -> bool:
    if not one or not other:
        return False
    return 2 * len(one & other) / (len(one) + len(other)) >= _SAME_SAID


def are_opposite(one: str, other: str) -> bool:
    """Whether one of two texts, in small letters, has a word whose opposite only the other has."""
    return any(
        (_has(one, word) and _has(other, against) and not _has(one, against) and not _has(other, word))
        or (_has(one, against) and _has(other, word) and not _has(one, word) and not _has(other, against))
        for word, against in _OPPOSITES
    )


def is_negated(text: str) -> bool:
    """Whether a sentence says that something is not so, or not to be done."""
    return _NEGATED.search(text) is not None


def _has(text: str, word: str) -> bool:
    if not _CHINESE.match(word):
        return re.search(rf"\b{word}(?:s|d|ed)?\b", text) is not None
    at = text.find(word)
    # 不支持 has 支持 in it, and says the opposite.
    return at >= 0 and (word.startswith("不") or text[at - 1 : at] != "不")
