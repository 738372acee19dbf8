"""The services on an opened store, wired as the product wires them, with a clock that tests move."""

from __future__ import annotations

from dataclasses import dataclass

from codexmem.events.log import Log
from codexmem.services.history import History
from codexmem.services.memories import Memories
from codexmem.services.receipts import Receipts
from codexmem.store.bell import LocalBell
from codexmem.store.database import Database
from codexmem.store.events import Events
from codexmem.store.history import Versions
from codexmem.store.index import NullTextIndex, NullVectorIndex
from codexmem.store.listing import Lists
from codexmem.store.memories import Memories as MemoryTable
from codexmem.store.receipts import Receipts as ReceiptTable


class StepClock:
    """Goes forward by one millisecond at each look, and by more when told."""

    def __init__(self, start_ms: int = 1_800_000_000_000) -> None:
        self._now = start_ms

    def now_ms(self) -> int:
        """One later than the last time."""
        self._now += 1
        return self._now

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self._now += ms


@dataclass(frozen=True)
class Services:
    """What a surface would be given."""

    memories: Memories
    history: History
    receipts: Receipts
    events: Events
    clock: StepClock


def build(db: Database) -> Services:
    """Wire the services on this store."""
    clock = StepClock()
    table, lists, versions = MemoryTable(db), Lists(db), Versions(db)
    events, receipts = Events(db), ReceiptTable(db)
    text, vectors = NullTextIndex(), NullVectorIndex()
    log = Log(db, events, LocalBell(), clock)
    memories = Memories(db, table, lists, versions, text, log, clock)
    history = History(db, memories, table, versions, receipts, text, vectors, log, clock)
    return Services(memories, history, Receipts(db, receipts, clock), events, clock)
