"""A commit that nearly fits is told where it is clearly ahead of everything else, and only a commit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from codexmem.kernel.model.attrs import ObservationAttrs
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, Origin, State
from codexmem.kernel.model.query import Filter
from codexmem.kernel.model.search import Floor, SearchQuery, SearchResult
from codexmem.recall.earlier_sessions import EarlierSessions
from tests._support import services

PROMPT = "the upstream rate limit is crossed because our retrier repeats failed requests past the attempt budget"


@dataclass
class Found:
    """Stands in for the search: nothing clearly fits, and this is what nearly does."""

    results: list[SearchResult]
    floor: Floor = Floor.AHEAD

    def search(self, query: SearchQuery) -> Any:
        return replace(self, results=[], floor=query.floor) if query.or_else is None else self


def told(results: list[SearchResult], prompt: str = PROMPT) -> list[SearchResult]:
    earlier = EarlierSessions(cast(Any, None), cast(Any, Found(results)), cast(Any, None))
    return earlier.found(prompt, Filter(frozenset(Kind)))


@pytest.fixture
def memories(database: Any) -> tuple[Memory, Memory]:
    base = services.build(database)

    def kept(imported: str) -> Memory:
        state = State("seven attempts", ObservationAttrs(imported=imported), project="shop", title="cap")
        return base.memories.remember(MemoryDraft(Kind.OBSERVATION, state, Origin.IMPORT), WriteContext("test"))

    return kept("git:0123456789ab"), kept("claude-mem:7")


def test_only_a_commit_that_is_clearly_ahead_is_told(memories: tuple[Memory, Memory]) -> None:
    commit, other = memories
    first, next_one = SearchResult(commit, 0.20, relevance=0.45), SearchResult(other, 0.05, relevance=0.2)
    assert told([first, next_one]) == [first]
    assert told([first, replace(next_one, score=0.07)]) == []  # another is nearly as good
    assert told([replace(first, relevance=0.35), next_one]) == []  # too little speaks for it
    assert told([replace(first, memory=other), replace(next_one, memory=commit)]) == []
    assert told([first]) == []  # nothing to be ahead of
    assert told([first, next_one], "limits us again") == []  # says too little
