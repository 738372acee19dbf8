"""Strict JSON: the one parser for request bodies.

It accepts what every JSON reader and both engines agree on, and nothing else: UTF-8, bounded depth and size, 64-bit
integers, finite numbers, unique keys, no NUL and no lone surrogate. The checks that protect the parser itself (depth,
number of items) run before it. Texts name the rule and never quote the body.
"""

import json
import math
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from codexmem.kernel.model.errors import InvalidArgument

PARSED = "codexmem.json"  # scope key under which the guard leaves the parsed body
OFF_LOOP_BYTES = 32 * 1024  # a larger body is parsed in a worker thread, so that it delays nobody else

_MAX_INT = 2**63 - 1
_MIN_INT = -(2**63)

# A whole string (to the end of the text if it never closes, which keeps the scan linear), or one structural byte.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_SUSPECT_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNFIT = re.compile("[\0\ud800-\udfff]")


class MalformedJson(InvalidArgument):
    """The body is not JSON at all, as opposed to JSON that breaks a limit."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """How much one request body may hold."""

    body_bytes: int = 4 * 1024 * 1024
    depth: int = 64
    items: int = 100_000  # array elements and object members together
    string_chars: int = 1024 * 1024


DEFAULT_LIMITS = BodyLimits()


def parse_json(body: bytes, limits: BodyLimits = DEFAULT_LIMITS) -> Any:
    """The value that the body spells, or InvalidArgument naming the rule it breaks."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedJson("request body is not valid UTF-8") from error
    _check_structure(body, limits)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_small_int,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise MalformedJson("request body is not valid JSON") from error
    if len(body) > limits.string_chars or _SUSPECT_ESCAPE.search(body):
        _check_strings(value, limits)
    return value


async def parse_json_aside(body: bytes, limits: BodyLimits) -> Any:
    """`parse_json` for the event loop: a large body is parsed in a worker thread."""
    if len(body) <= OFF_LOOP_BYTES:
        return parse_json(body, limits)
    return await run_in_threadpool(parse_json, body, limits)


def _check_structure(body: bytes, limits: BodyLimits) -> None:
    openings = body.count(b"[") + body.count(b"{")
    if openings <= limits.depth and openings + body.count(b",") <= limits.items:
        return  # even if none of these bytes stood inside a string, no limit could be broken
    depth = items = 0
    for token in _TOKEN.finditer(body):
        match body[token.start()]:
            case 0x22:  # a string
                continue
            case 0x5B | 0x7B:
                depth += 1
                items += 1
                if depth > limits.depth:
                    raise InvalidArgument(f"request body is nested more than {limits.depth} levels deep")
            case 0x5D | 0x7D:
                depth -= 1
            case _:
                items += 1
        if items > limits.items:
            raise InvalidArgument(f"request body holds more than {limits.items} items")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidArgument("request body repeats a key within one object")
    return members


def _small_int(digits: str) -> int:
    # Twenty characters hold every 64-bit integer with its sign; longer text must not even reach int().
    value = int(digits) if len(digits) <= 20 else _MAX_INT + 1
    if not _MIN_INT <= value <= _MAX_INT:
        raise InvalidArgument("request body holds an integer outside the signed 64-bit range")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidArgument("request body holds a number that is too large")
    return value


def _refuse_constant(name: str) -> float:
    raise InvalidArgument(f"request body holds {name}, which is not JSON")


def _check_strings(value: Any, limits: BodyLimits) -> None:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            if len(current) > limits.string_chars:
                raise InvalidArgument(f"request body holds a string of more than {limits.string_chars} characters")
            if _UNFIT.search(current):
                raise InvalidArgument("request body holds a NUL character or a lone surrogate")
        elif isinstance(current, dict):
            waiting.extend(current)
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)


class StrictRequest(Request):
    """A request whose JSON is the strictly parsed one: the guard's if it ran, else parsed here, once."""

    async def json(self) -> Any:
        """The parsed body."""
        if PARSED not in self.scope:
            self.scope[PARSED] = await parse_json_aside(await self.body(), DEFAULT_LIMITS)
        return self.scope[PARSED]


class StrictRoute(APIRoute):
    """The route class of every surface: its handlers see no body that strict JSON refuses."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's handler, behind the strict parser."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            strict_request = StrictRequest(request.scope, request.receive)
            # Before the framework's own reading, which would hide our error behind a text of its own.
            if await strict_request.body():
                await strict_request.json()
            return await handle(strict_request)

        return strict
