"""Writing notes: creating, changing, hiding, erasing, naming and bringing back, and saving a session by hand: a record
that it was, and what is to be remembered of it as a note.

A URI names one note for ever: creating at the address of a note that was deleted writes its next version, so that what
it said before stays in its history.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from codexmem.kernel.model import ids, note, privacy, redaction
from codexmem.kernel.model.attrs import NoteAttrs
from codexmem.kernel.model.errors import Conflict, NotFound
from codexmem.kernel.model.history import Op, WriteContext
from codexmem.kernel.model.ids import Clock
from codexmem.kernel.model.memory import Kind, Memory, MemoryDraft, State, Status
from codexmem.kernel.model.note import NOTES, NoteEdit
from codexmem.kernel.model.query import Seq
from codexmem.kernel.model.session import Session
from codexmem.kernel.services.history import History
from codexmem.kernel.services.memories import Memories, changed_since
from codexmem.kernel.store.database import Database
from codexmem.kernel.store.sessions import Sessions
from codexmem.notes.model import NewNote
from codexmem.notes.service.resolver import NoteResolver

PLATFORM = "notes"
_TITLE = 200
_SLUG = 60
_GAPS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Deleted:
    """A note that was hidden or erased."""

    memory: Memory  # as it stood before
    erased: bool
    restorable: int | None = None  # the version that a rollback would bring back


@dataclass(frozen=True, slots=True)
class NoteRollback:
    """A note after its earlier state was written again."""

    memory: Memory
    former: Memory
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SavedSession:
    """The record, and the note if there was something to say."""

    session: Session
    title: str
    memory: Memory | None


class Writing:
    """The verbs that write one note."""

    def __init__(self, db: Database, memories: Memories, history: History, desk: NoteResolver) -> None:
        self._db = db
        self._memories = memories
        self._history = history
        self._desk = desk

    def create(self, new: NewNote, by: WriteContext) -> Memory:
        """Keep something under an address that nothing stands under."""
        uri = note.fit_uri(new.uri)
        state = note.fit(
            State(
                new.content, NoteAttrs(), project=new.project or "", priority=new.priority,
                title=new.title, uris=(uri,),
            ),
            new.disclosure,
        )  # fmt: skip
        with self._db.transaction():
            former = self._desk.find(uri)
            if former is None:
                draft = MemoryDraft(
                    Kind.NOTE, state, by.origin, session=new.session or by.session, visibility=new.visibility
                )
                return self._memories.remember(draft, replace(by, note=by.note or "created"))
            if former.state.status is not Status.DELETED:
                raise Conflict(
                    f"{uri} already exists", hint="read_memory shows what it says, update_memory changes it",
                    details={"reason": "note_exists", "uri": uri},
                )  # fmt: skip
            # Its other addresses and its history stay with it.
            state = replace(state, uris=former.state.uris, visibility=new.visibility or former.state.visibility)
            return self._memories.write(former, state, Op.RESTORE, replace(by, note="created again after deletion"))

    def update(self, uri: str, edit: NoteEdit, by: WriteContext, *, seen: int | None = None) -> Memory:
        """Change the content in one of three ways, or what is said about it; with `seen`, only that version."""
        seq = self._desk.standing(uri).seq

        def change(state: State) -> State:
            if state.status is Status.DELETED:
                raise NotFound(f"{uri} was deleted meanwhile")
            return edit.apply(state)

        return self._memories.change(Seq(seq), NOTES, change, replace(by, note=edit.told()), seen=seen)

    def delete(self, uri: str, by: WriteContext, *, force: bool = False, seen: int | None = None) -> Deleted:
        """Hide the note; with `force`, erase it with all its versions, even if it is hidden already."""
        if force:
            memory = self._desk.there(uri)
            self._history.forget([memory.seq], by, reason="note")
            return Deleted(memory, erased=True)
        memory = self._desk.standing(uri)
        wanted = memory.version if seen is None else seen
        self._memories.delete(Seq(memory.seq), NOTES, replace(by, note="deleted"), seen=wanted)
        return Deleted(memory, erased=False, restorable=memory.version)

    def restore(self, uri: str, by: WriteContext) -> NoteRollback:
        """Let a deleted note stand again as it last stood."""
        with self._db.transaction():
            memory = self._desk.there(uri)
            if memory.state.status is not Status.DELETED:
                raise Conflict(
                    f"{self._desk.spelled(uri)} is not deleted", hint="to restore an earlier version, use rollback",
                    details={"reason": "not_deleted", "uri": self._desk.spelled(uri)},
                )  # fmt: skip
            version = self._desk.restorable(memory)
            if version is None:
                raise NotFound(
                    f"no version of {self._desk.spelled(uri)} from before its deletion is left",
                    hint="read its versions and roll back to one of them",
                )
            return self.rollback(uri, version, replace(by, note=f"restored as in version {version}"))

    def alias(self, target_uri: str, alias_uri: str, by: WriteContext) -> Memory:
        """Give the note one more address."""
        memory = self._desk.standing(target_uri)
        name = note.fit_uri(alias_uri)
        return self._memories.alias(Seq(memory.seq), NOTES, name, replace(by, note=f"added the alias {name}"))

    def unalias(self, target_uri: str, alias_uri: str, by: WriteContext) -> Memory:
        """Take one of the note's further addresses away."""
        memory = self._desk.standing(target_uri)
        name = self._desk.spelled(alias_uri)
        return self._memories.unalias(Seq(memory.seq), NOTES, name, replace(by, note=f"removed the alias {name}"))

    def rollback(self, uri: str, version: int, by: WriteContext, *, seen: int | None = None) -> NoteRollback:
        """Write what an earlier version says as the newest; its addresses and links stay as they are now."""
        with self._db.transaction():
            former = self._desk.there(uri)
            if seen is not None and former.version != seen:
                raise changed_since(former, seen)
            memory = self._history.rollback(Seq(former.seq), NOTES, version, by)
        return NoteRollback(memory, former, tuple(note.differences(former.state, memory.state)))


class Keeping:
    """Writes sessions that an agent wants to be remembered."""

    def __init__(self, db: Database, sessions: Sessions, writing: Writing, clock: Clock) -> None:
        self._db = db
        self._sessions = sessions
        self._writing = writing
        self._clock = clock

    def save(
        self, title: str | None, summary: str | None, by: WriteContext, *, project: str | None = None
    ) -> SavedSession:
        """Record a session that ends now; with a summary, as a note under `session://` too."""
        now = self._clock.now_ms()
        day = f"{datetime.fromtimestamp(now / 1000, UTC):%Y-%m-%d}"
        named = " ".join(redaction.redact(privacy.strip(title or "")).split())[:_TITLE]
        named = named or note.headline(redaction.redact(privacy.strip(summary or "")), _SLUG) or f"Session of {day}"
        with self._db.transaction():
            key = f"{ids.prefixed('saved')}:{named}"
            session = self._sessions.touch(key, project=project or "", platform=PLATFORM, cwd="", now_ms=now).session
            self._sessions.complete(key, now_ms=now)
            if summary is None or not summary.strip():
                return SavedSession(session, named, None)
            slug = _GAPS.sub("-", named).strip("-").lower()[:_SLUG].strip("-")
            uri = f"session://{day}/{session.id}" + (f"-{slug}" if slug else "")
            new = NewNote(uri, summary, project=project, title=named, session=session.key)
            return SavedSession(session, named, self._writing.create(new, by))
