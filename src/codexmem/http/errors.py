"""One error hierarchy, rendered in each surface's own words.

A surface brings an `ErrorStyle`: which status a code has and how the body looks. The style is chosen by the path alone,
so that a refusal before routing, an unknown path and a failing service look the same to its clients. What an
unexpected failure says stays in the log; its reply says nothing about it.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codexmem.kernel.model.errors import (
    CodexmemError,
    Forbidden,
    InvalidArgument,
    NotFound,
    NotReady,
    RateLimited,
    Unauthorized,
    Unavailable,
)

log = logging.getLogger(__name__)


class Misdirected(CodexmemError):
    """The Host header does not name this server."""

    code = "misdirected"


class MethodNotAllowed(CodexmemError):
    """The path exists, the method does not."""

    code = "method_not_allowed"


class BodyTooSlow(CodexmemError):
    """The body did not arrive in time."""

    code = "request_timeout"


class BodyTooLarge(CodexmemError):
    """The body is larger than any request may be."""

    code = "payload_too_large"


class UnsupportedMediaType(CodexmemError):
    """The body is not application/json."""

    code = "unsupported_media_type"


class HeadTooLarge(CodexmemError):
    """Address and headers are larger than any request needs."""

    code = "headers_too_large"


STATUSES: Mapping[str, int] = MappingProxyType(
    {
        "invalid_argument": 400,
        "unauthorized": 401,
        "forbidden": 403,
        "not_found": 404,
        "method_not_allowed": 405,
        "request_timeout": 408,
        "conflict": 409,
        "payload_too_large": 413,
        "unsupported_media_type": 415,
        "misdirected": 421,
        "rate_limited": 429,
        "headers_too_large": 431,
        "internal": 500,
        "dependency_unavailable": 503,
        "not_ready": 503,
        "storage_full": 507,
    }
)

_BY_STATUS: Mapping[int, type[CodexmemError]] = MappingProxyType(
    {
        401: Unauthorized,
        403: Forbidden,
        404: NotFound,
        405: MethodNotAllowed,
        408: BodyTooSlow,
        413: BodyTooLarge,
        415: UnsupportedMediaType,
        429: RateLimited,
        503: Unavailable,
    }
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished error reply."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        """The reply as the framework's response."""
        return Response(self.body, self.status, dict(self.headers), "application/json")

    async def send(self, send: Send) -> None:
        """Send the reply as bare ASGI messages."""
        response = self.response()
        await send({"type": "http.response.start", "status": self.status, "headers": response.raw_headers})
        await send({"type": "http.response.body", "body": self.body})


def _plain(error: CodexmemError) -> object:
    plain = {"error": error.message} | ({"hint": error.hint} if error.hint else {})
    return plain | ({"details": error.details} if "limit" in error.details else {})  # which limit was reached


def _reasoned(error: CodexmemError) -> object:
    plain = {"error": error.message} | ({"hint": error.hint} if error.hint else {})
    return plain | ({"details": error.details} if "reason" in error.details else {})


def _envelope(error: CodexmemError) -> object:
    details = error.details | ({"hint": error.hint} if error.hint else {})
    return {"error": {"code": error.code, "message": error.message, "details": details}}


@dataclass(frozen=True, slots=True)
class ErrorStyle:
    """How one surface reports errors."""

    body: Callable[[CodexmemError], object]
    statuses: Mapping[str, int] = field(default_factory=lambda: STATUSES)
    # (route template, first field or "" for the whole body) → the contract's own text for an invalid value there
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def reply(self, error: CodexmemError) -> Reply:
        """Render the error; one without a known code tells the caller nothing but that it happened."""
        status = self.statuses.get(error.code, 500)
        if status == 500:
            error = CodexmemError("internal error", hint="see the server's log for details")
        headers = {}
        if status == 401:
            headers["www-authenticate"] = "Bearer"
        wait = error.details.get("retry_after_s")
        if isinstance(wait, int):
            headers["retry-after"] = str(wait)
        if isinstance(allow := error.details.get("allow"), str):
            headers["allow"] = allow
        if isinstance(cell := error.details.get("cell"), str):
            headers |= {"codexmem-cell": cell, "codexmem-cell-address": str(error.details.get("address", ""))}
        return Reply(status, json.dumps(self.body(error), default=str).encode(), headers)


