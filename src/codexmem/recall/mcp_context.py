"""What an agent should know, as the protocol's prompt and resource: for hosts that offer those to a person."""

from typing import Any, Protocol
from urllib.parse import unquote

import mcp_types as types
from mcp import MCPError
from starlette.concurrency import run_in_threadpool

from codexmem.http.mcp import Offer
from codexmem.kernel.model.framing import Frame
from codexmem.recall.context import ContextBuilder, ContextRequest

URI = "codexmem://context"
NAME = "context"
_NOTHING = "Nothing is remembered about this project yet."


class PromptServices(Protocol):
    """What the context needs."""

    @property
    def context(self) -> ContextBuilder: ...
    @property
    def frame(self) -> Frame: ...


PROMPTS = types.ListPromptsResult(
    prompts=[
        types.Prompt(
            name=NAME,
            title="What earlier sessions knew",
            description="Notes, the last session and recent observations of a project, or what bears on a question.",
            arguments=[
                types.PromptArgument(name="project", description="The project; the caller's own if left out"),
                types.PromptArgument(name="about", description="Tell only what bears on this question"),
            ],
        )
    ]
)
RESOURCES = types.ListResourcesResult(
    resources=[
        types.Resource(
            name=NAME,
            uri=URI,
            title="What earlier sessions knew",
            description="Notes, the last session and recent observations of the caller's project.",
            mime_type="text/plain",
        )
    ]
)
TEMPLATES = types.ListResourceTemplatesResult(
    resource_templates=[
        types.ResourceTemplate(
            name="context of a project",
            uri_template=f"{URI}/{{project}}",
            description="The same for a project that is named.",
            mime_type="text/plain",
        )
    ]
)


async def prompt(
    services: PromptServices, project: str | None, params: types.GetPromptRequestParams
) -> types.GetPromptResult:
    """The prompt, filled in."""
    if params.name != NAME:
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:64]!r}; there is {NAME!r}")
    given = params.arguments or {}
    text = await _told(services, given.get("project") or project or "", given.get("about", ""))
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description="What earlier sessions knew", messages=[message])


async def resource(
    services: PromptServices, project: str | None, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """The resource, read."""
    stem, _, named = params.uri.partition(f"{URI}/")
    if params.uri != URI and (stem or not named):
        raise MCPError(types.INVALID_PARAMS, f"there is no resource {params.uri[:200]!r}; there is {URI}")
    text = await _told(services, unquote(named) or project or "", "")
    contents = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
    return types.ReadResourceResult(contents=[contents])


async def _told(services: PromptServices, project: str, about: str) -> str:
    def give() -> Any:
        return services.context.give(ContextRequest(project, about))

    given = await run_in_threadpool(give)
    return given.text or _NOTHING


OFFER = Offer(PROMPTS, RESOURCES, TEMPLATES, prompt, resource)
