"""The knowledge base and task workspaces: entries to add and find, folders to work in, and both as one snapshot."""

import logging
from dataclasses import dataclass

from codexmem import __version__
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.opened import Kernel
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.store.database import acting_as
from codexmem.kernel.store.whole_memories import WholeMemories
from codexmem.knowledge.service.entries import Entries
from codexmem.knowledge.service.snapshots import EntryRecords, Snapshots, committed_by
from codexmem.knowledge.service.workspace_root import WorkspaceRoot
from codexmem.knowledge.service.workspaces import Workspaces

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything the ten verbs ask for; each acts for the acting tenant."""

    entries: Entries
    workspaces: Workspaces
    snapshots: Snapshots
    receipts: Receipts


def build(kernel: Kernel) -> Knowledge:
    """The services on an open store; restores that were interrupted are settled before anybody looks."""
    db, table, history, log = kernel.db, kernel.table, kernel.history, kernel.log.append
    workspace_root = WorkspaceRoot(
        kernel.data_dir, db.acting_tenant, committed_by(db, table, history), shared=db.engine.ambient_tenant is None
    )
    records = EntryRecords(kernel.memories, WholeMemories(db))
    _settle(workspace_root)
    return Knowledge(
        entries=Entries(kernel.memories, kernel.search),
        workspaces=Workspaces(workspace_root, log),
        snapshots=Snapshots(db, history, table, records, workspace_root, log, kernel.clock, version=__version__),
        receipts=kernel.receipts,
    )


def _settle(workspace_root: WorkspaceRoot) -> None:
    """Finish or drop restores that were interrupted; one that cannot be settled now is tried again when it is used."""
    for tenant in workspace_root.pending():
        try:
            with acting_as(tenant):
                workspace_root.settle()
        except CodexmemError as error:
            _log.warning("an interrupted restore cannot be settled yet: %s", error.message)
