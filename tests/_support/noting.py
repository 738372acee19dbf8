"""The verbs on notes of an opened store, wired as the product wires them."""

from __future__ import annotations

from pathlib import Path

from codexmem.kernel.events.log import Log
from codexmem.kernel.opened import Kernel
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.events import EventTable
from codexmem.kernel.store.memories import MemoryTable
from codexmem.kernel.store.notify import LocalNotifier
from codexmem.notes.service import NoteService, build
from tests._support.services import Services, queue_of


def notes_on(db: Database, built: Services) -> NoteService:
    """Everything that routes and tools would be given."""
    return build(Kernel(
        db, built.clock, Path(), table=MemoryTable(db), memories=built.memories, history=built.history,
        receipts=built.receipts, log=Log(db, EventTable(db), LocalNotifier(), built.clock), search=built.recall.search,
        queue=queue_of(db, built.clock),
    ))  # fmt: skip
