"""What callers ask of notes: bodies and pages, parsed once."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from codexmem.domain.memory import MAX_CONTENT, MAX_PROJECT, MAX_TITLE, Status
from codexmem.domain.note import USUAL_PRIORITY, Edit
from codexmem.services.notes.listing import Wish
from codexmem.services.notes.writing import NewNote

MAX_LIMIT = 200
_MAX_ASKED = 4_000  # characters of an address as it is asked for; the service says what a fit one is

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description=f"items of a page, at most {MAX_LIMIT}")]
UriAsked = Annotated[str, Query(min_length=1, max_length=_MAX_ASKED, description="any address of the note")]
Number = Annotated[int, Field(ge=1, lt=2**31)]
Priority = Annotated[int, Field(ge=0, le=10)]
_Uri = Annotated[str, Field(min_length=1, max_length=_MAX_ASKED)]
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

    def new(self) -> NewNote:
        """As the service takes it."""
        return NewNote(self.uri, self.content, self.priority, self.disclosure, self.project, self.title)


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

    def edit(self) -> Edit:
        """As the service takes it."""
        return Edit(
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


class ListNotes(BaseModel):
    """`GET /api/notes`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    domain: Annotated[str | None, Field(max_length=100)] = None
    status: Status | None = None
    priority_min: Priority | None = None
    priority_max: Priority | None = None
    q: Annotated[str, Field(max_length=4_000, description="words; without them the newest come first")] = ""
    cursor: Annotated[str, Field(max_length=400, description="next_cursor of the page before")] = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50

    def wish(self) -> Wish:
        """As the service is asked."""
        return Wish(self.domain, self.priority_min, self.priority_max, self.status)
