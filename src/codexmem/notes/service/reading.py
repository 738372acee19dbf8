"""Reading notes: one with its company and recent history, its versions, and what bringing one back would change."""

from dataclasses import dataclass, replace

from codexmem.kernel.model import note
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.history import MemoryVersion, rolled_back, unified_diff
from codexmem.kernel.model.memory import Memory, Status
from codexmem.kernel.model.note import NOTES
from codexmem.kernel.model.query import Seq
from codexmem.kernel.services.history import Diff, History
from codexmem.kernel.services.memories import Memories
from codexmem.notes.service.resolver import NoteResolver, Relation

_RECENT = 5  # versions that are shown with a note


@dataclass(frozen=True, slots=True)
class OpenedNote:
    """A note, as whoever opens it wants to see it."""

    memory: Memory
    versions: tuple[MemoryVersion, ...]  # the latest first
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class NoteHistory:
    """Versions of a note, the latest first."""

    memory: Memory
    versions: tuple[MemoryVersion, ...]


@dataclass(frozen=True, slots=True)
class RestorableVersion:
    """A version that can be brought back, and what that would change."""

    version: MemoryVersion
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InspectedNote:
    """A note, deleted or not, as whoever looks after it wants to see it."""

    memory: Memory
    first: MemoryVersion | None  # None where it is kept no longer
    last: MemoryVersion | None
    relations: tuple[Relation, ...]
    restorable: int | None  # of a deleted one, the version that would stand again


@dataclass(frozen=True, slots=True)
class WayBack:
    """What bringing one version back would change."""

    memory: Memory
    now: MemoryVersion
    then: MemoryVersion  # as it would stand: under the addresses it has now
    unified: str


class NoteReader:
    """The verbs that read one note."""

    def __init__(self, memories: Memories, history: History, desk: NoteResolver) -> None:
        self._memories = memories
        self._history = history
        self._desk = desk

    def read(self, uri: str) -> OpenedNote:
        """The note at this address; counts as a use of it."""
        memory = self._desk.standing(uri)
        self._memories.count_reading([memory.seq], used=1)
        used = replace(memory.counters, used=memory.counters.used + 1)
        versions = self._history.versions(Seq(memory.seq), NOTES, limit=_RECENT)
        return OpenedNote(replace(memory, counters=used), tuple(versions), tuple(self._desk.relations(memory)))

    def look(self, uri: str) -> InspectedNote:
        """The note at this address, deleted or not; it counts as no use of it."""
        return self.seen(self._desk.there(uri))

    def anew(self, memory: Memory) -> InspectedNote:
        """A note that was just written, as it stands now."""
        return self.seen(self._memories.get(Seq(memory.seq), NOTES))

    def seen(self, memory: Memory) -> InspectedNote:
        """A note with its company."""
        deleted = memory.state.status is Status.DELETED
        last = self._history.versions(Seq(memory.seq), NOTES, limit=1)
        return InspectedNote(
            memory, self._first(memory), last[0] if last else None, tuple(self._desk.relations(memory)),
            self._desk.restorable(memory) if deleted else None,
        )  # fmt: skip

    def versions(self, uri: str, *, limit: int, below: int | None = None) -> NoteHistory:
        """Its history, of a deleted note too."""
        memory = self._desk.there(uri)
        return NoteHistory(memory, tuple(self._history.versions(Seq(memory.seq), NOTES, limit=limit, below=below)))

    def version(self, uri: str, version: int) -> MemoryVersion:
        """One of its versions."""
        return self._history.version(Seq(self._desk.there(uri).seq), NOTES, version)

    def diff(self, uri: str, before: int, after: int) -> Diff:
        """Two of its versions side by side."""
        return self._history.diff(Seq(self._desk.there(uri).seq), NOTES, before, after)

    def ways_back(self, uri: str, *, limit: int) -> tuple[Memory, list[RestorableVersion]]:
        """Its earlier versions, each with what bringing it back would change now."""
        memory = self._desk.there(uri)
        versions = self._history.versions(Seq(memory.seq), NOTES, limit=limit, below=memory.version)
        return memory, [RestorableVersion(each, tuple(self._changes(memory, each))) for each in versions]

    def way_back(self, uri: str, version: int) -> WayBack:
        """What bringing this version back would change now."""
        memory = self._desk.there(uri)
        now = self._history.version(Seq(memory.seq), NOTES, memory.version)
        then = self._history.version(Seq(memory.seq), NOTES, version)
        unified = unified_diff(now.state.content, then.state.content, f"version {now.version}", f"version {version}")
        return WayBack(memory, now, replace(then, state=rolled_back(memory.state, then.state)), unified)

    @staticmethod
    def _changes(memory: Memory, version: MemoryVersion) -> list[str]:
        return note.differences(memory.state, rolled_back(memory.state, version.state))

    def _first(self, memory: Memory) -> MemoryVersion | None:
        try:
            return self._history.version(Seq(memory.seq), NOTES, 1)
        except NotFound:
            return None
