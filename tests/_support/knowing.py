"""The knowledge services on an opened store, wired as the product wires them."""

from __future__ import annotations

from pathlib import Path

from codexmem.kernel.events.log import Log
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.opened import Kernel
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.knowledge.service import Knowledge, build
from tests._support import services


def knowledge_on(
    db: Database, data_dir: Path, built: services.Services | None = None, clock: Clock | None = None
) -> Knowledge:
    """Everything the knowledge endpoint would be given."""
    built = built or services.build(db)
    return build(Kernel(
        db, clock or built.clock, data_dir, table=MemoryTable(db), memories=built.memories, history=built.history,
        receipts=built.receipts, log=Log(db, EventTable(db), LocalNotifier(), built.clock), search=built.recall.search,
        queue=services.queue_of(db, built.clock),
    ))  # fmt: skip


def tree_of(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder by its path: what files hold, None for folders."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def entries_of(knowledge: Knowledge) -> dict[str, str]:
    """What every visible entry says, by id."""
    return {memory.id: memory.state.content for memory in knowledge.entries.all()}
