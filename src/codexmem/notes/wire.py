"""The documents of `/api/notes`: what is sent, and what is answered. Times are milliseconds since 1970.

Routes return these models and the client parses them. Importing this loads nothing of a server: services are named for
their types alone.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.living import LivingFields
from codexmem.kernel.model import handle, note, text_size
from codexmem.kernel.model.history import MemoryVersion, Op
from codexmem.kernel.model.memory import (
    MAX_CONTENT,
    MAX_PROJECT,
    MAX_TITLE,
    Mark,
    Memory,
    Origin,
    State,
    Status,
)
from codexmem.kernel.model.note import USUAL_PRIORITY, NoteEdit
from codexmem.kernel.model.visibility import Visibility
from codexmem.kernel.wire import WireAnswer
from codexmem.notes.model import Direction, NewNote, NoteFilter

if TYPE_CHECKING:
    from codexmem.kernel.model.note import NoteFigures
    from codexmem.kernel.services.history import Diff
    from codexmem.notes.service.listing import SystemNoteView, TreeNode
    from codexmem.notes.service.reading import InspectedNote, WayBack
    from codexmem.notes.service.resolver import Relation
    from codexmem.notes.service.writing import NoteRollback

MAX_LIMIT = 200
MAX_ASKED = 4_000  # characters of an address as it is asked for; the service says what a fit one is
_HEADLINE = 200  # characters
_OWN = frozenset({"content", "attrs"})  # told in their own way

Number = Annotated[int, Field(ge=1, lt=2**31)]
Priority = Annotated[int, Field(ge=0, le=10)]
_Uri = Annotated[str, Field(min_length=1, max_length=MAX_ASKED)]
_Seen = Annotated[Number | None, Field(description="the version that was read; another one now is a conflict")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CreateNote(_Body):
    """`POST /api/notes`."""

    uri: _Uri
    content: Annotated[str, Field(max_length=MAX_CONTENT)]
    priority: Priority = USUAL_PRIORITY
    disclosure: str = ""
    project: Annotated[str | None, Field(max_length=MAX_PROJECT)] = None
    title: Annotated[str, Field(max_length=MAX_TITLE)] = ""
    visibility: Visibility | None = Field(None, description="who may see it; unless given, as the key's owner chose")

    def new(self) -> NewNote:
        """As the service takes it."""
        return NewNote(
            self.uri, self.content, self.priority, self.disclosure, self.project, self.title, visibility=self.visibility
        )


class UpdateNote(_Body):
    """`POST /api/notes/update`: content alone replaces, with append it is added, old_string and new_string patch."""

    uri: _Uri
    content: Annotated[str | None, Field(max_length=MAX_CONTENT)] = None
    old_string: str | None = None
    new_string: str | None = None
    append: bool = False
    priority: Priority | None = None
    disclosure: str | None = None
    status: Literal["active", "deprecated", "archived"] | None = None
    if_version: _Seen = None

    def edit(self) -> NoteEdit:
        """As the service takes it."""
        return NoteEdit(
            self.content, self.old_string, self.new_string, self.append, self.priority, self.disclosure,
            Status(self.status) if self.status is not None else None,
        )  # fmt: skip


class DeleteNote(_Body):
    """`POST /api/notes/delete`."""

    uri: _Uri
    if_version: _Seen = None


class RestoreNote(_Body):
    """`POST /api/notes/restore`."""

    uri: _Uri


class RollBackNote(_Body):
    """`POST /api/notes/rollback`."""

    uri: _Uri
    version: Number
    if_version: _Seen = None


class AliasOfNote(_Body):
    """`POST /api/notes/aliases` and `POST /api/notes/aliases/remove`."""

    uri: _Uri
    alias: _Uri


class ListNotes(_Body):
    """`GET /api/notes`."""

    domain: Annotated[str | None, Field(max_length=100)] = None
    status: Status | None = None
    priority_min: Priority | None = None
    priority_max: Priority | None = None
    q: Annotated[str, Field(max_length=4_000, description="words; without them the newest come first")] = ""
    cursor: Annotated[str, Field(max_length=400, description="next_cursor of the page before")] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50

    def wish(self) -> NoteFilter:
        """As the service is asked."""
        return NoteFilter(self.domain, self.priority_min, self.priority_max, self.status)


class NoteProblem(BaseModel):
    """What went wrong."""

    code: str
    message: str
    details: dict[str, object] = Field(description="hint: what to do next; reason: why, for programs")


class NoteError(BaseModel):
    """Every error of this interface."""

    error: NoteProblem


class NotePlace(WireAnswer):
    """One address of the tree; what a note would say of itself is null for a mere folder."""

    uri: str
    name: str
    has_children: bool
    seq: int | None
    priority: int | None
    status: Status | None
    version: int | None
    updated_ms: int | None
    alias_of: str | None = Field(description="the note's first address, where this is another")

    @classmethod
    def of(cls, node: "TreeNode") -> Self:
        """This address."""
        memory = node.memory
        primary = note.primary(memory) if memory is not None else node.uri
        return cls(
            uri=node.uri,
            name=node.name,
            has_children=node.has_children,
            seq=memory.seq if memory is not None else None,
            priority=memory.state.priority if memory is not None else None,
            status=memory.state.status if memory is not None else None,
            version=memory.version if memory is not None else None,
            updated_ms=memory.updated_ms if memory is not None else None,
            alias_of=primary if primary != node.uri else None,
        )


class NoteTree(WireAnswer):
    """What lies directly under an address."""

    prefix: str
    items: tuple[NotePlace, ...]
    next_cursor: str | None
    has_more: bool

    @property
    def following(self) -> str | None:
        """The cursor of the next page; None after the last."""
        return self.next_cursor


class NoteRow(WireAnswer):
    """One note in a list."""

    uri: str
    ref: str
    seq: int
    id: str
    name: str
    headline: str = Field(description="the first line that says something")
    project: str
    priority: int
    status: Status
    disclosure: str
    version: int
    aliases: tuple[str, ...]
    uses: int = Field(description="how often agents read it")
    created_ms: int
    updated_ms: int

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A note, with the further fields of a larger document."""
        state, primary = memory.state, note.primary(memory)
        return cls(
            uri=primary,
            ref=handle.ref(memory),
            seq=memory.seq,
            id=memory.id,
            name=primary.rpartition("/")[2],
            headline=note.headline(state.title or state.content, _HEADLINE),
            project=state.project,
            priority=state.priority,
            status=state.status,
            disclosure=note.disclosure_of(state),
            version=memory.version,
            aliases=state.uris[1:],
            uses=memory.counters.used,
            created_ms=memory.created_ms,
            updated_ms=memory.updated_ms,
            **more,
        )


