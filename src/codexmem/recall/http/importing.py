"""Files that are written for agents: taken into a running server one at a time, listed, and what a block in them says.

Safe to repeat: what the file said before is passed over. Where a memory comes from is set by the server.

Importing into a running server: the rows of another program's memory, some hundreds at a time.

Safe to repeat: a row that is here already is passed over. Where a memory comes from is set by the server; the caller
only says which program and which database or repository.
"""

from dataclasses import asdict
from typing import Annotated, Literal, Protocol, Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.guard import written_by
from codexmem.kernel.model.file_blobs import MAX_STAMP, MAX_STAMPS
from codexmem.kernel.model.import_row import MAX_LIST, MAX_REVERTS, MAX_TEXT, ForeignMemory
from codexmem.kernel.model.memory import MAX_PROJECT, Kind
from codexmem.kernel.wire import WireAnswer
from codexmem.recall.agent_block import lines_of
from codexmem.recall.agent_files import (
    MAX_ALIASES,
    MAX_FILE,
    MAX_PATH,
    AgentFiles,
    AgentFileText,
    FileImported,
    KnownFile,
)
from codexmem.recall.http.described import answers
from codexmem.recall.importing import MAX_ROWS, Importing
from codexmem.recall.standing_rules import StandingRules

_Path = Annotated[str, Field(max_length=MAX_PATH)]


class AgentFileServices(Protocol):
    """What these routes need."""

    @property
    def agent_files(self) -> AgentFiles: ...
    @property
    def standing(self) -> StandingRules: ...


class AgentFileRequest(BaseModel):
    """`POST /api/import/agent-file`: what one file says now; without text it is gone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    project: Annotated[str, Field(min_length=1, max_length=MAX_PROJECT)]
    file: _Path
    text: Annotated[str, Field(max_length=MAX_FILE)]
    at_ms: Annotated[int, Field(ge=0, lt=2**53)]
    path: _Path = ""
    aliases: Annotated[tuple[_Path, ...], Field(max_length=MAX_ALIASES)] = ()
    folders: Annotated[tuple[str, ...], Field(max_length=4)] = ()
    delta: str | None = None  # what the file before answered


class AgentFileAnswer(WireAnswer):
    """What became of the sections of one file."""

    success: bool
    source: str = Field(description="what everything that files of this project wrote goes by; undo takes it")
    delta: str | None = Field(description="what the next file of the same run names; null while nothing was written")
    added: int
    updated: int
    hidden: int = Field(description="are no longer in the file")
    unchanged: int
    kept: int = Field(description="were changed, deleted or undone here, and so left")
    undone: str | None = Field(description="the delta that undid them, if one did")

    @classmethod
    def of(cls, imported: FileImported) -> Self:
        """What became of them."""
        return cls(success=True, **asdict(imported))


class KnownAgentFiles(WireAnswer):
    """`GET /api/import/agent-files`."""

    files: tuple[KnownFile, ...] = Field(description="in the order of their names, with how many sections are in use")


class AgentBlock(WireAnswer):
    """`GET /api/context/block`: what a block in a file for agents would say."""

    project: str
    lines: tuple[str, ...] = Field(description="between the marks; none if nothing stands")


def add(api: APIRouter, services: AgentFileServices) -> None:
    """Add the routes."""

    @api.post("/api/import/agent-file", responses=answers(AgentFileAnswer))
    def take_in(request: Request, body: AgentFileRequest) -> dict[str, object]:
        file = AgentFileText(body.file, body.text, body.at_ms, body.path, body.aliases, body.folders)
        by = written_by(request.scope)
        return AgentFileAnswer.of(services.agent_files.take_in(body.project, file, by, delta=body.delta)).document()

    @api.get("/api/context/block", responses=answers(AgentBlock))
    def block(project: str) -> dict[str, object]:
        return AgentBlock(project=project, lines=tuple(lines_of(services.standing.of(project)))).document()

    @api.get("/api/import/agent-files", responses=answers(KnownAgentFiles))
    def known(project: str) -> dict[str, object]:
        return KnownAgentFiles(files=tuple(services.agent_files.known(project))).document()


_Count = Annotated[int, Field(ge=0, lt=2**53)]
_Text = Annotated[str, Field(max_length=MAX_TEXT + 100)]  # a cut text says how much is missing
_List = Annotated[tuple[_Text, ...], Field(max_length=MAX_LIST)]
_Stamp = Annotated[str, Field(max_length=MAX_STAMP)]
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
    blobs: Annotated[tuple[_Stamp, ...], Field(max_length=MAX_STAMPS)] = ()  # … and which content it left of its files

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


def add_importing(api: APIRouter, services: ImportServices) -> None:
    """Add the routes."""

    @api.post("/api/import/batch")
    def batch(request: Request, body: ImportRequest) -> dict[str, object]:
        rows = [row.memory() for row in body.rows]
        by = written_by(request.scope)
        taken = services.importing.take_in(body.fingerprint, rows, by, program=body.program, delta=body.delta)
        return {"success": True, **asdict(taken)}
