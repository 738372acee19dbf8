"""An item as it stands now: its memory, how far it is believed, and which others contradict it.

However many items are looked at together, that is two queries more than reading them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from codexmem.domain.errors import NotFound
from codexmem.domain.ids import Clock
from codexmem.domain.memory import Memory, Status
from codexmem.domain.qa import belief
from codexmem.domain.qa.belief import Belief
from codexmem.domain.qa.items import CONTRADICTS, KINDS, MERGED_INTO, OFFERED, linked
from codexmem.domain.query import Id
from codexmem.services.memories import Memories
from codexmem.store.beliefs import Beliefs


@dataclass(frozen=True, slots=True)
class Item:
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


class Views:
    """Reads items of the acting tenant."""

    def __init__(self, memories: Memories, beliefs: Beliefs, clock: Clock) -> None:
        self._memories = memories
        self._beliefs = beliefs
        self._clock = clock

    def of(self, memories: Sequence[Memory]) -> list[Item]:
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
            items.append(Item(memory, sure, standing, into[-1] if into else None))
        return items

    def one(self, memory: Memory, score: float | None = None) -> Item:
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
    return NotFound(
        f"{qa_id[:100]!r} is no question with an answer in this project", hint="POST /v1/qa/search tells ids"
    )
