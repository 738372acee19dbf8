"""What earlier sessions said that bears on a request, within a number of tokens.

A short transcript that is clearly the one meant is told whole or, where it does not fit, by its end and by the
sentences in which people decide things: agents sum up at the end. Otherwise passages are chosen from the turns that
were found: each counts by itself, by its turn and by its session. Either is told newest session first, so that what was
decided last is read first, and each with its date and number.

Of texts that a search found, the passages that bear on the query, within a number of tokens.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from codexmem.kernel.model import quoting, text_size
from codexmem.kernel.model.instructions import looks_like_instruction, takes_over
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.sentences import AMENDS, sentences
from codexmem.kernel.search import text_of, tokens

_SIZE = 150  # characters of a passage, of which many fit
_LONGEST = 20_000  # characters of a text that are read
_USUAL = 300  # characters, from which on length counts against a passage
_OF_WHOLE, _RANK = 0.2, 0.6  # what its text and the rank of that add to a passage's own share
_NEAR = 0.5  # of the best score
_FEW_LEFT = 15  # tokens that are left: nothing more will fit


class WordWeights:
    """What a word tells: the rarer among these texts, the more."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._count: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self._texts += 1
            self._count.update(set(tokens.words(text)))

    def of(self, word: str) -> float:
        """The weight of one word."""
        has = self._count[word]
        return math.log(1 + (self._texts - has + 0.5) / (has + 0.5))

    def shared(self, wanted: set[str], text: str) -> float:
        """The weight of those of the words that stand in a text."""
        return sum(self.of(word) for word in wanted & set(tokens.words(text)))

    def density(self, wanted: set[str], text: str) -> float:
        """The same, less for a long text."""
        return self.shared(wanted, text) / math.sqrt(1 + len(text) / _USUAL)


def cut(text: str, size: int) -> Iterator[str]:
    """Sentences together, up to so many characters."""
    passage = ""
    for sentence in sentences(text, size):
        if passage and len(passage) + len(sentence) > size:
            yield passage
            passage = ""
        passage = f"{passage} {sentence}" if passage else sentence
    if passage:
        yield passage


def full_text(memory: Memory) -> str:
    """What somebody reads of a memory who looks for an answer, nothing twice: a title is often its beginning."""
    title, said = text_of.names(memory)[:1], "\n".join(text_of.body(memory))
    return "\n".join((*(each for each in title if each not in said), said))[:_LONGEST]


def best_passages(query: str, texts: Sequence[str], scores: Sequence[float], budget: int) -> list[list[str]]:
    """For each text, the best text first, its passages that are among the best of all, in the order of the text.

    A text without any word of the query is read only if it fits by half as well as the best. Cost grows with the number
    and length of the texts, both of which callers bound.
    """
    wanted, weights = set(tokens.terms(query)), WordWeights(texts)
    whole = [weights.shared(wanted, text) for text in texts]
    least = _NEAR * max(scores, default=0.0)
    near = [at for at, share in enumerate(whole) if share or scores[at] >= least]
    found = [(at, passage) for at in near for passage in cut(texts[at], _SIZE)]
    own = [weights.density(wanted, passage) for _, passage in found]
    best = [max(values, default=0.0) or 1.0 for values in (own, whole, scores)]
    worth = [
        mine / best[0] + _OF_WHOLE * whole[at] / best[1] + _RANK * scores[at] / best[2]
        for mine, (at, _) in zip(own, found, strict=True)
    ]
    left, kept, seen = budget, list[int](), set[str]()
    for place in sorted(range(len(found)), key=lambda place: (-worth[place], place)):
        passage = found[place][1]
        cost = text_size.tokens(passage)
        if left < _FEW_LEFT:
            break
        if cost <= left and passage not in seen:
            left -= cost
            seen.add(passage)
            kept.append(place)
    chosen: list[list[str]] = [[] for _ in texts]
    for place in sorted(kept):
        chosen[found[place][0]].append(found[place][1])
    return chosen


