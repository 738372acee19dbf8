"""Reading notes: one with its company and recent history, its versions, and what bringing one back would change."""

from dataclasses import dataclass, replace

from codexmem.domain import note
from codexmem.domain.history import Version
from codexmem.domain.memory import Memory
from codexmem.domain.note import NOTES
from codexmem.domain.query import Seq
from codexmem.services.history import Diff, History
from codexmem.services.memories import Memories
from codexmem.services.notes.finding import Desk, Relation

MAX_VERSIONS = 100
_RECENT = 5  # versions that are shown with a note


@dataclass(frozen=True, slots=True)
class Read:
    """A note, as whoever opens it wants to see it."""

    memory: Memory
    versions: tuple[Version, ...]  # the latest first
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """Versions of a note, the latest first."""

    memory: Memory
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A version that can be brought back, and what that would change."""

    version: Version
    changes: tuple[str, ...]


class Reading:
    """The verbs that read one note."""

    def __init__(self, memories: Memories, history: History, desk: Desk) -> None:
        self._memories = memories
        self._history = history
        self._desk = desk

    def read(self, uri: str) -> Read:
        """The note at this address; counts as a use of it."""
        memory = self._desk.standing(uri)
        self._memories.count([memory.seq], used=1)
        used = replace(memory.counters, used=memory.counters.used + 1)
        versions = self._history.versions(Seq(memory.seq), NOTES, limit=_RECENT)
        return Read(replace(memory, counters=used), tuple(versions), tuple(self._desk.relations(memory)))

    def versions(self, uri: str, *, limit: int) -> Past:
        """Its history, of a deleted note too."""
        memory = self._desk.there(uri)
        return Past(memory, tuple(self._history.versions(Seq(memory.seq), NOTES, limit=limit)))

    def diff(self, uri: str, before: int, after: int) -> Diff:
        """Two of its versions side by side."""
        return self._history.diff(Seq(self._desk.there(uri).seq), NOTES, before, after)

    def ways_back(self, uri: str, *, limit: int) -> tuple[Memory, list[Way]]:
        """Its earlier versions, each with what bringing it back would change now."""
        memory = self._desk.there(uri)
        versions = self._history.versions(Seq(memory.seq), NOTES, limit=limit, below=memory.version)
        return memory, [Way(each, tuple(note.differences(memory.state, each.state))) for each in versions]
