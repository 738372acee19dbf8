"""What evidence does to an item: it is learned, and where it moves the item, the move is a version in a delta.

Whoever calls these holds the item's belief from before it was read to the end of the transaction.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from codexmem.domain.event import EventType, NewEvent
from codexmem.domain.history import By
from codexmem.domain.ids import Clock
from codexmem.domain.memory import Memory, State, Status
from codexmem.domain.qa import belief
from codexmem.domain.qa.belief import Signal
from codexmem.domain.qa.items import KINDS, expires_ms
from codexmem.domain.query import Seq
from codexmem.events.log import Log
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.store.beliefs import Beliefs, Learned

_FOR = frozenset({Signal.USED, Signal.CONFIRMED})


@dataclass(frozen=True, slots=True)
class Evidence:
    """One signal to learn from."""

    signal: Signal
    strength: float = 1.0
    at_ms: int | None = None  # when it was given; now, unless it is brought along


class Lifecycle:
    """Moves items of the acting tenant."""

    def __init__(self, memories: Memories, history: History, beliefs: Beliefs, log: Log, clock: Clock) -> None:
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._log = log
        self._clock = clock

    def learn(self, learned: Learned, evidence: Iterable[Evidence]) -> Learned:
        """What is known after these signals; nothing is written."""
        now = self._clock.now_ms()
        for each in evidence:
            at_ms = now if each.at_ms is None else min(each.at_ms, now)
            known = belief.learn(learned.belief, each.signal, strength=each.strength, now_ms=at_ms)
            spoken = max(learned.spoken_ms, at_ms) if each.signal in _FOR else learned.spoken_ms
            learned = replace(learned, belief=known, spoken_ms=spoken)
        return learned

    def standing(self, memory: Memory, learned: Learned) -> Status:
        """Where evidence alone puts it."""
        return belief.standing(
            memory.state.status, learned.belief, prior=memory.state.confidence, now_ms=self._clock.now_ms()
        )

    def settle(self, memory: Memory, learned: Learned, status: Status, by: By, *, cause: str) -> Memory:
        """Keep what was learned and where the item now stands; a move is a version of its own delta."""
        if status is not memory.state.status:
            memory = self.move(memory, status, by, cause=cause)
        self._beliefs.put(memory.seq, replace(learned, due_ms=expires_ms(status, learned.spoken_ms)))
        return memory

    def move(self, memory: Memory, status: Status, by: By, *, cause: str) -> Memory:
        """Give it another status."""
        delta = by.delta or self._history.open_delta(f"qa:{memory.id}", cause, by).id
        note = by.note or f"{memory.state.status} to {status}: {cause}"

        def moved(state: State) -> State:
            return replace(state, status=status)

        return self._memories.change(Seq(memory.seq), KINDS, moved, replace(by, delta=delta, note=note))

    def tell(self, memory: Memory, signals: Iterable[str], by: By, **facts: object) -> None:
        """Log what was reported about an item; facts that are empty are left out."""
        said = {name: fact for name, fact in facts.items() if fact not in (None, "")}
        payload = {"signals": list(signals), "actor": by.actor, **said}
        self._log.append(NewEvent(EventType.QA_SIGNAL, f"memory:{memory.seq}", payload, memory.state.project))
