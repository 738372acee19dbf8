"""A store's worth of made-up memories to search: English, Chinese and code, with words as common as words are.

How often a word comes follows Zipf and Mandelbrot without the most frequent few, which in real text are stop words that
no index keeps. Sessions of twenty belong to one of fifty projects of equal size; every other memory is what a person
said, the rest is what was observed. Half of a vector tells the session, half the memory, so that vectors lie in
clusters; all are cut from one long row of noise, because a million need to be made in seconds.
"""

from __future__ import annotations

import functools
import itertools
import random
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codexmem.kernel.model.attrs import ObservationAttrs, PromptAttrs
from codexmem.kernel.model.memory import Kind, Memory, Origin, State
from codexmem.kernel.model.tenant import LOCAL
from codexmem.kernel.search import tokens
from codexmem.kernel.store.index import IndexedTokens

DIMENSION = 512
MODEL = "bench-512"
PROJECTS = 50
SESSION = 20  # memories
KINDS = frozenset({Kind.PROMPT, Kind.OBSERVATION})
FIRST_MS = 1_780_000_000_000
_STEP_MS = 20_000

_TYPES = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
_CONCEPTS = ("how-it-works", "why-it-exists", "what-changed", "problem-solution", "gotcha", "pattern", "trade-off")
_TITLE = 6  # of a text's words
_FLATTENED = 20  # ranks left out at the top
_HALF = DIMENSION // 2
_NOISE = 1 << 18  # numbers
_BYTES = 4  # of a number
_STRIDE = 7_919  # between the places of neighbours in the noise; a prime, so that places repeat late
_SYLLABLES = (
    *("ba", "cor", "da", "el", "fi", "gra", "hu", "in", "jo", "ka", "lor", "me", "nis", "or", "pa", "qui", "ra", "so"),
    *("ta", "ur", "va", "wen", "xi", "yo", "zen", "tion", "ment", "er", "ing", "ly", "ous", "ive", "al", "ize"),
)


class Vocabulary:
    """Words of one sort, each with the tokens that the product's tokenizer makes of it."""

    def __init__(self, words: Sequence[str], separator: str) -> None:
        self.separator = separator  # at which no token begins or ends otherwise than alone
        self._entries = [(word, tokens.words(word)) for word in words]
        self._sums = list(itertools.accumulate(1.0 / (_FLATTENED + rank) for rank in range(1, len(words) + 1)))

    def draw(self, chance: random.Random, count: int) -> list[tuple[str, list[str]]]:
        """So many words, common ones more often."""
        return chance.choices(self._entries, cum_weights=self._sums, k=count)


