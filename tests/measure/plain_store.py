"""A store that finds by shared words: enough to follow what is written, asked and judged."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext

from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Memory, MemoryDraft
from codexmem.kernel.model.search import SearchAnswer, SearchMode, SearchQuery, SearchResult, Unit


class PlainStore:
    def __init__(self) -> None:
        self.memories: list[Memory] = []
        self.searches: list[SearchQuery] = []
        self.by: set[WriteContext] = set()
        self.transactions = 0
        self.caught_up_at = -1

    def remember(self, draft: MemoryDraft, by: WriteContext) -> Memory:
        draft.check()
        self.by.add(by)
        memory = Memory(
            len(self.memories) + 1, draft.id or "", draft.kind, draft.state, 1, draft.origin,
            draft.created_ms or 0, draft.created_ms or 0, session=draft.session,
        )  # fmt: skip
        self.memories.append(memory)
        return memory

    def knows(self, id: str) -> bool:
        return any(memory.id == id for memory in self.memories)

    def together(self) -> AbstractContextManager[object]:
        self.transactions += 1
        return nullcontext()

    def catch_up(self) -> None:
        self.caught_up_at = len(self.memories)

    def search(self, search: SearchQuery) -> SearchAnswer:
        self.searches.append(search)
        asked = words(search.text)
        found = [
            SearchResult(memory, len(asked & words(memory.state.content)) / len(asked))
            for memory in self.memories
            if memory.state.project == search.filter.project
        ]
        found = sorted((each for each in found if each.score), key=lambda each: -each.score)
        if search.unit is Unit.SESSION:
            found = list({each.memory.session: each for each in reversed(found)}.values())[::-1]
        return SearchAnswer(tuple(found[: search.limit]), SearchMode.LEXICAL, {}, {})


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+|[一-鿿]", text.lower()))
