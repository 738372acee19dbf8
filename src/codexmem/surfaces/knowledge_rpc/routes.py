"""`POST /rpc`: one JSON-RPC message, or a batch of them, per request.

What a method says, an error too, is answered with status 200; other statuses mean that no message was read. Where there
is nothing to answer the status is 204.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from codexmem.domain.errors import InvalidArgument
from codexmem.surfaces._kit.errors import ErrorStyle
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.knowledge import BY_NAME, Asked, Services
from codexmem.surfaces._kit.params import IdempotencyKey, parsed
from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.knowledge_rpc import protocol

MAX_BATCH_BYTES = 1 << 20
ERRORS = ErrorStyle(protocol.refusal)
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": ["object", "array"]}}},
    }
}


class _Methods:
    """The verbs, called by one caller."""

    def __init__(self, services: Services, actor: str, key: str | None) -> None:
        self._services = services
        self._actor = actor
        self._key = key

    def __contains__(self, name: object) -> bool:
        return name in BY_NAME

    def call(self, name: str, params: protocol.Params, *, until: float, place: int) -> Any:
        """Call one verb."""
        verb = BY_NAME[name]
        given = parsed(verb.parameters, _named(params, list(verb.parameters.model_fields)))
        # One key covers a whole batch, so each call of it has its own.
        key = f"{self._key}#{place}" if self._key is not None else None
        return verb.answer(self._services, given, Asked(self._actor, until, key))


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()

    @door.post("/rpc", openapi_extra=_BODY)
    async def rpc(request: Request, key: IdempotencyKey) -> Response:
        """Ten methods over JSON-RPC 2.0; see the page on knowledge."""
        message = await request.json()
        if isinstance(message, list) and len(await request.body()) > MAX_BATCH_BYTES:
            raise InvalidArgument(f"a batch is at most {MAX_BATCH_BYTES:,} bytes long; none of its calls was run")
        methods = _Methods(services, actor_of(request.scope), key)
        told = await run_in_threadpool(protocol.answer, message, methods)
        if told is None:
            return Response(status_code=204)
        return Response(json.dumps(told, ensure_ascii=False, separators=(",", ":")), media_type="application/json")

    return door


def _named(params: Mapping[str, Any] | Sequence[Any], names: list[str]) -> Mapping[str, Any]:
    """Parameters by name; those given by position are named in order."""
    if isinstance(params, Mapping):
        return params
    if len(params) > len(names):
        raise InvalidArgument(f"{len(params)} parameters are given, there are {len(names)}")
    return dict(zip(names, params, strict=False))
