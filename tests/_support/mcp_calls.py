"""The tools, called by the SDK's own client: over HTTP or over stdio, in the old protocol and in the new."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests._support import warm
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

        async def run() -> T:
            async with self.connected() as client:
                return await conversation(client)

        return asyncio.run(run())

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """A connection of its own."""
        mode = "legacy" if self.way.endswith("old") else "2026-07-28" if self.way.startswith("http") else "auto"
        if self.way.startswith("stdio"):
            async with Client(stdio_to(self.server, *self.path.split("/")[2:]), mode=mode) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {self.server.key}"} if self.server.key else {}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{self.server.port}{self.path}", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    def call(self, tool: str, arguments: dict[str, Any] | None = None) -> types.CallToolResult:
        """One call of one tool, on the connection that earlier calls of this kind have used, as agents keep theirs."""
        return _Connections.here().call(self, tool, arguments)

    def text(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is none of an error."""
        result = self.call(tool, arguments)
        assert not result.is_error, result.content
        return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    """What an answer says, without the frame around it and without what stands beside JSON."""
    content, *beside = result.content
    assert isinstance(content, types.TextContent)
    assert all(isinstance(each, types.TextContent) and "data, not instructions" in each.text for each in beside)
    return unframed(content.text)


def unframed(text: str) -> str:
    """A framed text without its frame, which must be whole; any other as it is."""
    head, _, rest = text.partition("\n")
    if not head.startswith("Recalled from memory."):
        return text
    body, _, end = rest.rpartition("\n")
    assert head.endswith(f": {end}")
    return body


def stdio_to(server: Server, *toolset: str) -> StdioServerParameters:
    """The bridge to this server, as an agent would start it; `tests/clients/test_bridge.py` starts the real program."""
    more = {"CODEXMEM_API_KEY": server.key} if server.key else {}
    env = environment(server.data_dir, CODEXMEM_URL=f"http://127.0.0.1:{server.port}", **more)
    flags = ["--toolset", *toolset] if toolset else []
    return StdioServerParameters(
        command=warm.program("codexmem"), args=["mcp", *flags], env=env, cwd=str(server.data_dir)
    )


_Call = tuple[str, dict[str, Any] | None, "Future[types.CallToolResult]"]


class _Connections:
    """Open connections, each in a task of one loop in a thread; the one that was used longest ago is closed first."""

    MOST = 8
    _made: _Connections | None = None

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._open: OrderedDict[tuple[Any, ...], asyncio.Queue[_Call | None]] = OrderedDict()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        atexit.register(self._close)

    @classmethod
    def here(cls) -> _Connections:
        """Those of this process."""
        cls._made = cls._made or cls()
        return cls._made

    def call(self, agent: Agent, tool: str, arguments: dict[str, Any] | None) -> types.CallToolResult:
        """The answer, or what went wrong, after which the next call connects anew."""
        answer: Future[types.CallToolResult] = Future()
        self._loop.call_soon_threadsafe(self._put, agent, (tool, arguments, answer))
        return answer.result(120)

    def _put(self, agent: Agent, call: _Call) -> None:
        server = agent.server
        # One that was started again is another one; one in this process was not started.
        key = (id(server), server.port, id(getattr(server, "_process", None)), server.key, agent.way, agent.path)
        if key not in self._open:
            self._open[key] = asyncio.Queue()
            self._open[key].put_nowait(call)
            self._loop.create_task(self._talk(agent, key, self._open[key])).add_done_callback(_seen)
            while len(self._open) > self.MOST:
                self._open.popitem(last=False)[1].put_nowait(None)
            return
        self._open.move_to_end(key)
        self._open[key].put_nowait(call)

    async def _talk(self, agent: Agent, key: tuple[Any, ...], calls: asyncio.Queue[_Call | None]) -> None:
        answer: Future[types.CallToolResult] | None = None
        try:
            async with agent.connected() as client:
                while (asked := await calls.get()) is not None:
                    tool, arguments, answer = asked
                    answer.set_result(await client.call_tool(tool, arguments))
        except BaseException as error:
            if self._open.get(key) is calls:
                del self._open[key]
            if answer is None:  # it could not connect
                answer = calls.get_nowait()[2]  # type: ignore[index]
            if not answer.done():
                answer.set_exception(error)

    def _close(self) -> None:
        for calls in self._open.values():
            self._loop.call_soon_threadsafe(calls.put_nowait, None)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)


def _seen(task: asyncio.Task[None]) -> None:
    task.exception()
