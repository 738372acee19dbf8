"""The knowledge services on an opened store, wired as the product wires them."""

from __future__ import annotations

from pathlib import Path

from codexmem.app.knowing import knowledge_of
from codexmem.domain.ids import Clock
from codexmem.events.log import Log
from codexmem.services.knowledge import Knowledge
from codexmem.store.bell import LocalBell
from codexmem.store.database import Database
from codexmem.store.events import Events
from codexmem.store.memories import Memories as Table
from tests._support import services


def knowledge_on(
    db: Database, data_dir: Path, built: services.Services | None = None, clock: Clock | None = None
) -> Knowledge:
    """Everything the knowledge door would be given."""
    built = built or services.build(db)
    return knowledge_of(
        db, data_dir, clock or built.clock, table=Table(db), memories=built.memories, history=built.history,
        search=built.recall.search, book=Log(db, Events(db), LocalBell(), built.clock),
    )  # fmt: skip


def tree_of(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder by its path: what files hold, None for folders."""
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def entries_of(knowledge: Knowledge) -> dict[str, str]:
    """What every visible entry says, by id."""
    return {memory.id: memory.state.content for memory in knowledge.entries.all()}
