"""The knowledge base and workspaces, put together from the parts of an open store."""

import logging
from collections.abc import Callable
from pathlib import Path

from codexmem import __version__
from codexmem.domain.errors import CodexmemError
from codexmem.domain.ids import Clock
from codexmem.domain.search import Answer, Search
from codexmem.events.log import Log
from codexmem.services.history import History
from codexmem.services.knowledge import Knowledge
from codexmem.services.knowledge.applying import Applying
from codexmem.services.knowledge.entries import Entries
from codexmem.services.knowledge.grounds import Grounds
from codexmem.services.knowledge.snapshots import Snapshots, committed_by
from codexmem.services.knowledge.workspaces import Workspaces
from codexmem.services.memories import Memories
from codexmem.store.database import Database, acting_as
from codexmem.store.memories import Memories as Table
from codexmem.store.whole_memories import WholeMemories

log = logging.getLogger(__name__)


def knowledge_of(db: Database, data_dir: Path, clock: Clock, *, table: Table, memories: Memories, history: History,
                 search: Callable[[Search], Answer], book: Log) -> Knowledge:  # fmt: skip
    """Everything the knowledge door asks for; restores that were interrupted are settled before anybody looks."""
    grounds = Grounds(
        data_dir, db.acting_tenant, committed_by(db, table, history), shared=db.engine.ambient_tenant is None
    )
    applying = Applying(memories, WholeMemories(db))
    settle(grounds)
    return Knowledge(
        Entries(memories, search),
        Workspaces(grounds, book.append),
        Snapshots(db, history, table, applying, grounds, book.append, clock, version=__version__),
    )


def settle(grounds: Grounds) -> None:
    """Finish or drop restores that were interrupted; one that cannot be settled now is tried again when it is used."""
    for tenant in grounds.pending():
        try:
            with acting_as(tenant):
                grounds.settle()
        except CodexmemError as error:
            log.warning("an interrupted restore cannot be settled yet: %s", error.message)