class NoteFound(LivingFields, NoteRow):
    """A note in a list that may be the answer to a search."""

    score: float | None = Field(None, description="only with q: probability of relevance")

    @classmethod
    def of(cls, memory: Memory, **more: Any) -> Self:
        """A note, with its score if it was searched for."""
        return super().of(memory, **{**cls.living(memory), **more})


class NoteList(WireAnswer):
    """Some notes, the newest or the best first."""

    items: tuple[NoteFound, ...]
    next_cursor: str | None
    has_more: bool
    mode: str | None = Field(description="by which means q was answered")
    notes: tuple[str, ...] = Field(description="what was degraded, in words")

    @property
    def following(self) -> str | None:
        """The cursor of the next page; None after the last."""
        return self.next_cursor


class NoteTold(NoteRow):
    """A note in a view."""

    content: str | None = Field(description="only where the view tells its notes in full")


class NoteView(WireAnswer):
    """Notes that an address of the system stands for."""

    uri: str
    whole: bool = Field(description="whether agents are told its notes in full, not by a line each")
    items: tuple[NoteTold, ...]
    more: bool = Field(description="whether there are others")

    @classmethod
    def of(cls, view: "SystemNoteView") -> Self:
        """This view."""
        items = (NoteTold.of(each, content=each.state.content if view.whole else None) for each in view.memories)
        return cls(uri=view.uri, whole=view.whole, items=tuple(items), more=view.more)


class NoteStats(WireAnswer):
    """How many notes there are, as it was at most ten seconds ago."""

    statuses: dict[str, int]
    domains: dict[str, int]
    total: int = Field(description="without those that are deleted")

    @classmethod
    def of(cls, figures: "NoteFigures") -> Self:
        """These figures."""
        total = sum(count for status, count in figures.statuses.items() if status != Status.DELETED)
        return cls(statuses=dict(figures.statuses), domains=dict(figures.domains), total=total)


class NoteRelation(WireAnswer):
    """Another note, or an address that names nothing yet, and how it is connected."""

    relation: str
    direction: Direction
    uri: str
    seq: int | None
    status: Status | None
    priority: int | None
    headline: str | None

    @classmethod
    def of(cls, each: "Relation") -> Self:
        """This relation."""
        other = each.memory
        return cls(
            relation=each.relation,
            direction=each.direction,
            uri=each.uri,
            seq=other.seq if other is not None else None,
            status=other.state.status if other is not None else None,
            priority=other.state.priority if other is not None else None,
            headline=note.headline(other.state.content, _HEADLINE) if other is not None else None,
        )


class Note(NoteRow):
    """One note with its company."""

    title: str
    content: str
    chars: int
    tokens: int
    origin: Origin
    source: str | None
    session: str | None
    created_by: str | None
    updated_by: str | None
    shown: int
    relations: tuple[NoteRelation, ...]
    deleted: bool
    restorable: int | None = Field(description="of a deleted one, the version that would stand again")

    @classmethod
    def inspected(cls, seen: "InspectedNote") -> Self:
        """A note with its company."""
        memory, state = seen.memory, seen.memory.state
        return cls.of(
            memory,
            title=state.title,
            content=state.content,
            chars=len(state.content),
            tokens=text_size.tokens(state.content),
            origin=memory.author,
            source=memory.source,
            session=memory.session,
            created_by=seen.first.actor if seen.first is not None else None,
            updated_by=seen.last.actor if seen.last is not None else None,
            shown=memory.counters.shown,
            relations=tuple(map(NoteRelation.of, seen.relations)),
            deleted=state.status is Status.DELETED,
            restorable=seen.restorable,
        )


