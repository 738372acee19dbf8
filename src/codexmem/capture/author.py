"""The author: a model that says what finished turns mean, and whose every claim is held against what it cites.

An answer that does not fit is sent back once with what is wrong. Whenever the model is away, too dear or unusable there
are no operations, and what rules wrote stands: they have said what happened before anybody is asked.

What a model claims, held against what it cites: a file, command, number, name or quote must stand there.

A sentence is proven if everything in it that can be checked stands in the cited texts, and enough of its other words
do. Nothing here knows whether a proven sentence is true: it says what the evidence bears, not more.

A decision, a preference or a rule rests on a person's words besides: each of its sentences is about what the person
said. What rests on no words at all, but on tools and files alone, is a discovery that waits for a person's approval,
because others may have written it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codexmem.kernel.llm import evidence, structured
from codexmem.kernel.llm.asking import Asking, ModelTrial
from codexmem.kernel.llm.material import AuthorAnswer, FinishedTurn, KnownMemory, ModelOutcome, Operation, OperationKind
from codexmem.kernel.llm.model import Check, Model
from codexmem.kernel.llm.prompts import review
from codexmem.kernel.llm.prompts import turns as question
from codexmem.kernel.llm.prompts.turns import TurnQuestion
from codexmem.kernel.llm.structured import SaidChange, SaidMemory
from codexmem.kernel.model import ids
from codexmem.kernel.model.sentences import sentences
from codexmem.kernel.model.statement import LastingKind
from codexmem.kernel.search import tokens

_SENTENCE = 600  # characters
_WORDS = 0.34  # of a sentence's words, that must stand in the evidence where names and numbers vouch for the rest
_WORDS_ALONE = 0.5  # likewise, where nothing else can be checked
_WORDS_UNSPACED = 0.3  # of pairs of characters, of which each word that is said otherwise loses two
_SHORTEST_QUOTE = 3  # characters
_MOST_REFUSED = 10  # claims of one memory that are told

_CODE = re.compile(r"(?<!`)`++([^`\n]{1,300})`+")
_QUOTED = re.compile(
    '"([^"\n]{3,300})"|\u201c([^\u201d\n]{2,300})\u201d|\u300c([^\u300d\n]{2,300})\u300d|'
    r"(?<!\w)'([^'\n]{3,300})'(?!\w)"
)
_URL = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{1,12}://[^\s\"'`<>()\u3000-\u303f\uff00-\uffef]+")
_PATH = re.compile(
    r"(?<![\w/])(?:~|\.{1,2}|[\w@+-][\w@.+-]{0,254})?(?:/[\w@+.-]{0,254}\w)+/?|"
    r"(?<![\w/.])[\w@+-]{1,255}(?:\.[\w-]{1,255}){0,8}\.[A-Za-z]\w{0,7}\b(?!\()",
    re.ASCII,
)
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*", re.ASCII)
_IDENTIFIER = re.compile(
    r"(?<!\w)(?:[A-Za-z]\w*_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z][A-Z0-9]{2,}|[A-Za-z]+\d\w*|\w+(?:::\w+)+)",
    re.ASCII,
)
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)\u2014-] )[A-Z][a-z]{2,}\b")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9+#.-]*[A-Za-z0-9+#]")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_QUOTE_MARKS = re.compile("[`'\"*\u201c\u201d\u300c\u300d]")
# Words in capitals that name nothing of a project.
_GENERAL_TEXT = """
api apis url urls uri sql json yaml toml xml html css http https rest rpc cli gui tui ui ux ci cd pr prs os cpu gpu ram
sdk ide utf ascii csv pdf dns tcp udp ssh tls ssl jwt id ids ok todo readme monday tuesday wednesday thursday friday
saturday sunday january february march april june july august september october november december english chinese
"""
_GENERAL = frozenset(_GENERAL_TEXT.split())
# Words that turn the meaning of a sentence. One of the same group must stand in a cited sentence about the same.
_TURNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|avoid\w*|forb[ia]d\w*|prohibit\w*|refus\w+)\b|"
        r"\b(?:is|are|was|were|do|does|did|has|have|had|ca|could|wo|would|should|must|need)n['\u2019]?t\b|"
        r"不(?![过過同仅僅但论論管断斷])|(?<![特分级級识識类類个個区區差性告])[别別](?!名|的|人)|[没沒勿莫]|未(?!来|來)|无(?!论)|無(?!論)|禁止|避免|严禁|嚴禁",
        r"\b(?:skip\w*|ignor\w+|bypass\w*|disabl\w+|omit\w*|off|false)\b|跳过|跳過|忽略|绕过|繞過|禁用|停用|关闭|關閉|省略",
        r"\b(?:unless|except)\b|除非|除了",
    )
)
_OF_PEOPLE = frozenset({LastingKind.DECISION, LastingKind.PREFERENCE, LastingKind.RULE})
_WORD_NUMBERS = {
    "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
    "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
    "sixty": "60", "hundred": "100", "thousand": "1000", "million": "1000000",
}  # fmt: skip
_NUMBER_WORD = re.compile(rf"(?i)\b(?:{'|'.join(_WORD_NUMBERS)})\b")

Claim = tuple[str, str]  # number, name or text, and how it is written


@dataclass(frozen=True, slots=True)
class ProvenText:
    """What is left of a title and a text, and the sentences that the evidence does not bear."""

    title: str
    text: str
    refused: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return not self.title


class CitedEvidence:
    """Texts that are cited. Cost grows with their length, once; a claim then costs its own length."""

    def __init__(self, texts: Iterable[str]) -> None:
        joined = "\n".join(texts)
        self._text = _flat(joined)
        self._plain = _QUOTE_MARKS.sub("", self._text)
        self._numbers = {_number(found) for found in _NUMBER.findall(unicodedata.normalize("NFKC", joined))}
        self._numbers |= {_WORD_NUMBERS[found.lower()] for found in _NUMBER_WORD.findall(joined)}
        self._latin = {found.casefold() for found in _LATIN.findall(joined)}
        self._words = frozenset(tokens.words(joined))
        self._turned = [
            (each, frozenset(tokens.words(each)))
            for each in sentences(joined, _SENTENCE)
            if any(turn.search(each) for turn in _TURNS)
        ]

    def proves(self, sentence: str) -> bool:
        """Whether these texts bear the sentence."""
        if _stands(_flat(sentence), self._text):
            return True
        claims = list(_claims(sentence))
        if any(not self._has(claim) for claim in claims) or not self._turns(sentence):
            return False
        words = set(tokens.terms(sentence))
        if not words:
            return bool(claims)
        return _shared(words, self._words) >= (_least(sentence) if claims else _WORDS_ALONE)

    def is_about(self, sentence: str) -> bool:
        """Whether these texts speak of what the sentence says; names and numbers in it may come from elsewhere.

        An address, a file, a command or a quote may not, nor a word that turns the meaning.
        """
        if any(kind == "text" and not self._has((kind, text)) for kind, text in _claims(sentence)):
            return False
        words = set(tokens.terms(sentence))
        return bool(words) and _shared(words, self._words) >= _least(sentence) and self._turns(sentence)

    def _turns(self, sentence: str) -> bool:
        words = set(tokens.terms(sentence))
        return all(
            any(turn.search(said) and _shared(words, near) >= _least(sentence) for said, near in self._turned)
            for turn in _TURNS
            if turn.search(sentence)
        )

    def _has(self, claim: Claim) -> bool:
        kind, text = claim
        if kind == "number":
            return _number(text) in self._numbers
        if kind == "name" and text.casefold() in self._latin:
            return True
        flat = _flat(text)
        return _stands(flat, self._text) or _stands(_QUOTE_MARKS.sub("", flat), self._plain)


def _shared(words: set[str], others: frozenset[str]) -> float:
    """Part of these words that stands among the others."""
    return len(words & others) / max(len(words), 1)


def _least(sentence: str) -> float:
    return _WORDS_UNSPACED if _UNSPACED.search(sentence) else _WORDS


def proven(title: str, text: str, evidence: CitedEvidence, person: CitedEvidence | None = None) -> ProvenText:
    """What of a memory the evidence bears and, if given, is about a person's words.

    A title that is not is replaced by the first sentence that is.
    """

    def holds(sentence: str) -> bool:
        return evidence.proves(sentence) and (person is None or person.is_about(sentence))

    said = list(sentences(text, _SENTENCE))
    kept = [each for each in said if holds(each)]
    refused = [each for each in said if each not in kept]
    if title and not holds(title):
        refused.insert(0, title)
        title = ""
    title = title or (kept[0] if kept else "")
    return ProvenText(title, " ".join(kept) or title, tuple(refused[:_MOST_REFUSED]))


def _claims(sentence: str) -> Iterator[Claim]:
    """Everything in a sentence that can be checked, with what it is; each stretch of it once."""
    rest = unicodedata.normalize("NFKC", sentence)
    for kind, pattern in (("text", _CODE), ("text", _QUOTED), ("text", _URL), ("text", _PATH), ("text", _FLAG),
                          ("name", _IDENTIFIER)):  # fmt: skip
        for match in pattern.finditer(rest):
            said = next((group for group in match.groups() if group), match.group())
            if pattern is _PATH and _is_prose(said):
                continue
            if said.casefold() not in _GENERAL and len(said.strip()) >= (2 if pattern is _CODE else _SHORTEST_QUOTE):
                yield kind, said.strip().rstrip(".,;:")
        if pattern is _PATH:
            rest = pattern.sub(lambda match: match.group() if _is_prose(match.group()) else " ", rest)
        else:
            rest = pattern.sub(" ", rest)
    yield from (("number", found) for found in _NUMBER.findall(rest))
    yield from (("number", _WORD_NUMBERS[found.lower()]) for found in _NUMBER_WORD.findall(rest))
    names = _LATIN if _UNSPACED.search(rest) else _NAME
    yield from (("name", found) for found in names.findall(rest) if found.casefold() not in _GENERAL)


def _is_prose(text: str) -> bool:
    """Whether what looks like a path joins two words: and/or, read/write; or is an abbreviation: e.g, i.e."""
    parts = text.strip("/").split("/")
    if text.casefold() in {"e.g", "i.e", "etc", "a.m", "p.m"}:
        return True
    return "/" in text and not text.startswith(("/", "~", ".")) and len(parts) == 2 and all(map(str.isalpha, parts))


def _stands(part: str, whole: str) -> bool:
    """Whether it stands there by itself, and not as a piece of a longer word."""
    at = whole.find(part)
    while at >= 0:
        before, after = whole[at - 1 : at], whole[at + len(part) : at + len(part) + 1]
        if not (_joins(before, part[:1]) or _joins(part[-1:], after)):
            return True
        at = whole.find(part, at + 1)
    return False


def _joins(one: str, other: str) -> bool:
    return all(each.isascii() and (each.isalnum() or each == "_") for each in (one, other) if each) and bool(
        one and other
    )


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _number(text: str) -> str:
    """The same number however it is written: 1,000 is 1000, 2.50 is 2.5."""
    plain = text.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) else text
    if re.fullmatch(r"\d+\.\d+", plain):
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


_REPEATED = 2  # memories that must show a rule


class TurnAuthor:
    """A model, if there is one. Every call may come from any thread."""

    def __init__(self, model: Model | None = None, *, may_spend: Callable[[int], bool] = lambda _: True,
                 room: int = question.ROOM, now_s: Callable[[], float] = ids.monotonic) -> None:  # fmt: skip
        self._model = model
        self._asking = Asking(may_spend, now_s)
        self.room = room

    @property
    def model(self) -> str | None:
        """The model's name; None where nobody is to be asked."""
        return None if self._model is None else self._model.name

    def ask(
        self, project: str, turns: Sequence[FinishedTurn], known: Sequence[KnownMemory], check: Check
    ) -> AuthorAnswer:
        """What the model makes of these turns, as far as the evidence bears it."""
        if self._model is None or not turns:
            return AuthorAnswer()
        asked = question.ask(project, turns, known, room=self.room)
        trial = self._asking.ask(self._model, asked.prompt, structured.memories, check)
        return _answer(self._model.name, trial, [judge(said, asked) for said in trial.value or ()])

    def review(self, project: str, known: Sequence[KnownMemory], check: Check) -> AuthorAnswer:
        """What the model wants to be done to what a project knows."""
        if self._model is None or not known:
            return AuthorAnswer()
        trial = self._asking.ask(self._model, review.ask(project, known), structured.review, check)
        return _answer(self._model.name, trial, [judge_change(said, known) for said in trial.value or ()])


