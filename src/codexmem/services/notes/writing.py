"""Writing notes: creating, changing, hiding, erasing, naming and bringing back.

A URI names one note for ever: creating at the address of a note that was deleted writes its next version, so that what
it said before stays in its history.
"""

from dataclasses import dataclass, replace

from codexmem.domain import note
from codexmem.domain.attrs import NoteAttrs
from codexmem.domain.errors import Conflict, NotFound
from codexmem.domain.history import By, Op
from codexmem.domain.memory import Draft, Kind, Memory, Origin, State, Status
from codexmem.domain.note import NOTES, Edit
from codexmem.domain.query import Seq
from codexmem.services.history import History
from codexmem.services.memories import Memories, changed_since
from codexmem.services.notes.finding import Desk
from codexmem.store.database import Database


@dataclass(frozen=True, slots=True)
class NewNote:
    """What a caller wants to be kept."""

    uri: str
    content: str
    priority: int = note.USUAL_PRIORITY
    disclosure: str = ""
    project: str | None = None  # the one the caller works in
    title: str = ""
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    """A note that was hidden or erased."""

    memory: Memory  # as it stood before
    erased: bool
    restorable: int | None = None  # the version that a rollback would bring back


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A note after its earlier state was written again."""

    memory: Memory
    former: Memory
    changes: tuple[str, ...]


class Writing:
    """The verbs that write one note."""

    def __init__(self, db: Database, memories: Memories, history: History, desk: Desk) -> None:
        self._db = db
        self._memories = memories
        self._history = history
        self._desk = desk

    def create(self, new: NewNote, by: By) -> Memory:
        """Keep something under an address that nothing stands under."""
        uri = note.fit_uri(new.uri)
        state = note.fit(
            State(
                new.content, NoteAttrs(), project=note.project_of(uri, new.project), priority=new.priority,
                title=new.title, uris=(uri,),
            ),
            new.disclosure,
        )  # fmt: skip
        with self._db.transaction():
            former = self._desk.find(uri)
            if former is None:
                draft = Draft(Kind.NOTE, state, Origin.AGENT, session=new.session)
                return self._memories.remember(draft, replace(by, note=by.note or "created"))
            if former.state.status is not Status.DELETED:
                raise Conflict(
                    f"{uri} already exists", hint="read_memory shows what it says, update_memory changes it",
                    details={"reason": "note_exists", "uri": uri},
                )  # fmt: skip
            # Its other addresses and its history stay with it.
            state = replace(state, uris=former.state.uris)
            return self._memories.write(former, state, Op.RESTORE, replace(by, note="created again after deletion"))

    def update(self, uri: str, edit: Edit, by: By, *, seen: int | None = None) -> Memory:
        """Change the content in one of three ways, or what is said about it; with `seen`, only that version."""
        seq = self._desk.standing(uri).seq

        def change(state: State) -> State:
            if state.status is Status.DELETED:
                raise NotFound(f"{uri} was deleted meanwhile")
            return edit.apply(state)

        return self._memories.change(Seq(seq), NOTES, change, replace(by, note=edit.told()), seen=seen)

    def delete(self, uri: str, by: By, *, force: bool = False, seen: int | None = None) -> Deleted:
        """Hide the note; with `force`, erase it with all its versions, even if it is hidden already."""
        if force:
            memory = self._desk.there(uri)
            self._history.forget([memory.seq], by, reason="note")
            return Deleted(memory, erased=True)
        memory = self._desk.standing(uri)
        wanted = memory.version if seen is None else seen
        self._memories.delete(Seq(memory.seq), NOTES, replace(by, note="deleted"), seen=wanted)
        return Deleted(memory, erased=False, restorable=memory.version)

    def restore(self, uri: str, by: By) -> RolledBack:
        """Let a deleted note stand again as it last stood."""
        with self._db.transaction():
            memory = self._desk.there(uri)
            if memory.state.status is not Status.DELETED:
                raise Conflict(
                    f"{self._desk.spelled(uri)} is not deleted", hint="to bring an earlier version back, roll back",
                    details={"reason": "not_deleted", "uri": self._desk.spelled(uri)},
                )  # fmt: skip
            version = self._desk.restorable(memory)
            if version is None:
                raise NotFound(
                    f"no version is left in which {self._desk.spelled(uri)} stood",
                    hint="its versions can be read, and one of them rolled back to",
                )
            return self.rollback(uri, version, replace(by, note=f"restored as in version {version}"))

    def alias(self, target_uri: str, alias_uri: str, by: By) -> Memory:
        """Give the note one more address."""
        memory = self._desk.standing(target_uri)
        name = note.fit_uri(alias_uri)
        return self._memories.alias(Seq(memory.seq), NOTES, name, replace(by, note=f"added the alias {name}"))

    def unalias(self, target_uri: str, alias_uri: str, by: By) -> Memory:
        """Take one of the note's further addresses away."""
        memory = self._desk.standing(target_uri)
        name = self._desk.spelled(alias_uri)
        return self._memories.unalias(Seq(memory.seq), NOTES, name, replace(by, note=f"removed the alias {name}"))

    def rollback(self, uri: str, version: int, by: By, *, seen: int | None = None) -> RolledBack:
        """Write what an earlier version says as the newest; its addresses and links stay as they are now."""
        with self._db.transaction():
            former = self._desk.there(uri)
            if seen is not None and former.version != seen:
                raise changed_since(former, seen)
            memory = self._history.rollback(Seq(former.seq), NOTES, version, by)
        return RolledBack(memory, former, tuple(note.differences(former.state, memory.state)))
