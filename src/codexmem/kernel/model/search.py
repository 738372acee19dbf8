"""A search and its answer: what a caller asks, what came back, and why each result stands where it does.

Scores are probabilities of relevance between 0 and 1, so that `min_score` means the same for every query and "nothing
relevant" is an answer. An answer always says by which means it was found.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.memory import Memory
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.ranking import Ranking

MAX_RESULTS = 200
MAX_DEPTH = 1_000  # limit + offset
MAX_QUERY = 100_000  # characters; longer text is refused, not cut


class Unit(StrEnum):
    """What a result is."""

    MEMORY = "memory"
    SESSION = "session"  # the best memory of each session, ranked by what the whole session says


class Floor(StrEnum):
    """How much must speak for the best result before there is any."""

    ASKED = "asked"  # somebody looks for something
    UNASKED = "unasked"  # it is handed over though nobody asked: rather nothing than something foreign
    AHEAD = "ahead"  # likewise, where one session is clearly ahead of all others


class SearchMode(StrEnum):
    """By which means an answer was found; the value is the contract's spelling."""

    LEXICAL = "lexical-only"
    HYBRID = "hybrid"


NO_VECTORS = "nothing here has vectors of this model: words only"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What a caller is looking for. Any text is legal."""

    text: str
    filter: Filter
    limit: int = 20
    offset: int = 0
    min_score: float | None = None  # none leaves out what does not fit; 0 shows that too
    unit: Unit = Unit.MEMORY
    as_of_ms: int | None = None  # the memory as it was then
    asked_ms: int | None = None  # what "yesterday" is counted from; now unless given
    recipe: str = "default"
    explain: bool = False
    floor: Floor = Floor.ASKED
    or_else: Floor | None = None  # what must speak for the best where nothing reaches that
    every_word: bool = False  # only what contains all words of the text; meaning takes no part
    lookup: bool = False  # made by codexmem itself, to show what is alike: nobody's search

    def __post_init__(self) -> None:
        """Every list is bounded."""
        if not 1 <= self.limit <= MAX_RESULTS:
            raise InvalidArgument(f"limit {self.limit} is not between 1 and {MAX_RESULTS}")
        if not 0 <= self.offset <= MAX_DEPTH - self.limit:
            raise InvalidArgument(f"offset {self.offset} reaches beyond the first {MAX_DEPTH:,} results")
        if self.min_score is not None and not 0.0 <= self.min_score <= 1.0:
            raise InvalidArgument(f"min_score {self.min_score} is not between 0 and 1")
        if len(self.text) > MAX_QUERY:
            raise InvalidArgument(f"the query is longer than {MAX_QUERY:,} characters", hint="search for less text")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result."""

    memory: Memory
    score: float  # probability of relevance; falls along the results
    signals: dict[str, float] = field(default_factory=dict)  # each signal's share of the order, if asked for
    meaning: float | None = None  # cosine of its nearest passage, where vectors took part
    relevance: float = 0.0  # what speaks for this one, wherever it stands


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The results, best first, and how they were found."""

    results: tuple[SearchResult, ...]
    mode: SearchMode
    sources: dict[str, int]  # candidates by where they came from: lexical, sqlite, chroma, neighbours …
    timings_ms: dict[str, float]  # by step, with `total`
    more: bool = False  # whether another page follows
    floor: Floor = Floor.ASKED  # which of those it asked for the results reach
    notes: tuple[str, ...] = ()  # what was degraded and why, in words
    ranking: Ranking | None = field(default=None, repr=False, compare=False)  # for the trace: why each stands there
