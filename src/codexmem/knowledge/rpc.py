"""`POST /rpc` (contract 003): ten methods over JSON-RPC 2.0, which a bridge brings to stdio.

A request is one message, or a batch of them: single calls and notifications. A batch is answered call by call, in
order, before one deadline; what comes after it is refused, not run. Nothing that a method raises leaves here except as
an error object, answered with status 200; other statuses mean that no message was read. Where there is nothing to
answer the status is 204.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from codexmem.http.errors import ErrorStyle
from codexmem.http.guard import require, written_by
from codexmem.http.params import IdempotencyKey, parsed
from codexmem.http.surface import Surface, router
from codexmem.kernel.feature import Rooms
from codexmem.kernel.model import audience, ids, quoting
from codexmem.kernel.model.errors import CodexmemError, InvalidArgument
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind
from codexmem.kernel.model.tenant import TenantRole
from codexmem.knowledge.service import Knowledge
from codexmem.knowledge.tools import BY_NAME, CallContext

log = logging.getLogger(__name__)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
LATE = -32010
# Our errors by their code; the numbers from -32000 to -32099 are a server's own.
CODES: Mapping[str, int] = {
    "not_found": -32001,
    "conflict": -32002,
    "unauthorized": -32003,
    "forbidden": -32004,
    "rate_limited": -32005,
    "dependency_unavailable": -32006,
    "not_ready": -32007,
    "storage_full": -32008,
    "damaged": -32009,
    # Refused before the message was read.
    "misdirected": -32011,
    "method_not_allowed": -32012,
    "payload_too_large": -32013,
    "unsupported_media_type": -32014,
    "request_timeout": -32015,
    "headers_too_large": -32016,
}
MAX_CALLS = 50
MAX_BATCH_BYTES = 1 << 20
BATCH_S = 30.0
_PARSER = "request body"  # how everything begins that strict JSON says, of malformed texts and of forbidden ones

_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": ["object", "array"]}}},
    }
}

Params = Mapping[str, object] | Sequence[Any]
RpcResponse = dict[str, object]  # a result is whatever its method answers


class Methods(Protocol):
    """What is called."""

    def __contains__(self, name: object) -> bool: ...

    def call(self, name: str, params: Params, *, until: float, place: int) -> Any:
        """The result; InvalidArgument means the parameters. `place` is the call's in its batch."""
        ...


