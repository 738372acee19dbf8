"""What every question set is turned into: projects of passages, and questions that know which passages answer them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from codexmem.kernel.model.search import Unit


class Split(StrEnum):
    """Which questions a figure is about."""

    TUNING = "tuning"  # weights and thresholds may be chosen on these
    HELD_OUT = "held-out"  # nobody looks at these while choosing
    ALL = "all"  # both, for comparison with figures that others published


@dataclass(frozen=True, slots=True)
class Passage:
    """One turn, message or note: what becomes one memory."""

    key: str  # unique in its corpus
    session: str
    speaker: str
    text: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it."""

    text: str
    category: str
    split: Split
    passages: frozenset[str] = frozenset()  # keys
    sessions: frozenset[str] = frozenset()
    asked_ms: int | None = None
    absent: bool = False  # nothing here answers it, though something may look as if it did

    def gold(self, unit: Unit) -> frozenset[str]:
        """What should be found when results are of this unit."""
        return self.sessions if unit is Unit.SESSION else self.passages


@dataclass(frozen=True, slots=True)
class Corpus:
    """One conversation, chat or diary: a project of its own."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One way of asking a suite's questions."""

    name: str
    unit: Unit
    split: Split = Split.HELD_OUT  # the questions its headline figures are about
    headline: str = "mean@10"  # the one figure for comparison over time
    # Rows besides those of single categories; None means every category. The first is the headline.
    groups: Mapping[str, frozenset[str] | None] = field(default_factory=lambda: {"all": None})


def keep(corpora: Iterable[Corpus], split: Split, limit: int | None) -> tuple[Corpus, ...]:
    """The corpora with the questions of this split, at most `limit` of them spread evenly over the suite.

    A corpus keeps all its passages, because they are the haystack; one without any question left is dropped.
    """
    chosen = [
        replace(corpus, questions=tuple(q for q in corpus.questions if split in {Split.ALL, q.split}))
        for corpus in corpora
    ]
    total = sum(len(corpus.questions) for corpus in chosen)
    if limit is not None and limit < total:
        wanted = {place * total // limit for place in range(limit)}
        seen = 0
        for at, corpus in enumerate(chosen):
            kept = tuple(q for place, q in enumerate(corpus.questions, seen) if place in wanted)
            seen += len(corpus.questions)
            chosen[at] = replace(corpus, questions=kept)
    return tuple(corpus for corpus in chosen if corpus.questions)
