"""What the tools on notes answer programs, in the field spelling of contract 004; commands read it.

Importing this loads nothing of a server: services are named for their types alone.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypedDict

from codexmem.kernel.model import note
from codexmem.kernel.model.history import MemoryVersion, Op
from codexmem.kernel.model.memory import Mark, Memory, Origin, Status
from codexmem.kernel.wire import WireAnswer
from codexmem.notes.document import iso
from codexmem.notes.model import Direction

if TYPE_CHECKING:
    from codexmem.kernel.model.note import NoteFigures
    from codexmem.kernel.services.history import Diff
    from codexmem.notes.service.exchange import NotesImported
    from codexmem.notes.service.listing import NotePage, NoteResults, SystemNoteView
    from codexmem.notes.service.preload import PreloadChoice, Preloaded
    from codexmem.notes.service.reading import NoteHistory, OpenedNote, RestorableVersion
    from codexmem.notes.service.resolver import Relation
    from codexmem.notes.service.writing import Deleted, NoteRollback, SavedSession

MAX_WHOLE = 8_000  # characters of one note among many; read_memory gives the rest
_LINE = 160


class NoteHead(WireAnswer):
    """A note without what it says."""

    uri: str
    id: str
    priority: int
    status: Status
    disclosure: str
    aliases: tuple[str, ...]
    version: int
    access_count: int
    created_at: str
    updated_at: str
    origin: Origin
    proposed: bool | None = None  # true where a person has to agree before other projects are told of it, else left out

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A note, with the further fields of a larger document."""
        state = memory.state
        waits = {"proposed": True} if Mark.PROPOSED in state.marks else {}
        return cls(
            uri=note.primary(memory),
            id=memory.id,
            priority=state.priority,
            status=state.status,
            disclosure=note.disclosure_of(state),
            aliases=state.uris[1:],
            version=memory.version,
            access_count=memory.counters.used,
            created_at=iso(memory.created_ms),
            updated_at=iso(memory.updated_ms),
            origin=memory.author,
            **waits,
            **more,
        )


class NoteLine(NoteHead):
    """A note in a list: its beginning stands for what it says."""

    summary: str

    @classmethod
    def beginning(cls, memory: Memory, **more: Any) -> Self:
        """A note, with the further fields of a larger document."""
        return cls.of(memory, summary=summary_of(memory), **more)


class FoundNoteLine(NoteLine):
    """A note that a search found."""

    score: float


class WholeNote(NoteHead):
    """A note among others, with what it says up to a length."""

    content: str
    truncated: bool | None = None  # only where it is cut

    @classmethod
    def told(cls, memory: Memory, **more: Any) -> Self:
        """A note, with the further fields of a larger document."""
        content = memory.state.content
        cut = {"truncated": True} if len(content) > MAX_WHOLE else {}
        return cls.of(memory, content=content[:MAX_WHOLE], **cut, **more)


class PreloadedNote(WholeNote):
    """A note that was preloaded, with the reasons."""

    score: float
    reasons: tuple[str, ...]

    @classmethod
    def chosen(cls, each: "PreloadChoice") -> Self:
        """This choice, the strongest reason first."""
        reasons = sorted(each.reasons, key=lambda reason: -each.reasons[reason])
        return cls.told(each.memory, score=round(each.score, 3), reasons=tuple(reasons))


class NoteVersionLine(WireAnswer):
    """One version in a history."""

    version: int
    current: bool
    operation: Op
    note: str
    actor: str
    created_at: str
    status: Status
    priority: int
    summary: str

    @classmethod
    def of(cls, each: MemoryVersion, *, current: int, **more: Any) -> Self:
        """A version of a note that is at this one, with the further fields of a larger document."""
        return cls(current=each.version == current, **_version(each), **more)


class RestorableNoteVersion(NoteVersionLine):
    """A version that can be brought back."""

    would_change: tuple[str, ...]


class ComparedNoteVersion(WireAnswer):
    """One of two versions side by side."""

    version: int
    operation: Op
    note: str
    actor: str
    created_at: str
    status: Status
    priority: int
    summary: str
    content: str

    @classmethod
    def of(cls, each: MemoryVersion) -> Self:
        """This version."""
        return cls(content=each.state.content, **_version(each))


class NoteLink(WireAnswer):
    """Another note, or an address where none is yet."""

    relation: str
    direction: Direction
    uri: str
    exists: bool
    status: Status | None
    summary: str

    @classmethod
    def of(cls, each: "Relation") -> Self:
        """This relation."""
        there = each.memory
        return cls(
            relation=each.relation,
            direction=each.direction,
            uri=each.uri,
            exists=there is not None,
            status=there.state.status if there is not None else None,
            summary=summary_of(there) if there is not None else "",
        )