def _answer(model: str, trial: "ModelTrial[Any]", judged: "list[Judgement]") -> AuthorAnswer:
    answered = trial.answered and trial.value is not None
    end = ModelOutcome.SUCCESS if answered else ModelOutcome.FALLBACK_USED
    return AuthorAnswer(
        operations=tuple(each.operation for each in judged if each.operation is not None),
        outcomes=(*trial.outcomes, end),
        kept=sum(each.kept for each in judged),
        refused=tuple(text for each in judged for text in each.refused),
        questions=1,
        prompt_tokens=trial.prompt_tokens,
        completion_tokens=trial.completion_tokens,
        model_ms=trial.model_ms,
        error_class=trial.error_class,
        error=trial.error,
        wait_s=trial.wait_s,
        model=model,
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is left of something that a model wants to be remembered."""

    operation: Operation | None
    kept: int = 0  # claims
    refused: tuple[str, ...] = ()


def judge(said: SaidMemory, asked: TurnQuestion) -> Judgement:
    """The operation, without what its sources do not bear; none if nothing is left of it."""
    cited = [asked.sources[number - 1] for number in dict.fromkeys(said.rests_on) if 0 < number <= len(asked.sources)]
    known = next((each for each in asked.known if each.label.casefold() == said.target.strip().casefold()), None)
    told = tuple(filter(None, (said.title, said.text)))
    op = _operation(said.op, known)
    if not cited:
        return Judgement(None, refused=told or (f"{op.value} {said.target}",))
    captured = tuple(source.event for source in cited if source.event is not None)
    shown = tuple(source.seq for source in cited if source.seq is not None)
    kind = kind_of(said.kind)
    if op is OperationKind.CONFIRM:
        assert known is not None
        return Judgement(Operation(op, kind, target=known.seq, events=shown), kept=1)
    texts = [source.text for source in cited]
    if op is OperationKind.UPDATE and known is not None:
        texts.append(known.text)
    cites = CitedEvidence(texts)
    said_so = proven(said.title, said.text, cites, CitedEvidence(each.text for each in cited if each.by == "person"))
    left = said_so if kind in _OF_PEOPLE and not said_so.is_empty else proven(said.title, said.text, cites)
    if left.is_empty:
        return Judgement(None, refused=left.refused)
    waits = said_so.is_empty and (kind in _OF_PEOPLE or all(each.by == "event" for each in cited))
    if waits:
        # It changes nothing that stands before a person has agreed.
        op, kind, known = OperationKind.ADD, LastingKind.DISCOVERY, None
    files = evidence.files(captured)
    return Judgement(
        Operation(
            op, kind, target=known.seq if known is not None else None, title=left.title, text=left.text,
            events=shown, files_read=files.read, files_modified=files.modified,
            by_person=not said_so.is_empty, proposed=waits, reason=said.reason, unproven=left.refused,
        ),
        kept=len(told) - min(len(told), len(left.refused)), refused=left.refused,
    )  # fmt: skip


def judge_change(said: SaidChange, known: Sequence[KnownMemory]) -> Judgement:
    """What a model wants to be done to known memories, as far as they bear it."""
    by_label = {each.label.casefold(): each for each in known}
    keep = by_label.get(said.keep.strip().casefold())
    drop = _meant(said.drop, by_label, but=keep)
    told = tuple(filter(None, (said.title, said.text)))
    if said.op.strip().lower() == "rule":
        shown = _meant(said.rests_on, by_label)
        left = proven(said.title, said.text, CitedEvidence(each.text for each in shown))
        if len(shown) < _REPEATED or left.is_empty:
            return Judgement(None, refused=left.refused or told)
        by_person = any(each.by_person for each in shown)
        added = Operation(
            OperationKind.ADD, LastingKind.RULE if by_person else LastingKind.DISCOVERY, title=left.title,
            text=left.text, proposed=not by_person, reason=said.reason, unproven=left.refused,
        )  # fmt: skip
        return Judgement(added, kept=len(told), refused=left.refused)
    if keep is None or not drop:
        return Judgement(None, refused=told or (f"{said.op} {said.keep}",))
    op = OperationKind.SUPERSEDE if said.op.strip().lower() == "supersede" else OperationKind.MERGE
    left = proven(said.title, said.text, CitedEvidence([keep.text, *(each.text for each in drop)]))
    text = left.text if op is OperationKind.MERGE else ""
    return Judgement(
        Operation(
            op, kind_of(keep.kind), target=keep.seq, title=left.title if text else "", text=text, reason=said.reason,
            dropped=tuple(each.seq for each in drop), unproven=left.refused,
        ),
        kept=1, refused=left.refused,
    )  # fmt: skip


def _meant(labels: Sequence[str], known: Mapping[str, KnownMemory], but: KnownMemory | None = None
           ) -> list[KnownMemory]:  # fmt: skip
    found = (known.get(label.strip().casefold()) for label in dict.fromkeys(labels))
    return [each for each in found if each is not None and each != but]


def _operation(word: str, known: KnownMemory | None) -> OperationKind:
    """What is meant: whatever speaks of a memory that was not shown is something new."""
    try:
        op = OperationKind(word.strip().lower() or "add")
    except ValueError:
        op = OperationKind.ADD
    return op if known is not None else OperationKind.ADD


def kind_of(word: str) -> LastingKind:
    """The kind that a model names, by its own word if that is one of ours."""
    plain = word.strip().lower().replace("_", "-").replace(" ", "-")
    try:
        return LastingKind(plain)
    except ValueError:
        return LastingKind.DISCOVERY
