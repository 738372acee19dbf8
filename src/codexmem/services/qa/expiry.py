"""Letting items expire that nobody speaks for any more: some at a time, the longest due first.

Every item has a day on which to look at it, kept beside what was learned about it and indexed, so that a call reads
what is due and nothing else. A call may be interrupted and repeated. All that one call expires is one delta.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codexmem.domain.history import By
from codexmem.domain.ids import Clock
from codexmem.domain.memory import Memory, Status
from codexmem.domain.qa.items import BATCH, CANDIDATE_MS, KINDS, expires_ms
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.qa.lifecycle import Lifecycle
from codexmem.store.beliefs import Beliefs, Learned
from codexmem.store.database import Database

_AT_ONCE = 100  # items in one transaction: other writers wait behind it


@dataclass(frozen=True, slots=True)
class Expired:
    """What one call did."""

    expired: int
    remaining: bool  # whether more are due
    delta: str | None  # take it back to have them as they were; None: nothing expired


class Expiry:
    """Expires items of the acting tenant."""

    def __init__(self, db: Database, memories: Memories, history: History, beliefs: Beliefs, lifecycle: Lifecycle,
                 clock: Clock) -> None:  # fmt: skip
        self._db = db
        self._memories = memories
        self._history = history
        self._beliefs = beliefs
        self._lifecycle = lifecycle
        self._clock = clock

    def expire(self, by: By, *, batch_size: int = BATCH) -> Expired:
        """Look at so many items that are due, and expire those whose time is over."""
        now, left, expired, delta = self._clock.now_ms(), batch_size, 0, None
        while left > 0 and (seqs := self._beliefs.due(now, min(left, _AT_ONCE))):
            with self._db.transaction():
                gone = self._over(seqs, now)
                if gone and delta is None:
                    delta = self._history.open_delta("qa:expiry", "expire", by).id
                for memory in gone:
                    self._lifecycle.move(memory, Status.EXPIRED, replace(by, delta=delta), cause="expire")
            expired += len(gone)
            left -= len(seqs)
        return Expired(expired, bool(self._beliefs.due(now, 1)), delta)

    def _over(self, seqs: Sequence[int], now: int) -> list[Memory]:
        """Those whose time is over; every one of these has another day to be looked at, or none."""
        there = self._memories.many(seqs, KINDS)  # what was forgotten since is gone with its row
        held = self._beliefs.hold({seq: memory.created_ms for seq, memory in there.items()})
        gone: list[Memory] = []
        for seq, memory in self._memories.many(held, KINDS).items():
            learned = held[seq]
            due = expires_ms(memory.state.status, learned.spoken_ms)
            if due is not None and due <= now:
                gone.append(memory)
                # Whoever takes this back gets as much time again.
                due = now + CANDIDATE_MS
            self._put(seq, learned, due)
        return gone

    def _put(self, seq: int, learned: Learned, due: int | None) -> None:
        if learned.due_ms != due:
            self._beliefs.put(seq, replace(learned, due_ms=due))
