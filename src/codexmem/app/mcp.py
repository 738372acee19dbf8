"""The MCP interface: tools that agents call over streamable HTTP; a bridge takes them to agents that speak stdio.

They are at `/mcp` with the usual toolsets, and at `/mcp/<toolset>` with one.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from fastapi import APIRouter
from starlette.routing import Route

from codexmem import __version__
from codexmem.features import FEATURES
from codexmem.http.mcp_endpoint import ERRORS, McpEndpoint
from codexmem.http.surface import Surface, router
from codexmem.http.tool import Toolset
from codexmem.kernel.feature import Rooms, load
from codexmem.kernel.model import own_tools
from codexmem.kernel.model.framing import Frame
from codexmem.kernel.model.memory import Kind
from codexmem.recall.context import ContextBuilder
from codexmem.recall.mcp import CURATE, FORGET, RECALL, CurateServices, ForgetServices
from codexmem.recall.wire.answers import SearchServices

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server


class ToolServices(SearchServices, CurateServices, ForgetServices, Rooms, Protocol):
    """What the tools of every toolset need together, and what is offered beside tools."""

    @property
    def context(self) -> ContextBuilder: ...
    @property
    def frame(self) -> Frame: ...
    def tell(self, session: str, seqs: Sequence[int], opened: bool) -> None: ...


def named(*toolsets: Toolset[ToolServices]) -> dict[str, Toolset[ToolServices]]:
    """Toolsets by name; a tool that hooks do not know as ours is refused, because they would capture its calls."""
    tools = [tool for toolset in toolsets for tool in toolset.tools]
    unknown = {name for tool in tools for name in (tool.name, *tool.other_names)} - own_tools.TOOLS
    if unknown:
        raise ValueError(f"hooks would capture calls of {', '.join(sorted(unknown))}: add them to domain.own_tools")
    return {toolset.name: toolset for toolset in toolsets}


_OF_ROOMS = (load(place, Toolset) for room in FEATURES for place in room.toolsets)
TOOLSETS = named(RECALL, *_OF_ROOMS, CURATE, FORGET)
DEFAULT = ("recall", "notes")


def routes(services: ToolServices) -> APIRouter:
    """The interface's routes on these services."""
    paths = {"/mcp": DEFAULT, **{f"/mcp/{name}": (name,) for name in TOOLSETS}}
    endpoints = {path: McpEndpoint(partial(_server, names, services)) for path, names in paths.items()}

    @asynccontextmanager
    async def living(_: Any) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for endpoint in endpoints.values():
                await stack.enter_async_context(endpoint.living())
            yield

    api = router(living)
    api.routes.extend(Route(path, endpoint, include_in_schema=False) for path, endpoint in endpoints.items())
    return api


def answer_alone(path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
    """Answer a message that needs no memories, such as `tools/list`, without a server: status, type and body."""
    from httpx2 import ASGITransport, AsyncClient

    from codexmem.http.mcp_endpoint import transport

    toolset = path.partition("?")[0].removeprefix("/mcp").strip("/")
    manager = transport(partial(_server, (toolset,) if toolset else DEFAULT, None))

    async def answered() -> tuple[int, str, bytes]:
        async with manager.run(), AsyncClient(transport=ASGITransport(manager.handle_request)) as client:
            reply = await client.post(f"http://127.0.0.1{path}", content=body, headers=headers)
            return reply.status_code, reply.headers.get("content-type", ""), reply.content

    return asyncio.run(answered())


def _server(names: tuple[str, ...], services: ToolServices | None) -> "Server[Any]":
    from codexmem.http.mcp import serve
    from codexmem.recall.mcp_context import OFFER

    toolsets: Any = [TOOLSETS[name] for name in names]
    tell = services.tell if services is not None else lambda *_: None
    return serve(toolsets, OFFER, services, version=__version__, tell=tell)


SURFACE: Surface[ToolServices] = Surface(
    name="mcp",
    prefixes=("/mcp",),
    kinds=frozenset(Kind),
    routes=routes,
    errors=ERRORS,
)
