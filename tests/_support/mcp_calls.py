"""The tools, called by the SDK's own client: over HTTP or over stdio, in the old protocol and in the new."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests._support.server import Server, environment

T = TypeVar("T")
WAYS = ("http-old", "http-new", "stdio-old", "stdio-new")


@dataclass(frozen=True)
class Agent:
    """Somebody who calls tools of one server in one way."""

    server: Server
    way: str
    path: str = "/mcp"

    def run(self, conversation: Callable[[Client], Awaitable[T]]) -> T:
        """Connect, talk, and leave."""
        return asyncio.run(self._run(conversation))

    async def _run(self, conversation: Callable[[Client], Awaitable[T]]) -> T:
        mode = "legacy" if self.way.endswith("old") else "2026-07-28" if self.way.startswith("http") else "auto"
        if self.way.startswith("stdio"):
            async with Client(stdio_to(self.server, *self.path.split("/")[2:]), mode=mode) as client:
                return await conversation(client)
        headers = {"Authorization": f"Bearer {self.server.key}"} if self.server.key else {}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{self.server.port}{self.path}", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await conversation(client)

    def call(self, tool: str, arguments: dict[str, Any] | None = None) -> types.CallToolResult:
        """One call of one tool."""

        async def conversation(client: Client) -> types.CallToolResult:
            return await client.call_tool(tool, arguments)

        return self.run(conversation)

    def text(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is none of an error."""
        result = self.call(tool, arguments)
        assert not result.is_error, result.content
        return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    """What an answer says."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def stdio_to(server: Server, *toolset: str) -> StdioServerParameters:
    """The bridge to this server, as an agent would start it."""
    more = {"CODEXMEM_API_KEY": server.key} if server.key else {}
    env = environment(server.data_dir, CODEXMEM_URL=f"http://127.0.0.1:{server.port}", **more)
    flags = ["--toolset", *toolset] if toolset else []
    return StdioServerParameters(
        command=sys.executable, args=["-m", "codexmem.cli", "mcp", *flags], env=env, cwd=str(server.data_dir)
    )
