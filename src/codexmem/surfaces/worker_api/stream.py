"""What happens now, as server-sent events (contract 000 §3.5.1).

A message's `id` is the number of its event in the log; a reader that comes back with it misses nothing and sees nothing
twice. The reader also learns its place at the beginning and with each heartbeat, in blocks without data that every
client keeps and none shows, so that coming back never means reading through what it had no interest in. The queue's
depth has no id: it is a state, and the next one replaces it.
"""

import asyncio
import json
import logging
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.types import Receive, Scope, Send

from codexmem.domain.errors import CodexmemError
from codexmem.domain.event import Event
from codexmem.services.operations import Operations
from codexmem.services.operations.watching import Told, Watcher
from codexmem.surfaces._kit.guard import identity_of
from codexmem.surfaces.worker_api import wire_ops

HEARTBEAT_S = 15.0
RETRY_MS = 2_000  # how long a browser waits before it comes back

_log = logging.getLogger(__name__)


class Services(Protocol):
    """What these routes need."""

    @property
    def operations(self) -> Operations: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes; `/stream` is what other servers of this kind call it."""

    @door.get("/api/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
    @door.get("/stream", response_class=Response, include_in_schema=False)
    def events(
        request: Request,
        last: Annotated[str | None, Header(alias="Last-Event-ID", description="go on after this event")] = None,
        asked: Annotated[str | None, Query(alias="lastEventId", description="the same, where headers cannot")] = None,
    ) -> Any:
        identity = identity_of(request.scope)
        key = f"{identity.tenant}/{identity.actor}" if identity is not None else ""
        return EventStream(services.operations.watching.watch(key=key, resume=last or asked or None))


class EventStream(Response):
    """A reply without an end, until the client goes, the server stops or the log cannot be read.

    Nothing is read from the log before the client has taken what came before it.
    """

    media_type = "text/event-stream"

    def __init__(self, watcher: Watcher, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        self.status_code = 200
        self.background = None
        self._watcher = watcher
        self._heartbeat_s = heartbeat_s
        self.init_headers({"Cache-Control": "no-store", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell until the end."""
        gone = asyncio.create_task(self._leave_with(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await self._tell(send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            await self._watcher.finish()

    async def _tell(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        await _piece(send, f"retry: {RETRY_MS}\nid: {self._watcher.place}\n\n")
        beat = loop.time() + self._heartbeat_s
        while not self._watcher.closed:
            try:
                told = await self._watcher.next(timeout_s=max(0.0, beat - loop.time()))
            except CodexmemError as error:
                _log.warning("a live reader is sent away, to come back later: %s", error.message)
                return
            for each in told:
                await _piece(send, message(each))
            if loop.time() >= beat and not self._watcher.closed:
                beat = loop.time() + self._heartbeat_s
                await _piece(send, f": still here\nid: {self._watcher.place}\n\n")

    async def _leave_with(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._watcher.close()


def message(told: Told) -> str:
    """One message of the stream."""
    name, number, said = (
        (told.type, f"id: {told.seq}\n", wire_ops.logged(told))
        if isinstance(told, Event)
        else ("queue.depth", "", wire_ops.depth(told))
    )
    return f"event: {name}\n{number}data: {json.dumps(said, ensure_ascii=False, separators=(',', ':'))}\n\n"


async def _piece(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(errors="replace"), "more_body": True})
