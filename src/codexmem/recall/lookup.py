"""Looking things up as the recall interface asks: by a query or, without one, by filters alone, newest first.

A query goes to recall, which ranks; filters alone go to the lists, which page. Files are named by any beginning of a
path or of one of its ends (see `domain.file_labels`); which labels that means is looked up first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from codexmem.kernel.model.file_labels import label_beginnings
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.model.query import Filter, PageRequest, RowOrder
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery
from codexmem.kernel.model.spans import timed
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.labels import Labels

MAX_LABELS = 100  # labels that the files of one wish may stand for


class ResultOrder(StrEnum):
    """In which order results are given."""

    RELEVANCE = "relevance"
    NEWEST = "date_desc"
    OLDEST = "date_asc"


@dataclass(frozen=True, slots=True)
class LookupRequest:
    """What is looked for; each field that is given must hold, several values of one mean any of them."""

    kinds: frozenset[Kind]
    query: str = ""
    project: str | None = None
    types: frozenset[str] = frozenset()
    concepts: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()  # parts of paths
    from_ms: int | None = None
    to_ms: int | None = None
    order: ResultOrder = ResultOrder.RELEVANCE
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True)
class LookupResults:
    """What was found, in the wished order."""

    memories: tuple[Memory, ...]
    scores: dict[int, float]  # by number; empty without a query
    mode: SearchMode | None  # by which means a query was answered
    more: bool = False
    notes: tuple[str, ...] = ()  # what was degraded or left out, in words
    order: ResultOrder = ResultOrder.RELEVANCE

    def first(self, limit: int) -> "LookupResults":
        """So many of them."""
        return self if len(self.memories) <= limit else replace(self, memories=self.memories[:limit], more=True)


class Lookup:
    """Finds by query or by filters."""

    def __init__(self, memories: Memories, labels: Labels, search: Callable[[SearchQuery], SearchAnswer]) -> None:
        self._memories = memories
        self._labels = labels
        self._search = search

    @timed("lookup.find")
    def find(self, wish: LookupRequest) -> LookupResults:
        """What fits the wish."""
        kinds, facets = wish.kinds, []
        notes: list[str] = []
        if wish.types or wish.concepts or wish.files:
            kinds &= {Kind.OBSERVATION}
            if not kinds:
                return _nothing("only observations have a type, concepts or files")
        if wish.files:
            labels, notes = self.file_labels(wish.files, wish.project)
            if not labels:
                return _nothing(*notes)
            facets.append(("file", labels))
        facets += [(facet, values) for facet, values in (("concept", wish.concepts), ("type", wish.types)) if values]
        wanted = Filter(
            kinds, project=wish.project, facets=tuple(facets), created_from_ms=wish.from_ms, created_to_ms=wish.to_ms
        )
        found = self._asked(wish, wanted) if wish.query.strip() else self._listed(wish, wanted)
        if not found.memories and not wish.offset and wish.project is not None and not self._stored(wish.project):
            return _nothing(f'nothing is stored for the project "{wish.project}"; GET /api/projects lists all')
        return replace(found, notes=(*found.notes, *notes), order=wish.order)

    def _asked(self, wish: LookupRequest, wanted: Filter) -> LookupResults:
        answer = self._search(SearchQuery(wish.query, wanted, limit=wish.limit, offset=wish.offset))
        memories = [found.memory for found in answer.results]
        if wish.order is not ResultOrder.RELEVANCE:
            # The page is chosen by relevance and then put in order: the newest of all that fit a little would fit less.
            memories.sort(key=lambda memory: (memory.created_ms, memory.seq), reverse=wish.order is ResultOrder.NEWEST)
        scores = {found.memory.seq: found.score for found in answer.results}
        return LookupResults(tuple(memories), scores, answer.mode, answer.more, answer.notes)

    def _listed(self, wish: LookupRequest, wanted: Filter) -> LookupResults:
        order = RowOrder.OLDEST if wish.order is ResultOrder.OLDEST else RowOrder.NEWEST
        page = self._memories.page(wanted, PageRequest(wish.limit, order=order, offset=wish.offset))
        return LookupResults(page.items, {}, None, page.after is not None)

    def _stored(self, project: str) -> bool:
        """Whether there is anything of a project, of whatever kind."""
        return bool(self._memories.page(Filter(frozenset(Kind), project=project), PageRequest(1)).items)

    def file_labels(self, files: Sequence[str], project: str | None) -> tuple[frozenset[str], list[str]]:
        """The labels of files that are named by parts of their paths, and what is to be said about that."""
        beginnings = list(dict.fromkeys(each for part in files for each in label_beginnings(part)))
        begun = self._labels.beginning("file", beginnings, project=project, limit=MAX_LABELS)
        notes = []
        if not begun.whole:
            notes = [f"more than {MAX_LABELS} files are named so; only the first were looked at: name more of the path"]
        return frozenset(begun.values), notes


def _nothing(*notes: str) -> LookupResults:
    return LookupResults((), {}, None, notes=notes)