_PASSAGE = 300  # characters
_SENTENCE = 300
_HEAD = 70  # of a request, over the passages of its turn
_A_TURN = 5  # passages
_REFILLS = 2  # of the room that is left after choosing
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
    by_person: bool = True  # whether a person asked it here; if not, it may be anybody's
    asked_seq: int | None = None  # which of them asks
    answered_seq: int | None = None  # and which answers


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
    """Lines for the agent, each with the memory that says it, and which memories they tell."""

    said: list[tuple[str, int | None]] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    left_out: int = 0  # passages that are written like instructions, and not by a person

    @property
    def lines(self) -> list[str]:
        """The text."""
        return [text for text, _ in self.said]


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
        said, left_out = _sentences_of(transcript, wanted, weights, share - text_size.tokens(head) - 2)
        lines = [(head, None), *said]
        left -= text_size.tokens("\n".join(text for text, _ in lines))
        made.said += lines
        made.left_out += left_out
        made.seqs += [seq for turn in transcript.turns for seq in turn.seqs]
    return made


@dataclass(frozen=True, slots=True)
class _Sentence:
    role: str
    text: str
    score: float
    cost: int
    part: int  # of the transcript
    by_person: bool
    seq: int | None

    @property
    def is_order(self) -> bool:
        """Whether it is written like an instruction, and not by a person."""
        return not self.by_person and looks_like_instruction(self.text)


def _sentences_of(
    transcript: Transcript, wanted: set[str], weights: WordWeights, budget: int
) -> tuple[list[tuple[str, int | None]], int]:
    """A transcript whole if it fits; else its end, and of the rest what decides. And how many sentences are left out:
    those written like instructions, and whatever stands beside one that would take over.
    """
    said = list(_scored(transcript, wanted, weights))
    kept = _chosen(said, budget)
    orders = {place for place in kept if said[place].is_order}
    tainted = {said[place].part for place in orders if takes_over(said[place].text)}
    told = {place for place in kept - orders if said[place].part not in tainted}
    lines = _lines(said, told)
    # What was left out, and what few quotation marks save, is room for others.
    rest = sorted(set(range(len(said))) - kept, key=lambda place: -said[place].score)
    for _ in range(_REFILLS):
        left = budget - text_size.tokens("\n".join(text for text, _ in lines))
        for place in rest:
            each = said[place]
            if place not in told and each.cost <= left and each.part not in tainted and not each.is_order:
                left -= each.cost
                told.add(place)
        lines = _lines(said, told)
    return lines, len(kept) - len(kept & told)


def _chosen(said: Sequence[_Sentence], budget: int) -> set[int]:
    """All of it if it fits; else its end, and of the rest what decides."""
    if sum(each.cost for each in said) <= budget:
        return set(range(len(said)))
    kept: set[int] = set()
    left = budget
    for place in reversed(range(len(said))):
        if left - said[place].cost < budget * (1 - _TAIL):
            break
        left -= said[place].cost
        kept.add(place)
    for place in sorted(set(range(len(said))) - kept, key=lambda place: -said[place].score):
        if said[place].cost <= left:
            left -= said[place].cost
            kept.add(place)
    return kept


def _lines(said: Sequence[_Sentence], told: Collection[int]) -> list[tuple[str, int | None]]:
    """Who said what, a line for each piece that stands together."""
    lines: list[tuple[str, int | None]] = []
    role, pieces = "", list[list[int]]()
    for place in sorted(told):
        if pieces and pieces[-1][-1] == place - 1 and said[place].part == said[place - 1].part:
            pieces[-1].append(place)
        else:
            pieces.append([place])
    for piece in pieces:
        each, text = said[piece[0]], quoting.quoted(" ".join(said[place].text for place in piece))
        lines.append((f"{each.role}: {text}" if each.role != role else f"  {text}", each.seq))
        role = each.role
    return lines


