"""What earlier sessions said that bears on a request, within a number of tokens.

A short transcript that is clearly the one meant is told whole or, where it does not fit, by its end and by the
sentences in which people decide things: agents sum up at the end. Otherwise passages are chosen from the turns that
were found: each counts by itself, by its turn and by its session. Either is told newest session first, so that what was
decided last is read first, and each with its date and number.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codexmem.kernel.model import quoting, text_size
from codexmem.kernel.model.sentences import AMENDS, sentences
from codexmem.kernel.search import tokens
from codexmem.recall.passages import WordWeights, cut

_PASSAGE = 300  # characters
_SENTENCE = 300
_HEAD = 70  # of a request, over the passages of its turn
_A_TURN = 5  # passages
_TAIL = 0.5  # of a transcript's tokens, that its end gets before sentences are chosen
_WHOLE = 2  # times the tokens: the longest transcript that is told as one
_AHEAD = 0.45  # of the best session's score, from which on the next is told as well
_OUTDATED = 60  # tokens
_RELATED = 0.2  # of the weight of a transcript's words, from which on another is about the same thing
_WORDS = 10_000
_NAMED = 30  # words that a transcript is known by
_FEW = 30  # tokens that are left: nothing more will fit
_CUE = re.compile(
    r"(?i)\b(?:settled|decided|decision|final(?:ly)?|agreed|rule|policy|must|never|always|only|exactly|instead|rather|"
    r"because|so that|reject\w*|drop\w*|keep|except|amend\w*|supersed\w*|going forward|from now on|root cause|fixed|"
    r"solution|turned out)\b|决定|決定|不要|必须|必須|统一|統一|改用|改成|改为|改為|不再|原因|问题|問題|解决|解決|"
    r"修复|修復|因为|因為|最终|最終|所以"
)
_SETTLED = re.compile(r"(?i)\b(?:settled|final|amended|agreed|rule|decided)\b|定了|敲定|最终|最終|决定|決定")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:%]*\w{0,3}")
_NAME = re.compile(r"`[^`\n]{2,60}`|\b\w+[_/.:-]\w[\w./:-]*|\b[a-z]+[A-Z]\w+|\b[A-Z][A-Z0-9_]{3,}\b")


@dataclass(frozen=True, slots=True)
class ExcerptTurn:
    """What was asked and answered."""

    asked: str
    answered: str
    seqs: tuple[int, ...]  # of the memories that say it


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session as it was said."""

    head: str  # which session, and when
    score: float  # how well it fits, to the others of the same search
    at_ms: int
    turns: tuple[ExcerptTurn, ...]

    def text(self) -> str:
        """All that was said."""
        return "\n".join(f"{turn.asked}\n{turn.answered}" for turn in self.turns)


@dataclass(slots=True)
class Excerpt:
    """Lines for the agent, and which memories they tell."""

    lines: list[str] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)


def excerpt(request: str, transcripts: Sequence[Transcript], budget: int, amended: Transcript | None = None) -> Excerpt:
    """What these sessions said about a request, the best fit first; and one that the first amends or is amended by."""
    if not transcripts:
        return Excerpt()
    wanted = set(tokens.terms(request))
    if is_short(transcripts[0], budget):
        best, *others = transcripts[:2]
        near = [each for each in others if each.score >= _AHEAD * best.score and _size(each) <= budget]
        if amended is not None:
            near = [amended]
        return _told_whole(wanted, [best, *near], budget, amended=amended is not None)
    return _passages(wanted, transcripts, budget)


def is_short(transcript: Transcript, budget: int) -> bool:
    """Whether a transcript can be told as one."""
    return _size(transcript) <= _WHOLE * budget


def known_by(transcript: Transcript, others: Sequence[Transcript]) -> list[str]:
    """The words that tell this transcript from others: what another about the same thing will have too."""
    weights = WordWeights(other.text() for other in others)
    said = Counter(tokens.words(transcript.text()))
    distinct = tokens.terms(transcript.text(), _WORDS)
    return sorted(distinct, key=lambda word: (-min(said[word], 3) * weights.of(word), word))[:_NAMED]


def amending(best: Transcript, others: Sequence[Transcript]) -> Transcript | None:
    """Of others, the one about the same thing as the best, if the later of the two says that it changes something."""
    weights = WordWeights(transcript.text() for transcript in (best, *others))
    wanted = set(known_by(best, (best, *others)))
    mass = sum(map(weights.of, wanted)) or 1.0
    near = [(weights.shared(wanted, transcript.text()) / mass, transcript) for transcript in others]
    near = [(share, each) for share, each in near if share >= _RELATED and _amends(max(best, each, key=_when))]
    return max(near, key=lambda each: each[0])[1] if near else None


def _when(transcript: Transcript) -> int:
    return transcript.at_ms


def _amends(transcript: Transcript) -> bool:
    first = transcript.turns[:1]
    return any(AMENDS.search(f"{turn.asked}\n{turn.answered}") for turn in first)


def _told_whole(wanted: set[str], transcripts: Sequence[Transcript], budget: int, *, amended: bool) -> Excerpt:
    """Each transcript as one, the newest first; of two that amend each other, the older says so."""
    weights = WordWeights(f"{turn.asked}\n{turn.answered}" for transcript in transcripts for turn in transcript.turns)
    made, left = Excerpt(), budget
    ordered = sorted(transcripts, key=_when, reverse=True)
    for place, transcript in enumerate(ordered):
        last = place == len(ordered) - 1
        share = left if last else int(left * 0.7)
        head = f"### {transcript.head}"
        if amended and place:
            # What is no longer valid is told in short: that there was another rule, and which.
            head, share = f"{head} (amended by {ordered[0].head})", min(share, _OUTDATED)
        lines = [head, *_sentences_of(transcript, wanted, weights, share - text_size.tokens(head) - 2)]
        left -= text_size.tokens("\n".join(lines))
        made.lines += lines
        made.seqs += [seq for turn in transcript.turns for seq in turn.seqs]
    return made


