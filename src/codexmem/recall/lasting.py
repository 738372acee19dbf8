"""What holds in a project beyond the session in which it was said: rules, decisions, ways to make something work,
causes, open ends. No model reads the turns; a sentence is known by its cues, counts more if a person said it, if it is
specific, and if several sessions said it, and less if it only reports what was done.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codexmem.kernel.model import quoting, text_size
from codexmem.kernel.model.attrs import SummaryAttrs
from codexmem.kernel.model.instructions import looks_like_instruction
from codexmem.kernel.model.memory import Memory, Origin, Status
from codexmem.kernel.model.sentences import sentences
from codexmem.kernel.search import tokens
from codexmem.recall.context_lines import NotTold

TURNS = 120  # that are read
_READ = 6_000  # characters of what a turn says
_SHORTEST, _LONGEST = 20, 220  # characters of a sentence
_CHINESE = 8
_ENOUGH = 2.0
_PERSON = 1.5
_SPECIFIC = 0.5  # for a number, and for a name of code
_PASSING = 1.5  # that a mere report loses, and what is said of the moment
_RULE = 2.0  # the weight of a cue of rules and decisions
_AGAIN = 0.5  # for each further session that said it
_STATEMENT = 4.0  # a person said it and meant it to hold
_AUTHORED = 3.0  # an author found it
_OFTEN = 6  # times that it was said again, which count
_HALVES = 60.0  # sessions after which it counts half as much
_TELLING = 4  # words
_SAME = 0.6  # of the words of the shorter of two sentences that say the same

_CUES = tuple(
    (weight, re.compile(rf"(?i){english}|{chinese}"))
    for weight, english, chinese in (
        (2.0, r"\b(?:always|never(?! \w+ed\b)|must(?! have)|from now on|going forward|no exceptions?|may only|"
              r"(?:rule|policy|convention)(?: is|:)|prefer(?:s|red)?|not allowed|forbidden|insist\w*|"
              r"remember (?:that|to))\b|(?:^|[.;,:!(-] ?|please )(?:do not|don't)\b",
         "必须|必須|不要|禁止|统一|統一|一律|以后|以後|约定|約定|规定|規定|记住|記住|不得|务必|務必|不能直接"),
        (2.0, r"\b(?:decided|decision(?: (?:is|was|to|that)|:)|agreed|settled|we (?:chose|went with|keep|stay with)|"
              r"switched to|moved from|replac\w+ .{2,40} (?:with|by))\b",
         "决定|決定|定了|敲定|采用|採用|改用|换成|換成|选用|選用|不再"),
        (1.2, r"\b(?:instead of|rather than)\b", "而不是"),
        (1.5, r"\b(?:requires?|needs? to|has to|only works?|works only|only (?:on|in|via|from|after|when|if)|"
              r"without (?:it|that|which)|before (?:you|the|any|deploy\w*|running|releas\w*|merg\w*)|"
              r"first .{2,80} then|runs? with|in that order|listens? on|port \d+)\b",
         "需要|先.{2,40}再|才能|才会|才會|只在|只能|只有|仅在|僅在|仅限|僅限|之前要|之前必|端口|顺序|順序"),
        (1.5, r"\b(?:root cause|caused by|turned out|reason (?:is|was)|the culprit)\b", "原因|根因|元凶|罪魁"),
        (1.2, r"\b(?:because|due to)\b", "因为|因為|导致|導致|由于|由於"),
        (1.2, r"\b(?:still (?:open|missing|to do|unclear)|not yet|to-?do|open question|left open|follow-?up)\b",
         "未完成|待办|待辦|尚未|还没|還沒|遗留|遺留|有待"),
    )
)  # fmt: skip
_REPORT = re.compile(
    r"(?i)^(?:[-*•\d.)\s]*)(?:i(?:'ve| have)? |we )?(?:added|updated|fixed|created|refactored|renamed|moved|removed|"
    r"changed|ran|implemented|verified|checked|wrote|cleaned|bumped|all (?:\d+ )?tests)\b|"
    r"^(?:已|添加|更新|修复|修復|创建|創建|重构|重構|完成|新增|删除|刪除)"
)
_REQUEST = re.compile(  # what is to be done now, and then is done
    r"(?i)^(?:(?:ok(?:ay)?|now|also|so|then|and|great|perfect|cool|yes|thanks|@\S+)[,.!]? )*"
    r"(?:please(?! (?:do not|don't|never|always|remember))|can you|could you|let'?s|take a look|look (?:at|into)|"
    r"walk me|help me|show me|tell me|i want you to|i(?:'d| would) like (?:you )?to|go ahead)\b|\blet me know\b|"
    r"^(?:请|請|帮我|幫我|麻烦|麻煩|看一下|检查|檢查|继续|繼續)(?!不要|务必|務必|始终|始終|勿|记住|記住)"
)
_MOMENT = re.compile(  # what is not to be done now may be done later
    r"(?i)\b(?:do not|don't|no need)\b.{1,60}\b(?:yet|now|at the moment|this time)\b|"
    r"暂时不|暫時不|先别|先別|这次不|這次不"
)
_BULLET = re.compile(r"^(?:[-*\u2022]\s+)+")
_PIECE = re.compile(
    r"```|##|\u2705|^[#|>]|\u2026$|^(?:phase|step|option|plan|方案|步骤|步驟|阶段|階段) ?\w{0,3}[:\uff1a]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:%]*\w{0,3}")
_NAME = re.compile(
    r"`[^`\n]{2,60}`|\b\w+[_/.:-]\w[\w./:-]*|\b[a-z]+[A-Z]\w+|\b[A-Z][A-Z0-9_]{3,}\b|"
    r"(?<=[\u3400-\u9fff])\s?[A-Za-z][A-Za-z0-9]{2,}(?![A-Za-z0-9])"  # any such word among Chinese ones
)


@dataclass(slots=True)
class LastingFact:
    """A sentence that holds, as it was said last."""

    text: str
    seq: int  # of the memory that says it
    weight: float
    words: frozenset[str]
    origin: Origin = Origin.AGENT  # who said it


def lasting(
    turns: Sequence[Memory], statements: Sequence[Memory], budget: int, told: str = "",
    missed: Callable[[NotTold, int, str], None] = lambda *_: None,
) -> list[LastingFact]:  # fmt: skip
    """The best of what these statements and turns say, newest first, within so many tokens.

    Each is told once, and none that was told or is superseded. `missed` hears of those that are not told.
    Reads the newest 120 turns and the statements that are given, so the cost does not grow with the project.
    """
    facts = _Facts()
    old = {quoting.line(each.state.content) for each in statements if each.state.status is Status.DEPRECATED}
    standing = [each for each in statements if each.state.status is not Status.DEPRECATED]
    for age, statement in enumerate(standing):
        text = quoting.line(statement.state.content)
        weight = _STATEMENT if statement.author is Origin.HUMAN else _AUTHORED
        weight += _AGAIN * min(statement.counters.valid, _OFTEN)
        words = frozenset(tokens.terms(text))
        facts.add(LastingFact(text, statement.seq, weight * 0.5 ** (age / _HALVES), words, statement.author))
    ages: dict[str, int] = {}
    for turn in turns[:TURNS]:
        age = ages.setdefault(turn.session or "", len(ages))
        for text, weight, origin in _said(turn):
            if text in old:
                continue
            words = frozenset(tokens.terms(text))
            facts.add(LastingFact(text, turn.seq, weight * 0.5 ** (age / _HALVES), words, origin))
    chosen: list[LastingFact] = []
    for fact in sorted(facts.all, key=lambda each: -each.weight):
        cost = text_size.tokens(f"- {fact.text}")
        if fact.text in told:
            continue
        if cost > budget:
            missed(NotTold.NO_ROOM, fact.seq, fact.text)
        elif _is_order(fact):
            missed(NotTold.LIKE_AN_INSTRUCTION, fact.seq, fact.text)
        else:
            budget -= cost
            chosen.append(fact)
    return sorted(chosen, key=lambda each: -each.seq)


class _Facts:
    """What was found so far; two that say the same share one of their longest words."""

    def __init__(self) -> None:
        self.all: list[LastingFact] = []
        self._by_word: dict[str, list[LastingFact]] = {}

    def add(self, new: LastingFact) -> None:
        """Add a fact, or let it confirm the later one that says the same."""
        longest = sorted(new.words, key=lambda word: (-len(word), word))[:_TELLING]
        for fact in (fact for word in longest for fact in self._by_word.get(word, ())):
            if len(fact.words & new.words) >= _SAME * min(len(fact.words), len(new.words)):
                fact.weight = max(fact.weight, new.weight) + _AGAIN * (fact.seq != new.seq)
                return
        self.all.append(new)
        for word in longest:
            self._by_word.setdefault(word, []).append(new)


def is_imported(memory: Memory) -> bool:
    """Whether it came out of a file: what a person is said to have said there, anybody may have written."""
    return memory.origin is Origin.IMPORT or (memory.source or "").startswith("import:")


def is_long_enough(text: str) -> bool:
    """Whether it has as many characters as a sentence that says something."""
    return len(text) >= (_SHORTEST if text.isascii() else _CHINESE)


def _is_order(fact: LastingFact) -> bool:
    """Whether it is written like an instruction, and not by a person."""
    return fact.origin is not Origin.HUMAN and looks_like_instruction(fact.text)


def _said(turn: Memory) -> Iterator[tuple[str, float, Origin]]:
    attrs = turn.state.attrs
    if not isinstance(attrs, SummaryAttrs):
        return
    imported = is_imported(turn)
    corrected = Origin.HUMAN if turn.author is Origin.HUMAN else Origin.AGENT
    person, agent = (Origin.IMPORT, Origin.IMPORT) if imported else (Origin.HUMAN, corrected)
    for factor, text, origin in ((_PERSON, attrs.request, person), (1.0, attrs.learned, agent),
                                 (1.0, attrs.next_steps, agent)):  # fmt: skip
        for sentence in sentences(text[:_READ], _LONGEST):
            if (weight := factor * _weight(sentence)) >= _ENOUGH:
                yield _BULLET.sub("", quoting.line(sentence)), weight, origin


def _weight(sentence: str) -> float:
    """How much a sentence looks like something that holds."""
    if not is_long_enough(sentence) or len(sentence) >= _LONGEST or sentence.endswith(("?", "\uff1f", ":", "\uff1a")):
        return 0.0
    if _PIECE.search(sentence):
        return 0.0
    cues = [weight for weight, cue in _CUES if cue.search(sentence)]
    if not cues or (max(cues) < _RULE and _REQUEST.search(sentence)):
        return 0.0
    specific = bool(_NUMBER.search(sentence)) + bool(_NAME.search(sentence))
    passing = bool(_REPORT.match(sentence)) + bool(_MOMENT.search(sentence))
    return max(cues) + 0.3 * (len(cues) - 1) + _SPECIFIC * specific - _PASSING * passing
