"""How two statements stand to each other, by their words alone: the same, one in place of the other, or both standing.

Pure, linear in the length of the two, English and Chinese. What makes a sentence a statement at all is told by `CUES`.
"""

import re

from codexmem.kernel.model.statement import LastingKind
from codexmem.kernel.search import tokens
from codexmem.kernel.search.evidence import rarity, telling

_SAME = 0.6  # of the words of the longer of two that say the same, that the shorter has; it has no others
_SLOT = 0.7  # of the words of either, where only numbers differ
_REPLACED = 0.5  # of the information of what is replaced, that the earlier one must have
_SHARED = 0.2  # of the information of the earlier one
_REPLACED_WHOLE, _SHARED_MOST = 0.75, 0.5  # the same two, of any two sentences
_SHARED_UNNAMED = 0.35  # likewise, where it is not said what is replaced

CUES = (
    (LastingKind.PREFERENCE, re.compile(
        r"(?i)\b(?:(?:i|we)(?:'d| would)? (?:strongly |really |much )?prefer|(?:my|our) preference)\b|"
        r"偏好|更喜欢|更喜歡|(?:我|我们|我們)喜欢")),
    (LastingKind.DECISION, re.compile(
        r"(?i)\b(?:we(?:'ve| have)? (?:just |finally |now )?(?:decided|agreed|settled|chose|went with)|"
        r"(?:it(?:'s| is| was)|that(?:'s| is)) (?:decided|settled|agreed)|(?:final )?decision\s?(?:is|:)|"
        r"we (?:no longer|stay with|stick with|are switching|are moving|switched|moved))\b|"
        r"\b(?:final )?decision:|我们决定|我們決定|^决定|^決定|决定(?:采用|使用|改用|不)|"
        r"(?:就这么|已经)定了|敲定|我们改用|不再使用")),
    (LastingKind.RULE, re.compile(
        r"(?i)\b(?:from now on|going forward|no exceptions?|remember (?:that|to)|"
        r"(?:the|our|a) (?:rule|policy|convention) is|in this (?:repo|project|codebase),? (?:we )?(?:always|never))\b|"
        r"^(?:rule|remember|convention):|^(?:please )?(?:always|never(?! mind))\b|\bwe (?:always|never)\b|"
        r"(?:^|[\s,;\uff0c\uff1b])(?:以后|以後|今后|今後|请?记住(?!密码|登录|我)|請?記住)|一律|约定|約定|规定|規定|永远不要|"
        r"始终(?:使用|用|要|保持)")),
)  # fmt: skip
REPLACES = re.compile(
    r"(?i)\b(?:instead of|rather than|no longer(?: use| run| need)?|replac(?:e|es|ed|ing)|"
    r"(?:switch|mov|migrat|chang)\w* (?:away )?from)\s+(?P<old>[^,.;:]{2,60})|"
    r"不再(?:使用|采用|用)?\s*(?P<old_zh>[^\uff0c\u3002\uff1b\uff1a\u3001,;]{2,30})"
)
REPLACES_ZH = re.compile("改用|改成|改为|改為|不再|替换|替換|换成|換成|更新为")
_AMENDS = re.compile(r"(?i)\b(?:amend\w*|supersed\w*|no longer|instead|switch\w* to|chang\w+ to|replac\w+)\b")
_NOT = re.compile(
    r"(?i)\b(?:never|not|no longer|(?:do|does|should|must|wo|ca)n't|stop)\b|"
    r"不要|不再|禁止|不得|永远不|不用|(?<![级特类区分个])别(?!的|人)"
)
_NUMBER = re.compile(
    r"(?i)(?<![\w.])\d[\d.,:%]*\w{0,3}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice)\b|"
    r"(?<![一二两三四五六七八九十百])[一二两三四五六七八九十百]++(?=[次个天周秒分小年月号点遍])"
)


def same(new: str, old: str) -> bool:
    """Whether two statements say the same: one may leave out words, but has none of its own."""
    return _alike(new, old) and _numbers(new) == _numbers(old) and _manner(new) == _manner(old)


def superseded(new: str, old: str) -> float:
    """How certainly the new statement replaces the old one; 0 if both stand."""
    if same(new, old):
        return 0.0
    ours, theirs = _words(new), _words(old)
    shared = _share(theirs, ours)
    if _alike(new, old) and bool(_NOT.search(new)) != bool(_NOT.search(old)):
        return 1.0 + shared
    if _NUMBER.search(new) and _NUMBER.search(old) and _numbers(new) != _numbers(old):
        plain, before = (_words(_NUMBER.sub(" ", text)) for text in (new, old))
        common = len(plain & before)
        if common >= _SLOT * max(len(plain), len(before)):
            return 1.0 + shared
    if not _amends(new):
        return 0.0
    named = [_words(match["old"] or match["old_zh"]) for match in REPLACES.finditer(new)]
    if named:
        replaced = max(_share(each, theirs) for each in named)
        return shared if replaced >= _REPLACED and shared >= _SHARED else 0.0
    return shared if shared >= _SHARED_UNNAMED else 0.0


def replaced_share(new: str, old: str) -> float:
    """How much of an old sentence one takes up that names what it replaces; 0 unless it replaces what the old one says.

    Stricter than `superseded`, which knows that both are statements of a person.
    """
    named = [_words(match["old"] or match["old_zh"]) for match in REPLACES.finditer(new)]
    if not any(map(_tells, named)) or _amends(old):
        return 0.0
    ours, theirs = _words(new), _words(old)
    shared = _share(theirs, ours)
    replaced = max(_share(each, theirs) for each in named if _tells(each))
    return shared if replaced >= _REPLACED_WHOLE and shared >= _SHARED_MOST else 0.0


def _tells(words: frozenset[str]) -> bool:
    """Whether these name a thing: a number alone does not."""
    return any(len(word) > 1 and not word[0].isdigit() for word in words)


def _alike(new: str, old: str) -> bool:
    """Whether two statements are about the same, whatever they say of it."""
    short, long = sorted((_words(new), _words(old)), key=len)
    return bool(short) and short <= long and len(short) >= _SAME * len(long)


def _manner(text: str) -> tuple[bool, bool]:
    return _amends(text), bool(_NOT.search(text))


def _amends(text: str) -> bool:
    return any(cue.search(text) for cue in (_AMENDS, REPLACES, REPLACES_ZH))


def _words(text: str) -> frozenset[str]:
    """What it is about: without the words that only make it a statement."""
    for cue in (*(cue for _, cue in CUES), REPLACES_ZH):
        text = cue.sub(" ", text)
    return frozenset(telling(tokens.terms(text)))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(match.rstrip(".,:") for match in _NUMBER.findall(text))


def _share(words: frozenset[str], within: frozenset[str]) -> float:
    """How much of what these words tell stands there."""
    told = sum(map(rarity, words))
    return sum(map(rarity, words & within)) / told if told else 0.0
