"""Where the tools of the protocol are answered.

Every request stands alone: there are no sessions to keep, to lose in a restart or to pin a client to one process. So
there is nothing to stream to a client that only listens, and nothing to end; both are told so, as the protocol wants.
The SDK's own check of Host and Origin is off, because the guard has made it, more strictly, for every path.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from anyio import Lock, create_task_group, sleep_forever, to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import ASGIApp, Receive, Scope, Send

from codexmem.http.errors import ErrorStyle, MethodNotAllowed
from codexmem.kernel.model.errors import CodexmemError, NotReady

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_CODES = {"invalid_argument": -32600, "method_not_allowed": -32600, "not_found": -32601}
_OTHER_CODE = -32603
_BODY = 1 << 31  # the guard has already bounded the body


def _rpc_error(error: CodexmemError) -> object:
    details = {"data": {"hint": error.hint}} if error.hint else {}
    body = {"code": _CODES.get(error.code, _OTHER_CODE), "message": error.message, **details}
    return {"jsonrpc": "2.0", "id": None, "error": body}


ERRORS = ErrorStyle(_rpc_error)


class McpEndpoint:
    """One address with its tools, ready from the first message on: a server that only hooks ask starts sooner."""

    def __init__(self, made: "Callable[[], Server[Any]]") -> None:
        self._made = made
        self._tasks: TaskGroup | None = None
        self._app: ASGIApp | None = None
        self._beginning = Lock()

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """Answer while the block lasts."""
        async with create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = self._app = None
                tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one message."""
        if scope["method"] != "POST":
            raise MethodNotAllowed("messages are sent by POST; there is no session here", details={"allow": "POST"})
        app = self._app or await self._begun()
        await app(scope, receive, send)

    async def _begun(self) -> ASGIApp:
        async with self._beginning:
            if self._tasks is None:
                raise NotReady("the server is still starting", details={"retry_after_s": 1})
            if self._app is None:
                self._app = await self._tasks.start(self._serve)
            return self._app

    async def _serve(self, *, task_status: TaskStatus[ASGIApp]) -> None:
        manager = await to_thread.run_sync(transport, self._made)
        async with manager.run():
            task_status.started(manager.handle_request)
            await sleep_forever()


def transport(made: "Callable[[], Server[Any]]") -> "StreamableHTTPSessionManager":
    """What answers each message by itself, without the guard."""
    # Importing the SDK takes a second; meanwhile, in a thread of its own, others are answered.
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    return StreamableHTTPSessionManager(
        made(),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=_BODY,
    )
