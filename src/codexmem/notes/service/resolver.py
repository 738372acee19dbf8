"""Finding notes: one by its address, many by words or labels, and what each is connected with.

A mention is a label of the note that makes it, so both directions are looked up in an index and nothing has to be kept
in step: a mention becomes a link when something is created at its address, and is a mention again when that is erased.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codexmem.kernel.model import address, note
from codexmem.kernel.model.errors import NotFound
from codexmem.kernel.model.memory import Memory, Status
from codexmem.kernel.model.mentions import mention_label
from codexmem.kernel.model.note import NOTES
from codexmem.kernel.model.query import Seq, Uri
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories
from codexmem.kernel.store.note_queries import Noted
from codexmem.notes.model import Direction

MAX_RELATIONS = 50  # in each direction
_NUMBER = re.compile("#[0-9]{1,18}")
_LOOKED = 10  # versions that are looked through for one to bring back


@dataclass(frozen=True, slots=True)
class Relation:
    """Another note, or an address that names nothing yet, and how it is connected."""

    relation: str
    direction: Direction
    uri: str
    memory: Memory | None = None


class NoteResolver:
    """Looks notes up by address."""

    def __init__(self, memories: Memories, history: History, noted: Noted) -> None:
        self._memories = memories
        self._history = history
        self._noted = noted

    @staticmethod
    def spelled(uri: str) -> str:
        """The normal spelling of an address that can name a note, or of a number: all addresses may be lost."""
        return uri.strip() if _NUMBER.fullmatch(uri.strip()) else address.writable(uri)

    def find(self, uri: str) -> Memory | None:
        """The note at this address, deleted or not; None where there is none."""
        name = self.spelled(uri)
        try:
            return self._memories.get(Seq(int(name[1:])) if name.startswith("#") else Uri(name), NOTES)
        except NotFound:
            return None

    def there(self, uri: str) -> Memory:
        """The note at this address, deleted or not."""
        memory = self.find(uri)
        if memory is None:
            raise NotFound(
                f"there is no memory at {self.spelled(uri)}",
                hint="search_memory finds by words, read_memory of system://index lists what there is",
                details={"reason": "no_note", "uri": self.spelled(uri)},
            )
        return memory

    def standing(self, uri: str) -> Memory:
        """The note at this address, which must not be deleted."""
        memory = self.there(uri)
        if memory.state.status is Status.DELETED:
            version = self.restorable(memory)
            call = f"rollback_memory(uri={self.spelled(uri)!r}, version={version})"
            raise NotFound(
                f"{self.spelled(uri)} was deleted", hint=f"{call} brings it back" if version else None,
                details={"reason": "note_deleted", "uri": self.spelled(uri), "version": version},
            )  # fmt: skip
        return memory

    def restorable(self, memory: Memory) -> int | None:
        """The newest version in which the note stood."""
        versions = self._history.versions(Seq(memory.seq), NOTES, limit=_LOOKED)
        return next((each.version for each in versions if each.state.status is not Status.DELETED), None)

    def relations(self, memory: Memory) -> list[Relation]:
        """What the note points to and what points to it."""
        found = [*self._mentioned(memory), *self._mentioning(memory), *self._linked(memory)]
        return list(dict.fromkeys(found))

    def _mentioned(self, memory: Memory) -> Iterable[Relation]:
        wanted = note.mentioned_by(memory.state)
        owners = self._noted.owners(wanted) if wanted else {}
        notes = self._memories.many(owners.values(), NOTES)
        known = [uri for uri in wanted if owners.get(uri) in notes]
        for uri in wanted:
            if owners.get(uri) == memory.seq:
                continue
            # Of two readings of one place, the one that names something was meant.
            if uri in known:
                yield Relation("mentions", Direction.TO, uri, notes[owners[uri]])
            elif not any(uri.startswith(other) or other.startswith(uri) for other in known):
                yield Relation("mentions", Direction.TO, uri)

    def _mentioning(self, memory: Memory) -> Iterable[Relation]:
        if not memory.state.uris:
            return
        labels = [mention_label(uri) for uri in memory.state.uris]
        seqs = [seq for _, seq in self._noted.labelled("mention", labels, MAX_RELATIONS)][:MAX_RELATIONS]
        for other in self._memories.many(seqs, NOTES).values():
            if other.seq != memory.seq and other.state.status is not Status.DELETED:
                yield Relation("mentions", Direction.FROM, note.primary(other), other)

    def _linked(self, memory: Memory) -> Iterable[Relation]:
        links = [(relation, seq, Direction.TO) for relation, seq in memory.state.links[:MAX_RELATIONS]]
        pointing = self._memories.linked_to(memory.seq, limit=MAX_RELATIONS)
        links += [(relation, seq, Direction.FROM) for relation, seq in pointing]
        notes = self._memories.many((seq for _, seq, _ in links), NOTES)
        for relation, seq, direction in links:
            if seq in notes and notes[seq].state.status is not Status.DELETED:
                yield Relation(relation, direction, note.primary(notes[seq]), notes[seq])

    def resolved(self, uris: Sequence[str]) -> dict[str, Memory]:
        """The notes at these addresses, where there are any."""
        owners = self._noted.owners(uris)
        notes = self._memories.many(owners.values(), NOTES)
        return {uri: notes[seq] for uri, seq in owners.items() if seq in notes}
