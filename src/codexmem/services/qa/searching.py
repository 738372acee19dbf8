"""Finding answers: the product's own search proposes, words and meaning say how well each fits, belief orders them.

A search looks at no more than `_DEEPEST` items whatever the store holds: three times as many as are wanted and some
more, so that what is believed can come forward. An item that contradicts one of the results is shown with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from codexmem.domain.memory import Memory, Status
from codexmem.domain.qa import belief
from codexmem.domain.qa import relevance as qa_relevance
from codexmem.domain.qa.items import KINDS, LIMIT, MIN_SCORE, OFFERED, attrs_of, questions_of
from codexmem.domain.query import Filter
from codexmem.domain.search import Answer, Mode, Search
from codexmem.services.qa.views import Item, Views

_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found, best first, and by which means."""

    items: tuple[Item, ...]
    mode: Mode
    degraded: tuple[str, ...] = ()  # what kept vectors from taking part, in words


class Searching:
    """Searches questions with answers of the acting tenant."""

    def __init__(self, views: Views, search: Callable[[Search], Answer]) -> None:
        self._views = views
        self._search = search

    def find(self, project: str, query: str, *, limit: int = LIMIT, min_score: float = MIN_SCORE,
             statuses: frozenset[Status] = OFFERED) -> Answers:  # fmt: skip
        """The items that fit; none of them scores less than `min_score`."""
        wanted = Filter(KINDS, project=project, statuses=statuses)
        answer = self._search(Search(query, wanted, limit=min(3 * limit + 10, _DEEPEST)))
        cosines = {found.memory.seq: found.meaning for found in answer.results}
        items = self._views.of([found.memory for found in answer.results])
        items = [*items, *self._against(items, cosines, wanted)]
        fits = qa_relevance.fits(query, [_read(item.memory) for item in items],
                                 [cosines[item.memory.seq] for item in items])  # fmt: skip
        scored = [
            replace(item, score=belief.ranked(relevance, item.confidence, item.status), relevance=relevance)
            for item, relevance in zip(items, fits, strict=True)
        ]
        # The sort is stable: what scores alike stays in the order of the search.
        ordered = sorted((item for item in scored if _score(item) >= min_score), key=_score, reverse=True)
        return Answers(tuple(_chosen(ordered, limit)), answer.mode, answer.notes)

    def _against(self, items: Sequence[Item], cosines: dict[int, float | None], wanted: Filter) -> list[Item]:
        """Items that contradict these and were not found themselves: they answer the same question."""
        new: dict[int, Memory] = {}
        for item in items:
            for other in item.contradicts:
                if other.seq not in cosines and other.state.project == wanted.project:
                    new[other.seq] = other
                    cosines[other.seq] = cosines[item.memory.seq]
        there = [other for other in new.values() if other.state.status in wanted.statuses]
        return self._views.of(there[:_DEEPEST])


def _read(memory: Memory) -> qa_relevance.Read:
    attrs = attrs_of(memory)
    return qa_relevance.read(questions_of(attrs), attrs.tags, attrs.summary, memory.state.content)


def _score(item: Item) -> float:
    return item.score or 0.0


def _chosen(ordered: Sequence[Item], limit: int) -> list[Item]:
    """The best, each with what contradicts it as far as there is room; in order."""
    there = {item.memory.seq: item for item in ordered}
    chosen: dict[int, Item] = {}
    for item in ordered:
        if len(chosen) >= limit:
            break
        chosen[item.memory.seq] = item
        for other in item.contradicts:
            if other.seq in there and len(chosen) < limit:
                chosen[other.seq] = there[other.seq]
    return sorted(chosen.values(), key=_score, reverse=True)