class _WrongError(Exception):
    """What is answered instead of a result; never leaves this module."""

    def __init__(self, code: int, text: str, details: Mapping[str, object] | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.details = details


def answer(message: Any, methods: Methods) -> Any:
    """The response object, a list of them for a batch, or None where nothing may be answered."""
    until = ids.monotonic() + BATCH_S
    if not isinstance(message, list):
        return _answered(message, methods, until, 0)
    if not message:
        return error_object(None, INVALID_REQUEST, "Invalid Request: a batch holds at least one call")
    if len(message) > MAX_CALLS:
        text = f"Invalid Request: a batch holds at most {MAX_CALLS} calls; none of these was run"
        return error_object(None, INVALID_REQUEST, text)
    answers = [_answered(each, methods, until, place) for place, each in enumerate(message)]
    return [each for each in answers if each is not None] or None


def refusal(error: CodexmemError) -> RpcResponse:
    """The response to what was refused before it became a message."""
    if isinstance(error, InvalidArgument) and error.message.startswith(_PARSER):
        return error_object(None, PARSE_ERROR, f"Parse error: {error.message}", _details(error))
    if isinstance(error, InvalidArgument):
        return error_object(None, INVALID_REQUEST, f"Invalid Request: {error.message}", _details(error))
    return error_object(None, CODES.get(error.code, INTERNAL), error.message, _details(error))


def error_object(number: Any, code: int, text: str, details: Mapping[str, object] | None = None) -> RpcResponse:
    """A response that says what went wrong."""
    more = {"data": dict(details)} if details else {}
    return {"jsonrpc": "2.0", "error": {"code": code, "message": text, **more}, "id": number}


def _answered(message: Any, methods: Methods, until: float, place: int) -> RpcResponse | None:
    number = message.get("id") if isinstance(message, dict) else None
    if isinstance(number, bool) or not isinstance(number, str | int | float | None):
        return error_object(None, INVALID_REQUEST, "Invalid Request: id is a string, a number or null")
    try:
        name, params = _read(message)
    except _WrongError as wrong:
        # Whether it was meant as a notification cannot be told, so it is answered.
        return error_object(number, wrong.code, wrong.text)
    try:
        response: RpcResponse = {"jsonrpc": "2.0", "result": _run(methods, name, params, until, place), "id": number}
    except _WrongError as wrong:
        response = error_object(number, wrong.code, wrong.text, wrong.details)
    return response if "id" in message else None


def _read(message: Any) -> tuple[str, Params]:
    if not isinstance(message, dict):
        raise _WrongError(INVALID_REQUEST, "Invalid Request: a call is an object")
    if message.get("jsonrpc") != "2.0":
        raise _WrongError(INVALID_REQUEST, 'Invalid Request: jsonrpc must be "2.0"')
    name, params = message.get("method"), message.get("params", {})
    if not isinstance(name, str):
        raise _WrongError(INVALID_REQUEST, "Invalid Request: method is a string")
    if not isinstance(params, dict | list):
        raise _WrongError(INVALID_REQUEST, "Invalid Request: params is an object or an array")
    return name, params


def _run(methods: Methods, name: str, params: Params, until: float, place: int) -> Any:
    if name not in methods:
        raise _WrongError(METHOD_NOT_FOUND, f"Method not found: {name[:100]}")
    if ids.monotonic() > until:
        raise _WrongError(LATE, f"the batch took longer than {BATCH_S:g} s, so this call was not run")
    try:
        return methods.call(name, params, until=until, place=place)
    except InvalidArgument as error:
        raise _WrongError(INVALID_PARAMS, f"Invalid params: {error.message}", _details(error)) from None
    except CodexmemError as error:
        if error.code in CODES:
            raise _WrongError(CODES[error.code], error.message, _details(error)) from None
        log.exception("method %s failed", name)
    except Exception:
        log.exception("method %s failed", name)
    raise _WrongError(INTERNAL, "Internal error: see the server's log for details")


def _details(error: CodexmemError) -> Mapping[str, object]:
    details = {"code": error.code, "hint": error.hint, "errors": error.details.get("errors")}
    return {name: value for name, value in details.items() if value is not None}


class _Methods:
    """The verbs, called by one caller."""

    def __init__(self, rooms: Rooms, by: WriteContext, key: str | None, require: Callable[[TenantRole], None]) -> None:
        self._rooms = rooms
        self._by = by
        self._key = key
        self._require = require

    def __contains__(self, name: object) -> bool:
        return name in BY_NAME

    def call(self, name: str, params: Params, *, until: float, place: int) -> Any:
        """Call one verb."""
        verb = BY_NAME[name]
        self._require(TenantRole.READER if verb.reads_only else TenantRole.WRITER)
        given = parsed(verb.parameters, _named(params, list(verb.parameters.model_fields)))
        # One key covers a whole batch, so each call of it has its own.
        key = f"{self._key}#{place}" if self._key is not None else None
        asked = CallContext(self._by, until, key)
        with audience.agents():
            document = verb.answer(self._rooms.room(Knowledge), given, asked).document()
        # What agents read through a bridge; JSON itself frames each value.
        return quoting.plain_value(document) if verb.reads_only else document


def routes(rooms: Rooms) -> APIRouter:
    """The route on the services of an open store."""
    api = router()

    @api.post("/rpc", openapi_extra=_BODY)
    async def rpc(request: Request, key: IdempotencyKey) -> Response:
        """Ten methods over JSON-RPC 2.0; see the page on knowledge."""
        message = await request.json()
        if isinstance(message, list) and len(await request.body()) > MAX_BATCH_BYTES:
            raise InvalidArgument(f"a batch is at most {MAX_BATCH_BYTES:,} bytes long; none of its calls was run")
        methods = _Methods(rooms, written_by(request.scope), key, lambda needed: require(request.scope, needed))
        answered = await run_in_threadpool(answer, message, methods)
        if answered is None:
            return Response(status_code=204)
        return Response(json.dumps(answered, ensure_ascii=False, separators=(",", ":")), media_type="application/json")

    return api


def _named(params: Mapping[str, object] | Sequence[Any], names: list[str]) -> Mapping[str, object]:
    """Parameters by name; those given by position are named in order."""
    if isinstance(params, Mapping):
        return params
    if len(params) > len(names):
        raise InvalidArgument(f"{len(params)} parameters are given, there are {len(names)}")
    return dict(zip(names, params, strict=False))


SURFACE: Surface[Rooms] = Surface(
    name="knowledge_rpc",
    prefixes=("/rpc",),
    kinds=frozenset({Kind.KNOWLEDGE}),
    routes=routes,
    errors=ErrorStyle(refusal),
)
