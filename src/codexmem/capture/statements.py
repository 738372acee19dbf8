"""Keeps what a person decides, demands and prefers: found in a prompt by its cues, without a model.

Said again, it confirms the statement that is there. A later one that says what it replaces supersedes the earlier, and
so does one that differs only in its numbers. Whether two rules contradict each other otherwise, words alone cannot
tell, so both stand.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model import redaction
from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State, Status
from codexmem.kernel.model.query import Filter, PageRequest
from codexmem.kernel.model.sentences import sentences
from codexmem.kernel.model.session import Session
from codexmem.kernel.model.statement import MAX_SENTENCE, STANDING, SUPERSEDES, TYPE, LastingKind
from codexmem.kernel.search import tokens
from codexmem.kernel.search.evidence import rarity, telling
from codexmem.kernel.services.memories import Memories

_READ = 4_000  # characters of a prompt; what follows is mostly pasted
_MOST = 3  # statements of a prompt
_COMPARED = 200  # newest statements of the project, with which a new one is compared
_SHORTEST, _CHINESE = 15, 6  # characters
_SAME = 0.6  # of the words of the longer of two that say the same, that the shorter has; it has no others
_SLOT = 0.7  # of the words of either, where only numbers differ
_REPLACED = 0.5  # of the information of what is replaced, that the earlier one must have
_SHARED = 0.2  # of the information of the earlier one
_SHARED_UNNAMED = 0.35  # likewise, where it is not said what is replaced
_SHARED_IMPLIED = 0.3  # likewise, where nothing else makes the sentence a statement

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# Questions, conditions, headings and pieces of documents.
_OTHER = re.compile(
    r"(?i)^(?:if|should|shall|did|do|does|can|could|would|why|what|how|when|which|who)\b|^如果|[?\uff1f:\uff1a]$|"
    r"\*\*|^[#|>]"
)
_CUES = (
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
_REPLACES = re.compile(
    r"(?i)\b(?:instead of|rather than|no longer(?: use| run| need)?|replac(?:e|es|ed|ing)|"
    r"(?:switch|mov|migrat|chang)\w* (?:away )?from)\s+(?P<old>[^,.;:]{2,60})|"
    r"不再(?:使用|采用|用)?\s*(?P<old_zh>[^\uff0c\u3002\uff1b\uff1a\u3001,;]{2,30})"
)
_REPLACES_ZH = re.compile("改用|改成|改为|改為|不再|替换|替換|换成|換成|更新为")
_AMENDS = re.compile(r"(?i)\b(?:amend\w*|supersed\w*|no longer|instead|switch\w* to|chang\w+ to|replac\w+)\b")
_NOT = re.compile(
    r"(?i)\b(?:never|not|no longer|(?:do|does|should|must|wo|ca)n't|stop)\b|"
    r"不要|不再|禁止|不得|永远不|不用|(?<![级特类区分个])别(?!的|人)"
)
_NUMBER = re.compile(
    r"(?i)(?<![\w.])\d[\d.,:%]*\w{0,3}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice)\b|"
    r"[一二两三四五六七八九十百]+(?=[次个天周秒分小年月号点遍])"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence; without a kind if only what it amends can make it a statement."""

    text: str
    kind: LastingKind | None


def statements(prompt: str) -> list[Statement]:
    """What a person says in a prompt that may hold beyond it."""
    return list(_said(_FENCED.sub("\n", prompt[:_READ])))


def _said(prompt: str) -> Iterator[Statement]:
    for sentence in sentences(prompt, MAX_SENTENCE):
        if len(sentence) < (_SHORTEST if sentence.isascii() else _CHINESE) or _OTHER.search(sentence):
            continue
        kind = next((kind for kind, cue in _CUES if cue.search(sentence)), None)
        if kind is not None or _REPLACES.search(sentence) or _REPLACES_ZH.search(sentence):
            yield Statement(sentence, kind)


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
    named = [_words(match["old"] or match["old_zh"]) for match in _REPLACES.finditer(new)]
    if named:
        replaced = max(_share(each, theirs) for each in named)
        return shared if replaced >= _REPLACED and shared >= _SHARED else 0.0
    return shared if shared >= _SHARED_UNNAMED else 0.0


