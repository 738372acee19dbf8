"""What happens now, as server-sent events (contract 000 §3.5.1).

A message's `id` is the number of its event in the log; a reader that comes back with it misses nothing and sees nothing
twice. The reader also learns its place at the beginning and with each heartbeat, in blocks without data that every
client keeps and none shows, so that coming back never means reading through what it had no interest in. The queue's
depth has no id: it is a state, and the next one replaces it.
"""

import asyncio
import json
import logging
import random
from dataclasses import asdict
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.types import Receive, Scope, Send

from codexmem.http.guard import identity_of
from codexmem.http.moments import iso
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.event import Event
from codexmem.kernel.model.job import QueueDepth
from codexmem.operations.service import Operations, entries
from codexmem.operations.service.watching import LiveWatcher, Told

HEARTBEAT_S = 15.0
RETRY_MS = 2_000  # how long a browser waits before it comes back
_AFTER_STOP_MS = (100, 1_500)  # after an end that we chose: others may serve already, and not all come at once
_SPELLED = {"error_class": "errorClass"}  # payload fields that the contract spells in another way

_log = logging.getLogger(__name__)


class StreamServices(Protocol):
    """What these routes need."""

    @property
    def operations(self) -> Operations: ...


def add(api: APIRouter, services: StreamServices) -> None:
    """Add the routes; `/stream` is what other servers of this kind call it."""

    @api.get("/api/events", response_class=Response, responses={200: {"content": {"text/event-stream": {}}}})
    @api.get("/stream", response_class=Response, include_in_schema=False)
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

    def __init__(self, watcher: LiveWatcher, *, heartbeat_s: float = HEARTBEAT_S) -> None:
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
        again_ms = random.randint(*_AFTER_STOP_MS)  # noqa: S311 - spreads readers, protects nothing
        await _piece(send, f"retry: {again_ms}\nid: {self._watcher.place}\n\n")

    async def _leave_with(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._watcher.close()


def message(told: Told) -> str:
    """One message of the stream."""
    name, number, said = (
        (told.type, f"id: {told.seq}\n", logged(told)) if isinstance(told, Event) else ("queue.depth", "", depth(told))
    )
    return f"event: {name}\n{number}data: {json.dumps(said, ensure_ascii=False, separators=(',', ':'))}\n\n"


def logged(event: Event) -> dict[str, object]:
    """An event: where and when, and what its payload says in the contract's spelling."""
    payload = event.payload or {}
    about = payload.get("subject")
    session = entries.numbered(about, "session") if isinstance(about, str) else None
    return {
        "id": event.seq,
        "at": iso(event.at_ms),
        "atEpoch": event.at_ms,
        "subject": event.subject,
        "project": event.project,
        # `subject` of a failure is what the job was about; the event itself is about the job.
        **{_SPELLED.get(name, name): value for name, value in payload.items() if name != "subject"},
        **({"sessionDbId": session} if session is not None else {}),
    }


def depth(queue: QueueDepth) -> dict[str, object]:
    """Captured work as it stands, and failed jobs of every kind; each number is counted up to 10,000."""
    waiting = queue.queued + queue.running
    return {"queueDepth": waiting, "isProcessing": waiting > 0, **asdict(queue)}


async def _piece(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(errors="replace"), "more_body": True})
