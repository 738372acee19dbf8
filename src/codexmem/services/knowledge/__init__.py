"""The knowledge base and task workspaces: entries to add and find, folders to work in, and both as one snapshot."""

from dataclasses import dataclass

from codexmem.services.knowledge.entries import Entries
from codexmem.services.knowledge.snapshots import Snapshots
from codexmem.services.knowledge.workspaces import Workspaces


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything the knowledge door asks for; every verb acts for the acting tenant."""

    entries: Entries
    workspaces: Workspaces
    snapshots: Snapshots
