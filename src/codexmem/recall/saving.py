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
from codexmem.kernel.model.visibility import Visibility, present_viewer
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
        viewer = present_viewer()
        is_private = (draft.visibility or viewer.writes) is Visibility.MINE
        own = _id_of(draft.state, viewer.owner if is_private else "")
        with self._db.transaction():
            self._table.hold(own)
            with audience.everyone():  # an id is taken for everyone
                earlier = self._table.find(Id(own), frozenset({draft.kind}))
            if earlier is None and self._table.is_taken(own):
                return SavedMemory(
                    self._memories.remember(draft, by), duplicate=False
                )  # by what somebody keeps private
            if earlier is None:
                return SavedMemory(self._memories.remember(replace(draft, id=own), by), duplicate=False)
            same = own in _ids_of(earlier) and (earlier.state.visibility is Visibility.MINE) is is_private
            if earlier.state.status in VISIBLE and same:
                return SavedMemory(earlier, duplicate=True)
            return SavedMemory(self._memories.remember(draft, by), duplicate=False)


def _cleaned(state: State) -> State:
    content = redaction.redact(privacy.strip(state.content))
    if not content.strip():
        raise InvalidArgument(
            "text is required and must be non-empty", hint="all of it was marked as private, so nothing is left"
        )
    return replace(state, content=content, title=redaction.redact(privacy.strip(state.title)).strip())


def _ids_of(memory: Memory) -> tuple[str, str]:
    """What it would be called if it were saved now, as its owner's own and as the project's."""
    return _id_of(memory.state, memory.owner or ""), _id_of(memory.state, "")


def _id_of(state: State, owner: str) -> str:
    # With its owner, if it is private: others may save the same words, and must not learn that somebody did.
    parts = (state.project, state.title, state.content.strip(), *((owner,) if owner else ()))
    spelled = "".join(f"{len(part)}:{part}" for part in parts)
    return "manual-" + hashlib.blake2b(spelled.encode(), digest_size=16).hexdigest()
