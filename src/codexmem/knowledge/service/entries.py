"""Entries of the knowledge base: adding, finding, hiding, showing.

An entry is a memory of the kind knowledge: its content, a summary and tags. What is private or secret is taken out on
the way in. Deleting hides; the history stays and a rollback brings an entry back.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from codexmem.kernel.model import privacy, redaction
from codexmem.kernel.model.attrs import KnowledgeAttrs
from codexmem.kernel.model.errors import InvalidArgument, NotFound
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.memory import MAX_TITLE, Kind, Memory, MemoryDraft, State, Status
from codexmem.kernel.model.query import Filter, Id, PageRequest, RowOrder
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.services.memories import Memories
from codexmem.knowledge.model import MAX_SUMMARY, MAX_TAGS

KINDS = frozenset({Kind.KNOWLEDGE})
_AT_ONCE = 20  # whole entries read together: each may be large


class Entries:
    """The verbs on entries."""

    def __init__(self, memories: Memories, search: Callable[[SearchQuery], SearchAnswer]) -> None:
        self._memories = memories
        self._search = search

    def add(self, content: str, summary: str, tags: Sequence[str], by: WriteContext) -> Memory:
        """Remember an entry without what is private or secret in it."""
        content, summary = _cleaned(content, "content"), _cleaned(summary, "summary").strip()
        if len(summary) > MAX_SUMMARY:
            raise InvalidArgument(f"summary is longer than {MAX_SUMMARY:,} characters", hint="put it into content")
        labels = tuple(dict.fromkeys(label for tag in tags if (label := redaction.redact(tag).strip())))
        if len(labels) > MAX_TAGS:
            raise InvalidArgument(f"tags: at most {MAX_TAGS} are kept")
        title = " ".join(summary.split())[:MAX_TITLE]
        state = State(content, KnowledgeAttrs(summary, labels), title=title)
        return self._memories.remember(MemoryDraft(Kind.KNOWLEDGE, state, by.origin), by)

    def find(self, query: str, limit: int) -> list[Memory]:
        """The entries that fit best by words and meaning, best first."""
        return [found.memory for found in self._search(SearchQuery(query, Filter(KINDS), limit=limit)).results]

    def containing(self, query: str, limit: int) -> tuple[list[Memory], bool]:
        """The entries that contain all words of the query, best first, and whether there are more."""
        answer = self._search(SearchQuery(query, Filter(KINDS), limit=limit, every_word=True))
        return [found.memory for found in answer.results], answer.more

    def delete(self, kb_id: str, by: WriteContext) -> Memory:
        """Hide an entry; one that is hidden already is not there."""

        def hidden(state: State) -> State:
            if state.status is Status.DELETED:
                raise _missing(kb_id)
            return replace(state, status=Status.DELETED)

        try:
            return self._memories.change(Id(kb_id), KINDS, hidden, by, op=Op.DELETE)
        except NotFound:
            raise _missing(kb_id) from None

    def all(self) -> Iterator[Memory]:
        """Every entry in use, the oldest first; some at a time."""
        page = PageRequest(_AT_ONCE, order=RowOrder.OLDEST)
        while True:
            found = self._memories.page(Filter(KINDS), page)
            yield from found.items
            if found.after is None:
                return
            page = replace(page, after=found.after)

    def readable(self) -> bool:
        """Whether the knowledge base answers; raises nothing that a status should tell."""
        try:
            self._memories.page(Filter(KINDS), PageRequest(1))
        except Exception:
            return False
        return True


def _cleaned(text: str, name: str) -> str:
    kept = redaction.redact(privacy.strip(text))
    if not kept.strip():
        hint = "all of it was marked as private, so nothing is left" if text.strip() else None
        raise InvalidArgument(f"{name} must not be empty", hint=hint)
    return kept


def _missing(kb_id: str) -> NotFound:
    return NotFound(
        f"knowledge entry {kb_id[:100]!r} not found", hint="memory_query and memory_dump return ids",
        details={"reason": "no_entry", "id": kb_id[:100]},
    )  # fmt: skip
