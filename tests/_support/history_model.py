"""What the memory service promises, in the plainest Python: dictionaries, full scans, no database.

The stateful test drives this model and the real service side by side. The model is written from the documented rules,
not from the service's code: it keeps every version in a list and works everything out anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from codexmem.kernel.model.memory import Kind, State, Status


@dataclass
class Write:
    """One version as the model remembers it."""

    number: int
    state: State
    source: str | None
    delta: str | None


@dataclass
class ModelMemory:
    """A memory is its list of writes."""

    kind: Kind
    source: str | None
    session: str | None
    writes: list[Write]

    @property
    def state(self) -> State:
        return self.writes[-1].state

    @property
    def version(self) -> int:
        return self.writes[-1].number

    def add(self, state: State, source: str | None, delta: str | None) -> None:
        self.writes.append(Write(self.version + 1, state, source, delta))


@dataclass
class ModelDelta:
    """A named group, and whether it stands."""

    reverted: bool = False
    reverts: str | None = None


@dataclass
class Model:
    """The whole memory of one tenant."""

    memories: dict[int, ModelMemory] = field(default_factory=dict)
    deltas: dict[str, ModelDelta] = field(default_factory=dict)

    def owner(self, uri: str) -> int | None:
        """Who has this name now."""
        return next((seq for seq, memory in self.memories.items() if uri in memory.state.uris), None)

    def rollback(self, seq: int, number: int) -> State:
        """The state a rollback of one memory should leave."""
        memory = self.memories[seq]
        target = next(write.state for write in memory.writes if write.number == number)
        return replace(target, uris=memory.state.uris, links=memory.state.links)

    def undo(self, mine: dict[int, list[int]], *, strict: bool, delta: str) -> tuple[list[int], list[int]]:
        """Restore each memory to the state before the first of its numbered writes; returns restored and left."""
        targets: dict[int, State] = {}
        left: list[int] = []
        for seq, numbers in sorted(mine.items()):
            memory = self.memories[seq]
            earlier = [write.state for write in memory.writes if write.number < min(numbers)]
            target = earlier[-1] if earlier else replace(memory.state, status=Status.DELETED)
            if target == memory.state:
                continue
            others_since = any(number not in numbers for number in range(min(numbers), memory.version + 1))
            if others_since and not strict:
                left.append(seq)
            else:
                targets[seq] = target
        names = {uri: seq for seq, memory in self.memories.items() if seq not in targets for uri in memory.state.uris}
        for seq, target in targets.items():
            kept = tuple(uri for uri in target.uris if uri not in names)
            names.update(dict.fromkeys(kept, seq))
            self.memories[seq].add(replace(target, uris=kept), None, delta)
        return list(targets), left

    def written_by_delta(self, delta: str) -> dict[int, list[int]]:
        """Which versions carry this delta."""
        return self._written(lambda write: write.delta == delta)

    def written_by_source(self, source: str) -> dict[int, list[int]]:
        """Which versions this source wrote."""
        return self._written(lambda write: write.source == source)

    def _written(self, chosen: object) -> dict[int, list[int]]:
        assert callable(chosen)
        found = {s: [w.number for w in memory.writes if chosen(w)] for s, memory in self.memories.items()}
        return {seq: numbers for seq, numbers in found.items() if numbers}

    def forget_source(self, source: str, delta: str) -> int:
        """Erase what a source made, undo what it wrote elsewhere, and erase those versions."""
        made = [seq for seq, memory in self.memories.items() if memory.source == source]
        for seq in made:
            del self.memories[seq]
        self.undo(self.written_by_source(source), strict=True, delta=delta)
        for memory in self.memories.values():
            newest = memory.writes[-1]
            memory.writes = [w for w in memory.writes if w is newest or w.source != source]
        return len(made)
