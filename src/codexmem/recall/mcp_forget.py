"""The toolset `forget`: erasing for good. Not among the usual ones: whoever wants agents to have it asks for it."""

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from codexmem.http.params import parsed
from codexmem.http.tool import Tool, ToolInvocation, ToolResult, Toolset, schema_of
from codexmem.kernel.model.history import WriteContext
from codexmem.recall.forgetting import MAX_IDS, Forgetting


class ForgetServices(Protocol):
    """What forgetting needs."""

    @property
    def forgetting(self) -> Forgetting: ...


class ForgetToolRequest(BaseModel):
    """What to erase: exactly one of these."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ids: Annotated[list[int], Field(min_length=1, max_length=MAX_IDS)] | None = Field(
        default=None, description="Numbers of memories"
    )
    session: str | None = Field(default=None, description="The agent's id of a session")
    project: str | None = Field(default=None, description="A whole project")
    source: str | None = Field(default=None, description="What wrote it, such as session:12 or import:...")


def _forget(services: ForgetServices, call: ToolInvocation) -> ToolResult:
    request = parsed(ForgetToolRequest, call.arguments)
    erased = services.forgetting.one_of(
        WriteContext(call.actor),
        ids=request.ids,
        session=request.session,
        project=request.project,
        source=request.source,
    )
    return ToolResult(f"Erased {erased} memories for good.", {"erased": erased})


FORGET: Toolset[ForgetServices] = Toolset(
    "forget",
    (
        Tool(
            "forget",
            "Forget for good",
            "Erase memories with all their versions and everything captured for them: by numbers, by session, by "
            "project or by source, exactly one of these. This cannot be undone; do it only when a person asks for it.",
            schema_of(ForgetToolRequest),
            _forget,
            reads_only=False,
        ),
    ),
    "forget erases memories for good, and only when a person asks for it.",
)
