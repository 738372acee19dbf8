"""Importing into a running server: the rows of another program's memory, some hundreds at a time.

Safe to repeat: a row that is here already is passed over. Where a memory comes from is set by the server; the caller
only says which program and which database or repository.
"""

from dataclasses import asdict
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.guard import actor_of
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.import_row import MAX_LIST, MAX_REVERTS, MAX_TEXT, ForeignMemory
from codexmem.kernel.model.memory import Kind
from codexmem.recall.importing import MAX_ROWS, Importing

_Count = Annotated[int, Field(ge=0, lt=2**53)]
_Text = Annotated[str, Field(max_length=MAX_TEXT + 100)]  # a cut text says how much is missing
_List = Annotated[tuple[_Text, ...], Field(max_length=MAX_LIST)]
_Hash = Annotated[str, Field(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]


class ImportServices(Protocol):
    """What these routes need."""

    @property
    def importing(self) -> Importing: ...


class Row(BaseModel):
    """One memory of another program; each kind fills the fields it has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["observation", "summary", "prompt"]
    number: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    at_ms: _Count
    session: _Text = ""
    project: _Text = ""
    prompt_number: _Count | None = None
    tokens: _Count = 0
    text: _Text = ""
    type: _Text = ""
    title: _Text = ""
    subtitle: _Text = ""
    facts: _List = ()
    concepts: _List = ()
    files_read: _List = ()
    files_modified: _List = ()
    request: _Text = ""
    investigated: _Text = ""
    learned: _Text = ""
    completed: _Text = ""
    next_steps: _Text = ""
    notes: _Text = ""
    commit: _Hash | Literal[""] = ""  # of git: its hash
    reverts: Annotated[tuple[_Hash, ...], Field(max_length=MAX_REVERTS)] = ()  # … and those of what it takes back

    def memory(self) -> ForeignMemory:
        """The row as the service takes it."""
        return ForeignMemory(**self.model_dump() | {"kind": Kind(self.kind)})


class ImportRequest(BaseModel):
    """`POST /api/import/batch`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    program: Literal["claude-mem", "git"]
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]  # of the database or repository
    delta: str | None = None  # what the batch before answered
    rows: Annotated[list[Row], Field(max_length=MAX_ROWS)]


def add(api: APIRouter, services: ImportServices) -> None:
    """Add the routes."""

    @api.post("/api/import/batch")
    def batch(request: Request, body: ImportRequest) -> dict[str, Any]:
        rows = [row.memory() for row in body.rows]
        by = WriteContext(actor_of(request.scope))
        taken = services.importing.take_in(body.fingerprint, rows, by, program=body.program, delta=body.delta)
        return {"success": True, **asdict(taken)}
