"""How a configured value is read: each function takes what a file, the environment or a flag gave and returns it.

A `ValueError` says in a few words what was expected; who reads the configuration adds where and which key.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

Parse = Callable[[object], Any]
_WORDS = {"on": True, "1": True, "true": True, "yes": True, "off": False, "0": False, "false": False, "no": False}
_LONGEST = 4_096


def text(value: object) -> str:
    """Any printable text of a reasonable length, trimmed."""
    if not isinstance(value, str) or "\0" in value or len(value) > _LONGEST:
        raise ValueError("text")
    return value.strip()


def name(value: object) -> str:
    """A name on one line."""
    given = text(value)
    if len(given) > 200 or not given.isprintable():
        raise ValueError("a name of at most 200 printable characters")
    return given


def integer(low: int, high: int) -> Parse:
    """A whole number within these bounds."""

    def parse(value: object) -> int:
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
            value = int(value[:20])
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return parse


def fraction(value: object) -> float:
    """A number from 0 to 1."""
    try:
        given = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except ValueError:
        given = -1.0
    if not 0 <= given <= 1:
        raise ValueError("a number from 0 to 1")
    return given


def switch(value: object) -> bool:
    """On or off."""
    given = value if isinstance(value, bool) else _WORDS.get(str(value).strip().lower())
    if given is None:
        raise ValueError("on or off, true or false")
    return given


def choice(*allowed: str) -> Parse:
    """One of these words."""

    def parse(value: object) -> str:
        given = value.strip().lower() if isinstance(value, str) else None
        if given not in allowed:
            raise ValueError("one of " + ", ".join(allowed))
        return given

    return parse


def web_url(value: object) -> str:
    """An address on the web, or nothing."""
    given = text(value)
    try:
        parts = urlsplit(given)
        sound = not given or (parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0)
    except ValueError:  # a port that is no number
        sound = False
    if not sound:
        raise ValueError("http://… or https://…, or nothing")
    return given.rstrip("/")


def command(value: object) -> tuple[str, ...]:
    """A program and its first arguments: a list, or a line as a shell reads it."""
    try:
        parts = shlex.split(value) if isinstance(value, str) else value
    except ValueError:
        parts = None
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(each, str) and each for each in parts):
        raise ValueError("a program and its arguments")
    return tuple(parts)


def texts(value: object) -> tuple[str, ...]:
    """Several texts, as a list or as JSON."""
    found = _decoded(value)
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise ValueError("a list of texts")
    return tuple(found)


def rules(value: object) -> tuple[object, ...]:
    """Rules of the policy: texts or tables; what they say is judged where the policy is read."""
    found = _decoded(value)
    if not isinstance(found, list | tuple) or not all(isinstance(each, str | dict) for each in found):
        raise ValueError("a list of rules, each a text or a table")
    return tuple(found)


def mapping(value: object) -> dict[str, str]:
    """Names and texts, as a table or as JSON."""
    found = _decoded(value)
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise ValueError("a table of texts")
    return dict(found)


def _decoded(value: object) -> object:
    """In the environment a list is JSON, or for short texts with commas between them."""
    if not isinstance(value, str):
        return value
    if value.lstrip()[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except ValueError:
            return None
    return [each.strip() for each in value.split(",") if each.strip()]
