"""Files that are written for agents: taken into a running server one at a time, listed, and what a block in them says.

Safe to repeat: what the file said before is passed over. Where a memory comes from is set by the server.
"""

from dataclasses import asdict
from typing import Annotated, Any, Protocol, Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.guard import actor_of
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import MAX_PROJECT
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
    def take_in(request: Request, body: AgentFileRequest) -> dict[str, Any]:
        file = AgentFileText(body.file, body.text, body.at_ms, body.path, body.aliases, body.folders)
        by = WriteContext(actor_of(request.scope))
        return AgentFileAnswer.of(services.agent_files.take_in(body.project, file, by, delta=body.delta)).document()

    @api.get("/api/context/block", responses=answers(AgentBlock))
    def block(project: str) -> dict[str, Any]:
        return AgentBlock(project=project, lines=tuple(lines_of(services.standing.of(project)))).document()

    @api.get("/api/import/agent-files", responses=answers(KnownAgentFiles))
    def known(project: str) -> dict[str, Any]:
        return KnownAgentFiles(files=tuple(services.agent_files.known(project))).document()
