"""Items as they stand now (memory, belief, what contradicts them), and finding them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Memory, Status
from codexmem.kernel.model.query import Filter, Id
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery
from codexmem.kernel.search.floor import FITS
from codexmem.kernel.services.memories import Memories
from codexmem.qa.model import belief
from codexmem.qa.model.belief import Belief
from codexmem.qa.model.items import (
    CONTRADICTS,
    KINDS,
    LIMIT,
    MERGED_INTO,
    MIN_SCORE,
    OFFERED,
    linked,
)
from codexmem.qa.store import Beliefs

_DEEPEST = 60
CERTAIN = 0.98  # the most relevance: belief must still be able to order two perfect fits


@dataclass(frozen=True, slots=True)
class QaEntry:
    """One question with its answer."""

    memory: Memory
    confidence: float
    contradicts: tuple[Memory, ...] = ()  # those that are still offered
    merged_into: Memory | None = None
    score: float | None = None  # in a search: relevance, weighed by belief
    relevance: float | None = None  # in a search: how well it fits, whatever is believed
    delta: str | None = None  # after a person's decision: what takes it back

    @property
    def status(self) -> Status:
        """Where it stands in its life."""
        return self.memory.state.status


class QaViews:
    """Reads items of the acting tenant.

    However many items are looked at together, that is two queries more than reading them.
    """

    def __init__(self, memories: Memories, beliefs: Beliefs, clock: Clock) -> None:
        self._memories = memories
        self._beliefs = beliefs
        self._clock = clock

    def of(self, memories: Sequence[Memory]) -> list[QaEntry]:
        """These memories as items, in the same order."""
        learned = self._beliefs.of(memory.seq for memory in memories)
        others = self._memories.many(self._others(memories), KINDS)
        now_ms = self._clock.now_ms()
        items = []
        for memory in memories:
            known = learned[memory.seq].belief if memory.seq in learned else Belief()
            sure = belief.confidence(known, prior=memory.state.confidence, now_ms=now_ms)
            against = [others[seq] for seq in linked(memory, CONTRADICTS) if seq in others]
            into = [others[seq] for seq in linked(memory, MERGED_INTO) if seq in others]
            standing = tuple(each for each in against if each.state.status in OFFERED)
            items.append(QaEntry(memory, sure, standing, into[-1] if into else None))
        return items

    def one(self, memory: Memory, score: float | None = None) -> QaEntry:
        """One of them."""
        return replace(self.of([memory])[0], score=score)

    def named(self, qa_id: str, project: str | None) -> Memory:
        """The item of this id; in a project, if one is given."""
        try:
            memory = self._memories.get(Id(qa_id), KINDS)
        except NotFound:
            raise missing(qa_id) from None
        if memory.state.status is Status.DELETED or (project is not None and memory.state.project != project):
            raise missing(qa_id)
        return memory

    def _others(self, memories: Iterable[Memory]) -> set[int]:
        return {seq for memory in memories for name in (CONTRADICTS, MERGED_INTO) for seq in linked(memory, name)}


def missing(qa_id: str) -> NotFound:
    """There is no such item within the caller's reach."""
    return NotFound(f"{qa_id[:100]!r} is not an item of this project", hint="POST /v1/qa/search returns ids")


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found, best first, and by which means."""

    items: tuple[QaEntry, ...]
    mode: SearchMode
    degraded: tuple[str, ...] = ()  # what kept vectors from taking part, in words


class Searching:
    """Searches questions with answers of the acting tenant.

    The product's own search proposes and says what speaks for each, belief orders them. A search looks at
    no more than `_DEEPEST` items whatever the store holds: three times as many as are wanted and some more, so that
    what is believed can come forward. An item that contradicts one of the results is shown with it.
    """

    def __init__(self, views: QaViews, search: Callable[[SearchQuery], SearchAnswer]) -> None:
        self._views = views
        self._search = search

    def find(self, project: str, query: str, *, limit: int = LIMIT, min_score: float = MIN_SCORE,
             statuses: frozenset[Status] = OFFERED, lookup: bool = False) -> Answers:  # fmt: skip
        """The items that score at least `min_score`; a `lookup` is no search of anybody.

        What does not fit scores less than what is asked for by default, however much it is believed: an answer that
        everybody trusts may be to another question.
        """
        wanted = Filter(KINDS, project=project, statuses=statuses)
        answer = self._search(SearchQuery(query, wanted, limit=min(3 * limit + 10, _DEEPEST), lookup=lookup))
        relevance = {found.memory.seq: min(CERTAIN, found.relevance) for found in answer.results}
        items = self._views.of([found.memory for found in answer.results])
        items = [*items, *self._against(items, relevance, wanted)]
        scored = [_scored(item, relevance[item.memory.seq]) for item in items]
        # The sort is stable: what scores alike stays in the order of the search.
        ordered = sorted((item for item in scored if _score(item) >= min_score), key=_score, reverse=True)
        return Answers(tuple(_chosen(ordered, limit)), answer.mode, answer.notes)

    def _against(self, items: Sequence[QaEntry], relevance: dict[int, float], wanted: Filter) -> list[QaEntry]:
        """Items that contradict these and were not found themselves: they answer the same question, and fit as well."""
        new: dict[int, Memory] = {}
        for item in items:
            for other in item.contradicts:
                if other.seq not in relevance and other.state.project == wanted.project:
                    new[other.seq] = other
                    relevance[other.seq] = relevance[item.memory.seq]
        there = [other for other in new.values() if other.state.status in wanted.statuses]
        return self._views.of(there[:_DEEPEST])


def _scored(item: QaEntry, relevance: float) -> QaEntry:
    believed = belief.ranked(relevance, item.confidence, item.status)
    return replace(item, score=believed if relevance >= FITS else MIN_SCORE * believed, relevance=relevance)


def _score(item: QaEntry) -> float:
    return item.score or 0.0


def _chosen(ordered: Sequence[QaEntry], limit: int) -> list[QaEntry]:
    """The best, each with what contradicts it as far as there is room; in order."""
    there = {item.memory.seq: item for item in ordered}
    chosen: dict[int, QaEntry] = {}
    for item in ordered:
        if len(chosen) >= limit:
            break
        chosen[item.memory.seq] = item
        for other in item.contradicts:
            if other.seq in there and len(chosen) < limit:
                chosen[other.seq] = there[other.seq]
    return sorted(chosen.values(), key=_score, reverse=True)