class ReadNote(NoteHead):
    """read_memory of a note."""

    content: str
    project: str
    versions: tuple[NoteVersionLine, ...]
    relations: tuple[NoteLink, ...]

    @classmethod
    def opened(cls, found: "OpenedNote") -> Self:
        """This note."""
        memory = found.memory
        return cls.of(
            memory,
            content=memory.state.content,
            project=memory.state.project,
            versions=tuple(NoteVersionLine.of(each, current=memory.version) for each in found.versions),
            relations=tuple(map(NoteLink.of, found.relations)),
        )


class ReadView(WireAnswer):
    """read_memory of a view: notes in full, or a line each."""

    uri: str
    title: str
    count: int
    more: bool
    memories: tuple[NoteLine, ...] | tuple[WholeNote, ...]

    @classmethod
    def of(cls, seen: "SystemNoteView") -> Self:
        """This view."""
        rows: tuple[NoteLine, ...] | tuple[WholeNote, ...] = (
            tuple(map(WholeNote.told, seen.memories)) if seen.whole else lines(seen.memories)
        )
        return cls(uri=seen.uri, title=seen.title, count=len(rows), more=seen.more, memories=rows)


class CreatedNote(NoteHead):
    """create_memory"""

    revived: bool


class UpdatedNote(NoteHead):
    """update_memory"""

    mode: str
    previous_version: int


class DeletedNote(WireAnswer):
    """delete_memory"""

    uri: str
    aliases: tuple[str, ...]
    erased: bool
    restorable_version: int | None
    restore: str | None = None  # the call that brings it back, unless it is erased

    @classmethod
    def of(cls, gone: "Deleted") -> Self:
        """This one."""
        uri = note.primary(gone.memory)
        back = {} if gone.erased else {"restore": f"rollback_memory(uri={uri!r}, version={gone.restorable})"}
        return cls(
            uri=uri,
            aliases=gone.memory.state.uris[1:],
            erased=gone.erased,
            restorable_version=gone.restorable,
            **back,
        )


class FoundNotes(WireAnswer):
    """search_memory"""

    query: str
    count: int
    more: bool
    mode: str
    notes: tuple[str, ...]
    memories: tuple[FoundNoteLine, ...]

    @classmethod
    def of(cls, query: str, found: "NoteResults") -> Self:
        """These."""
        rows = tuple(FoundNoteLine.beginning(each.memory, score=round(each.score, 4)) for each in found.found)
        return cls(
            query=query, count=len(rows), more=found.more, mode=found.mode.value, notes=found.notes, memories=rows
        )


class PreloadedNotes(WireAnswer):
    """preload_memory"""

    context_type: str
    core: tuple[WholeNote, ...]
    related: tuple[PreloadedNote, ...]

    @classmethod
    def of(cls, context_type: str, found: "Preloaded") -> Self:
        """These."""
        return cls(
            context_type=context_type,
            core=tuple(map(WholeNote.told, found.core)),
            related=tuple(map(PreloadedNote.chosen, found.related)),
        )


class SessionSaved(WireAnswer):
    """save_session"""

    session_id: int
    title: str
    uri: str | None
    memory_id: str | None
    created_at: str

    @classmethod
    def of(cls, saved: "SavedSession") -> Self:
        """This one."""
        memory = saved.memory
        return cls(
            session_id=saved.session.id,
            title=saved.title,
            uri=note.primary(memory) if memory is not None else None,
            memory_id=memory.id if memory is not None else None,
            created_at=iso(saved.session.started_ms),
        )


class ListedNotes(WireAnswer):
    """list_memories"""

    count: int
    more: bool
    memories: tuple[NoteLine, ...]

    @classmethod
    def of(cls, page: "NotePage") -> Self:
        """This page."""
        return cls(count=len(page.memories), more=page.more, memories=lines(page.memories))


class MostReadNote(WireAnswer):
    """A note that is read often."""

    uri: str
    access_count: int


class NoteAccess(WireAnswer):
    """How often notes were read."""

    total: int
    memories_read: int
    most_read: tuple[MostReadNote, ...]


