"""Replies that go on for as long as the client likes: whoever reads one must still be allowed to.

A request is admitted once. Where the reply has begun and is not at its end, the caller's right is asked for again every
few seconds; when it is gone the application is told that the client has left, and nothing more reaches the client.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from starlette.types import Message, Receive, Send

# A key's answer is remembered for half of what is promised, and asked for again after the other half.
RECHECK_S = 2.5

_log = logging.getLogger(__name__)


class LongReply:
    """One reply between the application and the connection; costs nothing until a first part is followed by more."""

    def __init__(self, receive: Receive, send: Send, is_allowed: Callable[[], Awaitable[bool]]) -> None:
        self._receive = receive
        self._send = send
        self._is_allowed = is_allowed
        self._ended = asyncio.Event()
        self._checking: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        """Pass on what the application says, unless its reader may not read any more; the end is always passed on."""
        goes_on = message["type"] == "http.response.body" and bool(message.get("more_body"))
        if self._ended.is_set():
            if goes_on:
                return
            message = {**message, "body": b""}
        await self._send(message)
        if goes_on and self._checking is None:
            self._checking = asyncio.create_task(self._check())

    async def receive(self) -> Message:
        """What the client says; that it has left as soon as it may not read any more."""
        heard = asyncio.ensure_future(self._receive())
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({heard, ended}, return_when=asyncio.FIRST_COMPLETED)
            return {"type": "http.disconnect"} if self._ended.is_set() else heard.result()
        finally:
            heard.cancel()
            ended.cancel()

    def close(self) -> None:
        """The application is done."""
        if self._checking is not None:
            self._checking.cancel()

    async def _check(self) -> None:
        while not self._ended.is_set():
            await asyncio.sleep(RECHECK_S)
            try:
                allowed = await self._is_allowed()
            except Exception as error:
                _log.warning("a long reply ends, because its key could not be looked up: %s", type(error).__name__)
                allowed = False
            if not allowed:
                self._ended.set()