def _scored(transcript: Transcript, wanted: set[str], weights: WordWeights) -> Iterator[_Sentence]:
    mass = sum(map(weights.of, wanted)) or 1.0
    parts = [
        (role, text, turn.by_person and role == "user", seq)
        for turn in transcript.turns
        for role, text, seq in (("user", turn.asked, turn.asked_seq), ("agent", turn.answered, turn.answered_seq))
    ]
    for place, (role, text, by_person, seq) in enumerate(parts, start=1):
        for number, block in enumerate(text.split("```")):
            for sentence in sentences(block, _SENTENCE):
                score = min(1.0, 3 * weights.shared(wanted, sentence) / mass) + 0.4 * place / len(parts)
                score += 0.6 * (role == "user") + 0.5 * bool(_CUE.search(sentence))
                score += 0.8 * bool(_SETTLED.search(sentence)) + 0.3 * bool(_NUMBER.search(sentence))
                score += 0.2 * bool(_NAME.search(sentence)) - 0.5 * (number % 2)
                score -= 0.4 * (role == "agent" and sentence.endswith(("?", "\uff1f")))
                cost = text_size.tokens(sentence) + 2
                yield _Sentence(role, sentence, score / math.sqrt(cost + 6), cost, place, by_person, seq)


@dataclass(frozen=True, slots=True)
class _Passage:
    transcript: Transcript
    turn: ExcerptTurn
    place: int
    text: str
    by_person: bool
    seq: int | None

    @property
    def is_order(self) -> bool:
        """Whether it is written like an instruction, and not by a person."""
        return not self.by_person and looks_like_instruction(self.text)


def _passages(wanted: set[str], transcripts: Sequence[Transcript], budget: int) -> Excerpt:
    """The best passages of all these turns, each turn under the beginning of its request."""
    turns = [(transcript, turn) for transcript in transcripts for turn in transcript.turns]
    weights = WordWeights(f"{turn.asked}\n{turn.answered}" for _, turn in turns)
    whole = {id(turn): weights.shared(wanted, f"{turn.asked}\n{turn.answered}") for _, turn in turns}
    found = [
        _Passage(transcript, turn, place, text, by_person, seq)
        for transcript, turn in turns
        for place, (text, by_person, seq) in enumerate(_cut(turn))
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
    orders = {id(each) for each in chosen if each.is_order}
    tainted = {id(each.turn) for each in chosen if id(each) in orders and takes_over(each.text)}
    told = [each for each in chosen if id(each) not in orders and (each.by_person or id(each.turn) not in tainted)]
    made = Excerpt(left_out=len(chosen) - len(told))
    session = turn = 0
    for each in sorted(told, key=lambda each: (-each.transcript.at_ms, -each.turn.seqs[0], each.place)):
        if id(each.transcript) != session:
            made.said.append((f"### {each.transcript.head}", None))
            session = id(each.transcript)
        if id(each.turn) != turn:
            asked = each.turn.asked[: 4 * _HEAD]
            if each.turn.by_person or not looks_like_instruction(asked):
                made.said.append((f"user: {quoting.quoted(asked, _HEAD)}", each.turn.asked_seq))
            made.seqs += each.turn.seqs
            turn = id(each.turn)
        if not each.turn.asked.startswith(each.text[:_HEAD]):
            made.said.append((f"  {quoting.quoted(each.text)}", each.seq))
    return made


def _cut(turn: ExcerptTurn) -> Iterator[tuple[str, bool, int | None]]:
    for text, by_person, seq in (
        (turn.asked, turn.by_person, turn.asked_seq),
        (turn.answered, False, turn.answered_seq),
    ):
        yield from ((passage, by_person, seq) for passage in cut(text, _PASSAGE))


def _size(transcript: Transcript) -> int:
    return text_size.tokens(transcript.text())