@dataclass(frozen=True, slots=True)
class _Sentence:
    role: str
    text: str
    score: float
    cost: int


def _sentences_of(transcript: Transcript, wanted: set[str], weights: WordWeights, budget: int) -> list[str]:
    """A transcript whole if it fits; else its end, and of the rest what decides."""
    said = list(_scored(transcript, wanted, weights))
    kept: set[int] = set()
    left = budget
    if sum(each.cost for each in said) <= budget:
        kept.update(range(len(said)))
    else:
        for place in reversed(range(len(said))):
            if left - said[place].cost < budget * (1 - _TAIL):
                break
            left -= said[place].cost
            kept.add(place)
        for place in sorted(set(range(len(said))) - kept, key=lambda place: -said[place].score):
            if said[place].cost <= left:
                left -= said[place].cost
                kept.add(place)
    lines: list[str] = []
    role = ""
    for place in sorted(kept):
        each = said[place]
        lines.append(f"{each.role}: {each.text}" if each.role != role else f"  {each.text}")
        role = each.role
    return lines


def _scored(transcript: Transcript, wanted: set[str], weights: WordWeights) -> Iterator[_Sentence]:
    mass = sum(map(weights.of, wanted)) or 1.0
    parts = [
        (role, text) for turn in transcript.turns for role, text in (("user", turn.asked), ("agent", turn.answered))
    ]
    for place, (role, text) in enumerate(parts, start=1):
        for number, block in enumerate(text.split("```")):
            for sentence in sentences(block, _SENTENCE):
                score = min(1.0, 3 * weights.shared(wanted, sentence) / mass) + 0.4 * place / len(parts)
                score += 0.6 * (role == "user") + 0.5 * bool(_CUE.search(sentence))
                score += 0.8 * bool(_SETTLED.search(sentence)) + 0.3 * bool(_NUMBER.search(sentence))
                score += 0.2 * bool(_NAME.search(sentence)) - 0.5 * (number % 2)
                score -= 0.4 * (role == "agent" and sentence.endswith(("?", "\uff1f")))
                cost = text_size.tokens(sentence) + 2
                yield _Sentence(role, sentence, score / math.sqrt(cost + 6), cost)


@dataclass(frozen=True, slots=True)
class _Passage:
    transcript: Transcript
    turn: ExcerptTurn
    place: int
    text: str


def _passages(wanted: set[str], transcripts: Sequence[Transcript], budget: int) -> Excerpt:
    """The best passages of all these turns, each turn under the beginning of its request."""
    turns = [(transcript, turn) for transcript in transcripts for turn in transcript.turns]
    weights = WordWeights(f"{turn.asked}\n{turn.answered}" for _, turn in turns)
    whole = {id(turn): weights.shared(wanted, f"{turn.asked}\n{turn.answered}") for _, turn in turns}
    found = [
        _Passage(transcript, turn, place, text) for transcript, turn in turns for place, text in enumerate(_cut(turn))
    ]
    own = [weights.density(wanted, each.text) for each in found]
    best = (
        max(own, default=0.0) or 1.0,
        max(whole.values(), default=0.0) or 1.0,
        max(t.score for t in transcripts) or 1.0,
    )
    scores = [
        mine / best[0] + 0.5 * whole[id(each.turn)] / best[1] + 0.25 * each.transcript.score / best[2]
        for mine, each in zip(own, found, strict=True)
    ]
    left, chosen, taken, seen = budget, list[_Passage](), Counter[int](), set[str]()
    for place in sorted(range(len(found)), key=lambda place: (-scores[place], place)):
        each = found[place]
        if left < _FEW or not own[place]:
            break
        if taken[id(each.turn)] == _A_TURN or each.text in seen:
            continue
        cost = text_size.tokens(each.text) + 1
        cost += 0 if taken[id(each.turn)] else text_size.tokens(each.turn.asked[:_HEAD]) + 12
        if cost <= left:
            left -= cost
            taken[id(each.turn)] += 1
            seen.add(each.text)
            chosen.append(each)
    return _told_apart(chosen)


def _told_apart(chosen: Sequence[_Passage]) -> Excerpt:
    made = Excerpt()
    session = turn = 0
    for each in sorted(chosen, key=lambda each: (-each.transcript.at_ms, -each.turn.seqs[0], each.place)):
        if id(each.transcript) != session:
            made.lines.append(f"### {each.transcript.head}")
            session = id(each.transcript)
        if id(each.turn) != turn:
            made.lines.append(f"user: {quoting.line(each.turn.asked)[:_HEAD]}")
            made.seqs += each.turn.seqs
            turn = id(each.turn)
        if not each.turn.asked.startswith(each.text[:_HEAD]):
            made.lines.append(f"  {each.text}")
    return made


def _cut(turn: ExcerptTurn) -> Iterator[str]:
    for text in (turn.asked, turn.answered):
        yield from cut(text, _PASSAGE)


def _size(transcript: Transcript) -> int:
    return text_size.tokens(transcript.text())
