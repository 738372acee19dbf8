"""Saving a memory by hand, once: the same text and title in the same project is the memory that is already there.

The id of such a memory is made from what it says, so the index of ids finds the earlier one at once. A memory that was
changed or deleted since no longer says that, so the text is saved anew.
"""

import hashlib
from dataclasses import dataclass, replace

from codexmem.kernel.model import audience, privacy, redaction
from codexmem.kernel.model.errors import InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import VISIBLE, Memory, MemoryDraft, State
from codexmem.kernel.model.query import Id
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.memories import MemoryTable


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """The memory, and whether it was there already."""

    memory: Memory
    duplicate: bool


class Saving:
    """Writes what somebody wants to be remembered."""

    def __init__(self, db: Database, table: MemoryTable, memories: Memories) -> None:
        self._db = db
        self._table = table
        self._memories = memories

    def save(self, draft: MemoryDraft, by: WriteContext) -> SavedMemory:
        """Remember the draft without what is private or secret in it."""
        draft = replace(draft, state=_cleaned(draft.state))
        own = _id_of(draft.state)
        with self._db.transaction():
            self._table.hold(own)
            with audience.everyone():  # an id is taken for everyone
                earlier = self._table.find(Id(own), frozenset({draft.kind}))
            if earlier is None:
                return SavedMemory(self._memories.remember(replace(draft, id=own), by), duplicate=False)
            if earlier.state.status in VISIBLE and _id_of(earlier.state) == own:
                return SavedMemory(earlier, duplicate=True)
            return SavedMemory(self._memories.remember(draft, by), duplicate=False)


def _cleaned(state: State) -> State:
    content = redaction.redact(privacy.strip(state.content))
    if not content.strip():
        raise InvalidArgument(
            "text is required and must be non-empty", hint="all of it was marked as private, so nothing is left"
        )
    return replace(state, content=content, title=redaction.redact(privacy.strip(state.title)).strip())


def _id_of(state: State) -> str:
    parts = (state.project, state.title, state.content.strip())
    spelled = "".join(f"{len(part)}:{part}" for part in parts)
    return "manual-" + hashlib.blake2b(spelled.encode(), digest_size=16).hexdigest()