class CountedNotes(WireAnswer):
    """get_memory_stats"""

    total: int
    by_status: dict[str, int]
    by_domain: dict[str, int]
    access: NoteAccess

    @classmethod
    def of(cls, figures: "NoteFigures", most: Sequence[tuple[Memory, int]]) -> Self:
        """These figures; deleted notes are not in the total."""
        return cls(
            total=sum(count for status, count in figures.statuses.items() if status != Status.DELETED.value),
            by_status=dict(figures.statuses),
            by_domain=dict(figures.domains),
            access=NoteAccess(
                total=figures.reads,
                memories_read=figures.read,
                most_read=tuple(MostReadNote(uri=note.primary(each), access_count=reads) for each, reads in most),
            ),
        )


class ImportedNotes(WireAnswer):
    """import_memories"""

    strategy: str
    created: tuple[str, ...]
    changed: tuple[str, ...]
    skipped: tuple[str, ...]
    left_deleted: tuple[str, ...]
    left_core: tuple[str, ...]
    priority_not_taken_over: tuple[str, ...]
    addresses_not_taken_over: tuple[str, ...]
    source: str
    delta: str | None
    undo: str | None

    @classmethod
    def of(cls, strategy: str, taken: "NotesImported") -> Self:
        """What became of a document."""
        return cls(
            strategy=strategy,
            created=tuple(taken.created),
            changed=tuple(taken.changed),
            skipped=tuple(taken.skipped),
            left_deleted=tuple(taken.deleted),
            left_core=tuple(taken.guarded),
            priority_not_taken_over=tuple(taken.lowered),
            addresses_not_taken_over=tuple(taken.lost_uris),
            source=taken.source,
            delta=taken.delta,
            undo=f"codexmem undo {taken.delta}" if taken.delta is not None else None,
        )


class AliasedNote(NoteHead):
    """add_alias"""

    alias_uri: str


class NotePast(WireAnswer):
    """get_memory_versions"""

    uri: str
    current_version: int
    status: Status
    versions: tuple[NoteVersionLine, ...]

    @classmethod
    def of(cls, past: "NoteHistory") -> Self:
        """This one."""
        memory = past.memory
        return cls(
            uri=note.primary(memory),
            current_version=memory.version,
            status=memory.state.status,
            versions=tuple(NoteVersionLine.of(each, current=memory.version) for each in past.versions),
        )


class RolledBackNote(NoteHead):
    """rollback_memory"""

    content: str
    restored_version: int
    previous_version: int
    changes: tuple[str, ...]

    @classmethod
    def back(cls, version: int, done: "NoteRollback") -> Self:
        """A note that says again what it said in this version."""
        return cls.of(
            done.memory,
            content=done.memory.state.content,
            restored_version=version,
            previous_version=done.former.version,
            changes=done.changes,
        )


class ComparedVersions(WireAnswer):
    """diff_versions"""

    uri: str
    version1: ComparedNoteVersion
    version2: ComparedNoteVersion
    changes: tuple[str, ...]
    diff: str

    @classmethod
    def of(cls, uri: str, found: "Diff") -> Self:
        """These two."""
        return cls(
            uri=uri,
            version1=ComparedNoteVersion.of(found.before),
            version2=ComparedNoteVersion.of(found.after),
            changes=tuple(note.differences(found.before.state, found.after.state)),
            diff=found.unified,
        )


class NoteRollbacks(WireAnswer):
    """list_rollbacks"""

    uri: str
    current_version: int
    status: Status
    rollbacks: tuple[RestorableNoteVersion, ...]

    @classmethod
    def of(cls, memory: Memory, ways: Iterable["RestorableVersion"]) -> Self:
        """These ways."""
        return cls(
            uri=note.primary(memory),
            current_version=memory.version,
            status=memory.state.status,
            rollbacks=tuple(
                RestorableNoteVersion.of(each.version, current=memory.version, would_change=each.changes)
                for each in ways
            ),
        )


def lines(memories: Iterable[Memory]) -> tuple[NoteLine, ...]:
    """A line for each."""
    return tuple(map(NoteLine.beginning, memories))


def summary_of(memory: Memory) -> str:
    """What a note is about, in one line."""
    return memory.state.title or note.headline(memory.state.content, _LINE)


class _VersionFields(TypedDict):
    version: int
    operation: Op
    note: str
    actor: str
    created_at: str
    status: Status
    priority: int
    summary: str


def _version(each: MemoryVersion) -> _VersionFields:
    return {
        "version": each.version,
        "operation": each.op,
        "note": each.note,
        "actor": each.actor,
        "created_at": iso(each.created_ms),
        "status": each.state.status,
        "priority": each.state.priority,
        "summary": note.headline(each.state.content, _LINE),
    }