class Statements:
    """Remembers the statements of the acting tenant. A prompt costs one page of the newest ones, whatever there are."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def keep(self, session: Session, turn: int, prompt: str, events: Sequence[int], at_ms: int, by: WriteContext,
             origin: Origin = Origin.HUMAN) -> int:  # fmt: skip
        """Remember what is new, confirm what is known, and deprecate what is superseded; how many were written.

        What was said before something that is known neither replaces it nor, if that replaces it, is remembered.
        """
        found = statements(prompt)
        if not found:
            return 0
        wanted = Filter(frozenset({Kind.OBSERVATION}), project=session.project, facets=STANDING)
        standing = list(self._memories.page(wanted, PageRequest(limit=_COMPARED)).items)
        written = 0
        for each in found:
            if written == _MOST:
                break
            text = redaction.redact(each.text)
            known = next((old for old in standing if same(text, old.state.content)), None)
            if known is not None:
                # A count is no version: what is taken back must not have counted for others.
                if by.delta is None or known.source == by.source:
                    self._memories.count([known.seq], valid=1)
                continue
            if any(superseded(later.state.content, text) for later in standing if later.created_ms > at_ms):
                continue
            before = [earlier for earlier in standing if earlier.created_ms <= at_ms]
            old = _replaced(text, before, least=_SHARED_IMPLIED if each.kind is None else 0.0)
            if each.kind is None and old is None:
                continue
            kind = each.kind or LastingKind.DECISION
            new = self._remember(session, turn, text, kind, old, events, at_ms, by, origin)
            standing = [new, *(every for every in standing if old is None or every.seq != old.seq)]
            written += 1
        return written

    def _remember(self, session: Session, turn: int, text: str, kind: LastingKind, old: Memory | None,
                  events: Sequence[int], at_ms: int, by: WriteContext, origin: Origin) -> Memory:  # fmt: skip
        attrs = ObservationAttrs(concepts=(kind.value,), prompt_number=turn or None, events=tuple(events))
        links = ((SUPERSEDES, old.seq),) if old is not None else ()
        state = State(text, attrs, project=session.project, type=TYPE, title=text, links=links)
        new = self._memories.remember(
            MemoryDraft(Kind.OBSERVATION, state, origin, session=session.key, created_ms=at_ms), by
        )
        if old is not None:
            self._memories.write(old, replace(old.state, status=Status.DEPRECATED), Op.UPDATE, by)
        return new


def _replaced(text: str, standing: Sequence[Memory], least: float) -> Memory | None:
    """The one of these that this statement supersedes."""
    certain = {old.seq: superseded(text, old.state.content) for old in standing}
    best = max(standing, key=lambda old: certain[old.seq], default=None)
    return best if best is not None and certain[best.seq] > least else None


def _alike(new: str, old: str) -> bool:
    """Whether two statements are about the same, whatever they say of it."""
    short, long = sorted((_words(new), _words(old)), key=len)
    return bool(short) and short <= long and len(short) >= _SAME * len(long)


def _manner(text: str) -> tuple[bool, bool]:
    return _amends(text), bool(_NOT.search(text))


def _amends(text: str) -> bool:
    return any(cue.search(text) for cue in (_AMENDS, _REPLACES, _REPLACES_ZH))


def _words(text: str) -> frozenset[str]:
    """What it is about: without the words that only make it a statement."""
    for cue in (*(cue for _, cue in _CUES), _REPLACES_ZH):
        text = cue.sub(" ", text)
    return frozenset(telling(tokens.terms(text)))


def _numbers(text: str) -> frozenset[str]:
    return frozenset(match.rstrip(".,:") for match in _NUMBER.findall(text))


def _share(words: frozenset[str], within: frozenset[str]) -> float:
    """How much of what these words tell stands there."""
    told = sum(map(rarity, words))
    return sum(map(rarity, words & within)) / told if told else 0.0