PLAIN = ErrorStyle(_plain)  # {"error": text}, with the limit where one was reached
REASONED = ErrorStyle(_reasoned)  # the same and, where the error has a reason, what a client needs to word it anew
ENVELOPE = ErrorStyle(_envelope)  # {"error": {"code", "message", "details"}}


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """Which style speaks for which path; the longest prefix of whole segments wins."""

    styles: Sequence[tuple[str, ErrorStyle]] = ()
    otherwise: ErrorStyle = PLAIN

    def style_for(self, path: str) -> ErrorStyle:
        """The style of the surface that owns the path."""
        found, length = self.otherwise, -1
        for prefix, style in self.styles:
            stem = prefix.rstrip("/")
            if len(stem) > length and (path == stem or path.startswith(stem + "/")):
                found, length = style, len(stem)
        return found

    def reply(self, path: str, error: CodexmemError) -> Reply:
        """Render the error in the words of the path's surface, and log what is our fault."""
        reply = self.style_for(path).reply(error)
        if reply.status == 500:
            log.error("internal error", exc_info=error)
        elif reply.status > 500:
            log.warning("%s: %s", error.code, error.message)
        return reply


def invalid(
    template: str, problems: Sequence[Mapping[str, Any]], texts: Mapping[tuple[str, str], str]
) -> InvalidArgument:
    """The framework's list of validation problems as one error: the first is the message, all are the details.

    A ValueError raised by a validator keeps its text, so that a contract's wording can live beside the field.
    """
    listed = [{"field": _field(problem), "problem": _text(problem)} for problem in problems[:10]]
    first = problems[0] if problems else {"loc": (), "msg": "invalid request"}
    name = str(first["loc"][1]) if len(first["loc"]) > 1 else ""
    message = texts.get((template, name))
    if message is None:
        own_words = first.get("type") in {"value_error", "assertion_error"}
        place = "" if own_words else _field(first)
        message = f"{place}: {_text(first)}" if place else _text(first)
    return InvalidArgument(message, details={"errors": listed})


def _field(problem: Mapping[str, Any]) -> str:
    place, *path = problem["loc"] or ("request",)
    return ".".join(str(part) for part in path)[:200] or str(place)


def _text(problem: Mapping[str, Any]) -> str:
    cause = problem.get("ctx", {}).get("error")
    return str(cause if isinstance(cause, Exception) else problem["msg"])[:500]


Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]


def exception_handlers(table: ErrorTable) -> dict[int | type[Exception], Handler]:
    """What the framework is to do with each exception that a route or the router raises."""

    async def ours(request: Request, error: CodexmemError) -> Response:
        return table.reply(request.scope["path"], error).response()

    async def validation(request: Request, error: RequestValidationError) -> Response:
        path = request.scope["path"]
        template = getattr(request.scope.get("route"), "path", "")
        return table.reply(path, invalid(template, error.errors(), table.style_for(path).texts)).response()

    async def framework(request: Request, error: HTTPException) -> Response:
        path, status = request.scope["path"], error.status_code
        found = _BY_STATUS.get(status, InvalidArgument if status < 500 else CodexmemError)
        details = {"allow": error.headers["Allow"]} if error.headers and "Allow" in error.headers else {}
        return table.reply(path, found(_framework_text(status, str(error.detail)), details=details)).response()

    return {CodexmemError: ours, RequestValidationError: validation, HTTPException: framework}


def _framework_text(status: int, detail: str) -> str:
    match status:
        case 404:
            return "no such path"
        case 405:
            return "this path does not answer to that method"
        case _:
            return detail


class LastResort:
    """Turns whatever escapes the handlers into a silent 500, with the traceback in the log."""

    def __init__(self, app: ASGIApp, table: ErrorTable) -> None:
        self._app = app
        self._table = table

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watching(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watching)
        except asyncio.CancelledError:
            if not started and scope["type"] == "http":
                stopping = NotReady("the server is stopping; the request may or may not have taken effect")
                await self._table.reply(scope["path"], stopping).send(send)
            raise
        except Exception as error:
            if started or scope["type"] != "http":
                raise  # too late for a reply; the server logs it and cuts the connection
            log.exception("unexpected failure")
            reply = self._table.style_for(scope["path"]).reply(CodexmemError(type(error).__name__))
            await reply.send(send)
