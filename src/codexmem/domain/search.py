"""A search and its answer: what a caller asks, what came back, and why each result stands where it does.

Scores are probabilities of relevance between 0 and 1, so that `min_score` means the same for every query and "nothing
relevant" is an answer. An answer always says by which means it was found.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from codexmem.domain.errors import InvalidArgument
from codexmem.domain.memory import Memory
from codexmem.domain.query import Filter
from codexmem.domain.ranking import Ranking

MAX_RESULTS = 200
MAX_DEPTH = 1_000  # limit + offset
MAX_QUERY = 100_000  # characters; longer text is refused, not cut


class Unit(StrEnum):
    """What a result is."""

    MEMORY = "memory"
    SESSION = "session"  # the best memory of each session, ranked by what the whole session says


class Mode(StrEnum):
    """By which means an answer was found; the value is the contract's spelling."""

    LEXICAL = "lexical-only"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Search:
    """What a caller is looking for. Any text is legal."""

    text: str
    filter: Filter
    limit: int = 20
    offset: int = 0
    min_score: float = 0.0
    unit: Unit = Unit.MEMORY
    as_of_ms: int | None = None  # the memory as it was then
    asked_ms: int | None = None  # what "yesterday" is counted from; now unless given
    recipe: str = "default"
    explain: bool = False
    every_word: bool = False  # only what contains all words of the text; meaning takes no part

    def __post_init__(self) -> None:
        """Every list is bounded."""
        if not 1 <= self.limit <= MAX_RESULTS:
            raise InvalidArgument(f"limit {self.limit} is not between 1 and {MAX_RESULTS}")
        if not 0 <= self.offset <= MAX_DEPTH - self.limit:
            raise InvalidArgument(f"offset {self.offset} reaches beyond the first {MAX_DEPTH:,} results")
        if not 0.0 <= self.min_score <= 1.0:
            raise InvalidArgument(f"min_score {self.min_score} is not between 0 and 1")
        if len(self.text) > MAX_QUERY:
            raise InvalidArgument(f"the query is longer than {MAX_QUERY:,} characters", hint="search for less text")


@dataclass(frozen=True, slots=True)
class Found:
    """One result."""

    memory: Memory
    score: float  # probability of relevance
    signals: dict[str, float] = field(default_factory=dict)  # each signal's share of the score, if asked for
    meaning: float | None = None  # cosine of its nearest passage, where vectors took part


@dataclass(frozen=True, slots=True)
class Answer:
    """The results, best first, and how they were found."""

    results: tuple[Found, ...]
    mode: Mode
    sources: dict[str, int]  # candidates by where they came from: lexical, sqlite, chroma, neighbours …
    timings_ms: dict[str, float]  # by step, with `total`
    more: bool = False  # whether another page follows
    notes: tuple[str, ...] = ()  # what was degraded and why, in words
    ranking: Ranking | None = field(default=None, repr=False, compare=False)  # for the trace: why each stands there
