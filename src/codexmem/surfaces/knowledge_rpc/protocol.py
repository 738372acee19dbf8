"""JSON-RPC 2.0 over values that are already parsed: single calls, notifications and batches.

A batch is answered call by call, in order, before one deadline; what comes after it is refused, not run. Nothing that a
method raises leaves here except as an error object.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from codexmem.domain import ids
from codexmem.domain.errors import CodexmemError, InvalidArgument

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
BATCH_S = 30.0
_PARSER = "request body"  # how everything begins that strict JSON says, of malformed texts and of forbidden ones

Params = Mapping[str, Any] | Sequence[Any]


class Methods(Protocol):
    """What is called."""

    def __contains__(self, name: object) -> bool: ...

    def call(self, name: str, params: Params, *, until: float, place: int) -> Any:
        """The result; InvalidArgument means the parameters. `place` is the call's in its batch."""
        ...


class _WrongError(Exception):
    """What is answered instead of a result; never leaves this module."""

    def __init__(self, code: int, text: str, details: Mapping[str, Any] | None = None) -> None:
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


def refusal(error: CodexmemError) -> dict[str, Any]:
    """The response to what was refused before it became a message."""
    if isinstance(error, InvalidArgument) and error.message.startswith(_PARSER):
        return error_object(None, PARSE_ERROR, f"Parse error: {error.message}", _details(error))
    if isinstance(error, InvalidArgument):
        return error_object(None, INVALID_REQUEST, f"Invalid Request: {error.message}", _details(error))
    return error_object(None, CODES.get(error.code, INTERNAL), error.message, _details(error))


def error_object(number: Any, code: int, text: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A response that says what went wrong."""
    more = {"data": dict(details)} if details else {}
    return {"jsonrpc": "2.0", "error": {"code": code, "message": text, **more}, "id": number}


def _answered(message: Any, methods: Methods, until: float, place: int) -> dict[str, Any] | None:
    number = message.get("id") if isinstance(message, dict) else None
    if isinstance(number, bool) or not isinstance(number, str | int | float | None):
        return error_object(None, INVALID_REQUEST, "Invalid Request: id is a string, a number or null")
    try:
        name, params = _read(message)
    except _WrongError as wrong:
        # Whether it was meant as a notification cannot be told, so it is answered.
        return error_object(number, wrong.code, wrong.text)
    try:
        response: dict[str, Any] = {"jsonrpc": "2.0", "result": _run(methods, name, params, until, place), "id": number}
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
    raise _WrongError(INTERNAL, "Internal error: the server's log holds the details")


def _details(error: CodexmemError) -> dict[str, Any]:
    told: dict[str, Any] = {"code": error.code, "hint": error.hint, "errors": error.details.get("errors")}
    return {name: value for name, value in told.items() if value is not None}
