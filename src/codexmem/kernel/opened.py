"""What every room is built from: the shared parts of one open store."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codexmem.kernel.events.log import Log
from codexmem.kernel.jobs.queue import Queue
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.search import SearchAnswer, SearchQuery
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable


@dataclass(frozen=True, slots=True)
class Kernel:
    """One open store."""

    db: Database
    clock: Clock
    data_dir: Path
    table: MemoryTable
    memories: Memories
    history: History
    receipts: Receipts
    log: Log
    queue: Queue
    search: Callable[[SearchQuery], SearchAnswer]
    may_spend: Callable[[int], bool] = lambda _: True  # whether a call of so many tokens is allowed
    spent: Callable[[int], object] = lambda _: None  # told how many tokens a call has cost
