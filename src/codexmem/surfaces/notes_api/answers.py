"""What this door answers, as `/openapi.json` shows it. Times are milliseconds since 1970."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from codexmem.domain.history import Op
from codexmem.domain.memory import Origin, Status
from codexmem.services.notes.finding import Direction


class NoteProblem(BaseModel):
    """What went wrong."""

    code: str
    message: str
    details: dict[str, Any] = Field(description="hint: what to do next; reason: why, for programs")


class NoteError(BaseModel):
    """Every error of this door."""

    error: NoteProblem


class NotePlace(BaseModel):
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


class NoteTree(BaseModel):
    """What lies directly under an address."""

    prefix: str
    items: list[NotePlace]
    next_cursor: str | None
    has_more: bool


class NoteRow(BaseModel):
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
    aliases: list[str]
    uses: int = Field(description="how often agents read it")
    created_ms: int
    updated_ms: int


class NoteFound(NoteRow):
    """A note in a list that may be the answer to a search."""

    score: float | None = Field(None, description="only with q: probability of relevance")


class NoteList(BaseModel):
    """Some notes, the newest or the best first."""

    items: list[NoteFound]
    next_cursor: str | None
    has_more: bool
    mode: str | None = Field(description="by which means q was answered")
    notes: list[str] = Field(description="what was degraded, in words")


class NoteTold(NoteRow):
    """A note in a view."""

    content: str | None = Field(description="only where the view tells its notes in full")


class NoteView(BaseModel):
    """Notes that an address of the system stands for."""

    uri: str
    whole: bool = Field(description="whether agents are told its notes in full, not by a line each")
    items: list[NoteTold]
    more: bool = Field(description="whether there are others")


class NoteStats(BaseModel):
    """How many notes there are, as it was at most ten seconds ago."""

    statuses: dict[str, int]
    domains: dict[str, int]
    total: int = Field(description="without those that are deleted")


class NoteRelation(BaseModel):
    """Another note, or an address that names nothing yet, and how it is connected."""

    relation: str
    direction: Direction
    uri: str
    seq: int | None
    status: Status | None
    priority: int | None
    headline: str | None


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
    relations: list[NoteRelation]
    deleted: bool
    restorable: int | None = Field(description="of a deleted one, the version that would stand again")


class NoteWritten(BaseModel):
    """A note after a write."""

    success: Literal[True]
    uri: str
    seq: int
    version: int
    former_version: int | None
    note: Note


class NoteRolledBack(NoteWritten):
    """A note after an earlier version was written again."""

    changed: list[str]


class NoteVersion(BaseModel):
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
    changed: list[str] = Field(description="fields that differ from the version before")


class NoteVersions(BaseModel):
    """Versions, the newest first."""

    uri: str
    seq: int
    current: int
    items: list[NoteVersion]
    next_cursor: str | None
    has_more: bool


class NoteState(BaseModel):
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
    uris: list[str]


class NoteChange(BaseModel):
    """A field beside the content that differs."""

    field: str
    before: Any
    after: Any


class NoteDiff(BaseModel):
    """Two versions side by side."""

    uri: str
    before: NoteState
    after: NoteState
    changes: list[NoteChange]
    unified: str


class NoteWayBack(BaseModel):
    """What bringing a version back would change."""

    uri: str
    version: int = Field(description="the current one")
    to: int
    before: NoteState = Field(description="as it stands")
    after: NoteState = Field(description="as it would stand")
    changes: list[NoteChange]
    unified: str
    restores: bool = Field(description="whether a deleted note would stand again")
