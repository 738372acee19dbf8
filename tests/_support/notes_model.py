"""Notes as a plain model keeps them: no indexes, no transactions, one list of states for each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from codexmem.kernel.model.mentions import mentions_in


@dataclass(frozen=True)
class Said:
    """What a note says at one version."""

    content: str
    priority: int
    disclosure: str
    uris: tuple[str, ...]
    status: str = "active"


@dataclass
class ModelNote:
    """One note with everything it ever said; version n is at place n - 1."""

    past: list[Said]
    reads: int = 0

    @property
    def now(self) -> Said:
        return self.past[-1]

    @property
    def version(self) -> int:
        return len(self.past)

    @property
    def deleted(self) -> bool:
        return self.now.status == "deleted"

    def write(self, **changes: object) -> None:
        self.past.append(replace(self.now, **changes))  # type: ignore[arg-type]


@dataclass
class NotesModel:
    """All notes."""

    notes: list[ModelNote] = field(default_factory=list)

    def at(self, uri: str) -> ModelNote | None:
        """Whose address this is, deleted or not."""
        return next((note for note in self.notes if uri in note.now.uris), None)

    def standing(self, uri: str) -> ModelNote | None:
        """Whose address this is, unless it is deleted."""
        note = self.at(uri)
        return note if note is not None and not note.deleted else None

    def all_standing(self) -> list[ModelNote]:
        """Everything that is not deleted."""
        return [note for note in self.notes if not note.deleted]

    def rollback(self, note: ModelNote, version: int) -> Said:
        """What the note says after going back, under the addresses it has now."""
        return replace(note.past[version - 1], uris=note.now.uris)

    def relations(self, note: ModelNote) -> set[tuple[str, str, bool]]:
        """(direction, address, whether something is there) of every mention to or from the note."""
        found: set[tuple[str, str, bool]] = set()
        for uri in mentions_in(note.now.content):
            other = self.at(uri)
            if other is not note:
                found.add(("to", uri, other is not None))
        for other in self.all_standing():
            if other is not note and set(mentions_in(other.now.content)) & set(note.now.uris):
                found.add(("from", other.now.uris[0] if other.now.uris else "", True))
        return found