@dataclass(frozen=True, slots=True)
class Made:
    """A memory with its words as the product would cut them."""

    memory: Memory
    words: IndexedTokens
    tenant: str = LOCAL


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody looks for, and in which project it is."""

    text: str
    project: str


class Corpus:
    """The memories of one seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.vectors = Noise(self._chance)
        english = self._distinct(
            24_000, lambda: "".join(self._chance.choices(_SYLLABLES, k=self._chance.randint(2, 4)))
        )
        common = [chr(code) for code in self._chance.sample(range(0x4E00, 0x9FA5), 2_500)]
        chinese = self._distinct(
            12_000, lambda: "".join(self._chance.choices(common, k=self._chance.choice((2, 2, 3))))
        )
        code = self._distinct(8_000, lambda: self._identifier(english))
        self._english, self._chinese, self._code = (
            Vocabulary(english, " "), Vocabulary(chinese, "，"), Vocabulary(code, "; "),  # noqa: RUF001
        )  # fmt: skip
        self._labels = {label: tuple(tokens.words(label)) for label in (*_TYPES, *_CONCEPTS)}

    def memories(self, size: int, tenants: Sequence[str] = (LOCAL,)) -> Iterator[Made]:
        """So many memories, numbered from 1; each tenant has an equal part of them, one after the other."""
        for seq in range(1, size + 1):
            yield self._made(seq, tenants[(seq - 1) * len(tenants) // size])

    def questions(self, asked: Sequence[Made]) -> list[Question]:
        """One question about each of these memories, in a few of its words."""
        return [Question(self._question(made.memory.state.content), made.memory.state.project) for made in asked]

    def _made(self, seq: int, tenant: str) -> Made:
        chance = self._chance
        text, found = self._text()
        session = (seq - 1) // SESSION
        project, now = project_name(session % PROJECTS), FIRST_MS + seq * _STEP_MS
        kind = Kind.PROMPT if seq % 2 else Kind.OBSERVATION
        head: tuple[str, ...] = ()
        if kind is Kind.PROMPT:
            state = State(text, PromptAttrs(), project=project)
        else:
            title, title_words = self._text(_TITLE)
            type_, concept = chance.choice(_TYPES), chance.choice(_CONCEPTS)
            attrs = ObservationAttrs(concepts=(concept,))
            state = State(text, attrs, project=project, type=type_, title=title)
            head = (*title_words, *self._labels[type_], *self._labels[concept])
        memory = Memory(
            seq=seq, id=f"{seq:032x}", kind=kind, state=state, version=1,
            origin=Origin.HUMAN if kind is Kind.PROMPT else Origin.MODEL, created_ms=now, updated_ms=now,
            session=f"session-{session}",
        )  # fmt: skip
        return Made(memory, IndexedTokens(head, tuple(found)), tenant)

    def _text(self, count: int | None = None) -> tuple[str, list[str]]:
        """About forty tokens of one language with some code among them."""
        chance = self._chance
        draw = chance.random()
        if draw < 0.5:
            parts = [(self._english, count or chance.randint(20, 40)), (self._code, 2)]
        elif draw < 0.8:
            parts = [(self._chinese, count or chance.randint(7, 14)), (self._code, 2)]
        else:
            parts = [(self._code, count or chance.randint(7, 12)), (self._english, 6)]
        texts: list[str] = []
        found: list[str] = []
        for vocabulary, number in parts:
            drawn = vocabulary.draw(chance, number)
            texts.append(vocabulary.separator.join([word for word, _ in drawn]))
            for _, cut in drawn:
                found += cut
        return "\n".join(texts), found

    def _question(self, content: str) -> str:
        chance = self._chance
        words = content.replace("，", " ").replace(";", " ").split()  # noqa: RUF001
        some = " ".join(chance.sample(words, min(len(words), chance.randint(2, 5))))
        return chance.choice((
            "{}", "{}", "what did we decide about {}?", "when did I change {}", "how many {}", "我们之前怎么处理 {}",
        )).format(some)  # fmt: skip

    def _identifier(self, english: Sequence[str]) -> str:
        chance = self._chance
        one, two = chance.choice(english), chance.choice(english)
        shape = chance.choice(("{0}_{1}", "{2}{3}", "src/{0}/{1}.py", "{0}.{1}()", "{0}-{1}", "{0}=={4}"))
        return shape.format(one, two, one.title(), two.title(), f"{chance.randrange(9)}.{chance.randrange(30)}")

    def _distinct(self, count: int, make: Callable[[], str]) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[make()] = None
        return list(found)


class Noise:
    """Where all vectors come from; as bytes and, for COPY, as text."""

    def __init__(self, chance: random.Random) -> None:
        numbers = array("f", (chance.gauss(0.0, DIMENSION**-0.5) for _ in range(_NOISE)))
        self._bytes = numbers.tobytes()
        self._numbers = numbers

    def vector(self, number: int) -> bytes:
        """The memory's vector; its length is one but for chance."""
        (one, other) = self._places(number)
        return self._slice(one) + self._slice(other)

    def written(self, number: int) -> str:
        """The same as pgvector reads it."""
        (one, other) = self._places(number)
        return f"[{','.join(self._texts[one : one + _HALF])},{','.join(self._texts[other : other + _HALF])}]"

    @functools.cached_property
    def _texts(self) -> list[str]:
        return [f"{number:.5f}" for number in self._numbers]

    def _places(self, number: int) -> tuple[int, int]:
        session = (number - 1) // SESSION
        return (session * _STRIDE + _NOISE // 2) % (_NOISE - _HALF), number * _STRIDE % (_NOISE - _HALF)

    def _slice(self, start: int) -> bytes:
        return self._bytes[start * _BYTES : (start + _HALF) * _BYTES]


class SeededEmbedder:
    """Answers a query with the vector that its text chooses, in no time to speak of."""

    model = MODEL
    batch = 64

    def __init__(self, vectors: Noise, size: int) -> None:
        self._vectors = vectors
        self._size = size

    @property
    def dimension(self) -> int | None:
        """Of the default local encoder."""
        return DIMENSION

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """As a query."""
        return [self.query(text) for text in texts]

    def query(self, text: str) -> bytes:
        """Near some session."""
        return self._vectors.vector(zlib.crc32(text.encode()) % self._size + 1)


def project_name(number: int) -> str:
    """The name of a project."""
    return f"project-{number:02d}"