class NoteWritten(WireAnswer):
    """A note after a write."""

    success: Literal[True]
    uri: str
    seq: int
    version: int
    former_version: int | None
    note: Note

    @classmethod
    def of(cls, seen: "InspectedNote", **more: Any) -> Self:
        """A note as it stands now, with the further fields of a larger document."""
        memory = seen.memory
        return cls(
            success=True,
            uri=note.primary(memory),
            seq=memory.seq,
            version=memory.version,
            former_version=memory.version - 1 or None,
            note=Note.inspected(seen),
            **more,
        )


class NoteRolledBack(NoteWritten):
    """A note after an earlier version was written again."""

    changed: tuple[str, ...]

    @classmethod
    def back(cls, seen: "InspectedNote", done: "NoteRollback") -> Self:
        """A note as it stands now, and what that changed."""
        return cls.of(seen, changed=_changed(done.former.state, done.memory.state))


class NoteVersion(WireAnswer):
    """One write."""

    version: int
    op: Op
    actor: str
    source: str | None
    note: str
    delta: str | None
    created_ms: int
    status: Status
    priority: int
    chars: int
    changed: tuple[str, ...] = Field(description="fields that differ from the version before")

    @classmethod
    def of(cls, each: MemoryVersion, before: MemoryVersion | None) -> Self:
        """One write; `before` is the version before it, if there was one."""
        state = each.state
        return cls(
            version=each.version,
            op=each.op,
            actor=each.actor,
            source=each.source,
            note=each.note,
            delta=each.delta,
            created_ms=each.created_ms,
            status=state.status,
            priority=state.priority,
            chars=len(state.content),
            changed=_changed(before.state, state) if before is not None else (),
        )


class NoteVersions(WireAnswer):
    """Versions, the newest first."""

    uri: str
    seq: int
    current: int
    items: tuple[NoteVersion, ...]
    next_cursor: str | None
    has_more: bool

    @property
    def following(self) -> str | None:
        """The cursor of the next page; None after the last."""
        return self.next_cursor


class NoteState(WireAnswer):
    """What a note said in one version."""

    version: int
    op: Op
    actor: str
    note: str
    created_ms: int
    content: str
    title: str
    project: str
    status: Status
    priority: int
    disclosure: str
    uris: tuple[str, ...]

    @classmethod
    def of(cls, each: MemoryVersion) -> Self:
        """This version."""
        state = each.state
        return cls(
            version=each.version,
            op=each.op,
            actor=each.actor,
            note=each.note,
            created_ms=each.created_ms,
            content=state.content,
            title=state.title,
            project=state.project,
            status=state.status,
            priority=state.priority,
            disclosure=note.disclosure_of(state),
            uris=state.uris,
        )


class NoteChange(WireAnswer):
    """A field beside the content that differs."""

    field: str
    before: Any
    after: Any


class NoteDiff(WireAnswer):
    """Two versions side by side."""

    uri: str
    before: NoteState
    after: NoteState
    changes: tuple[NoteChange, ...]
    unified: str

    @classmethod
    def of(cls, uri: str, found: "Diff") -> Self:
        """These two."""
        return cls(
            uri=uri,
            before=NoteState.of(found.before),
            after=NoteState.of(found.after),
            changes=_changes(found.before.state, found.after.state),
            unified=found.unified,
        )


class NoteWayBack(WireAnswer):
    """What bringing a version back would change."""

    uri: str
    version: int = Field(description="the current one")
    to: int
    before: NoteState = Field(description="as it stands")
    after: NoteState = Field(description="as it would stand")
    changes: tuple[NoteChange, ...]
    unified: str
    restores: bool = Field(description="whether a deleted note would stand again")

    @classmethod
    def of(cls, uri: str, way: "WayBack") -> Self:
        """This way."""
        now, then = way.now, way.then
        return cls(
            uri=uri,
            version=way.memory.version,
            to=then.version,
            before=NoteState.of(now),
            after=NoteState.of(then),
            changes=_changes(now.state, then.state),
            unified=way.unified,
            restores=now.state.status is Status.DELETED and then.state.status is not Status.DELETED,
        )


def _changed(before: State, after: State) -> tuple[str, ...]:
    """Names of the fields that differ."""
    content = ("content",) if before.content != after.content else ()
    return content + tuple(each.field for each in _changes(before, after))


def _changes(before: State, after: State) -> tuple[NoteChange, ...]:
    """The fields beside the content that differ."""
    old, new = _fields(before), _fields(after)
    return tuple(
        NoteChange(field=name, before=old[name], after=new[name]) for name in new if old[name] != new[name]
    )  # fmt: skip


def _fields(state: State) -> dict[str, object]:
    # Who put a note away is no change of its own beside its status.
    shown = replace(state, marks=state.marks - {Mark.DISMISSED}).without_credit()
    told = {name: value for name, value in shown.to_json().items() if name not in _OWN}
    return told | {"disclosure": note.disclosure_of(state)}
