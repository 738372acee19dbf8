"""Notes as the server answers them."""

from __future__ import annotations

from codexmem.client.answers import Answer, Listed


class NoteRow(Answer):
    """One note in a list."""

    uri: str
    seq: int
    id: str
    headline: str  # the first line that says something
    project: str
    priority: int  # 0 is the most important; up to 2 agents are told it at every start
    status: str
    disclosure: str  # when it is to come to mind
    version: int
    aliases: tuple[str, ...]
    created_ms: int
    updated_ms: int


class NoteFound(NoteRow):
    """A note in a list that may be the answer to a search."""

    score: float | None = None  # probability of relevance; none without words to look for


class Notes(Listed[NoteFound]):
    """Some notes, the newest or the best first."""


class Note(NoteRow):
    """One note with all that it says."""

    title: str
    content: str
    origin: str
    deleted: bool


class Written(Answer):
    """A note after a write."""

    uri: str
    seq: int
    version: int
    former_version: int | None
    note: Note


class Place(Answer):
    """One address of the tree; of a mere folder, all but the first three are None."""

    uri: str
    name: str
    has_children: bool
    seq: int | None
    version: int | None
    updated_ms: int | None
    alias_of: str | None


class Branch(Listed[Place]):
    """What lies directly under an address, in the order of its bytes."""

    prefix: str


class Version(Answer):
    """One write in a note's history."""

    version: int
    op: str
    actor: str
    note: str
    delta: str | None
    created_ms: int
    status: str
    changed: tuple[str, ...]  # fields that differ from the version before


class Versions(Listed[Version]):
    """A note's history, the newest first."""

    uri: str
    current: int


class Said(Answer):
    """What a note said in one version."""

    version: int
    content: str
    title: str
    project: str
    status: str
    priority: int
    disclosure: str
    created_ms: int
