"""How the values are read that only the wrapper's configuration has; the common ones are in `domain.written`."""

from __future__ import annotations

import shlex

from codexmem.kernel.model import json_text
from codexmem.kernel.model.parse_value import text


def name(value: object) -> str:
    """A name on one line."""
    given = text(value)
    if len(given) > 200 or not given.isprintable():
        raise ValueError("a name of at most 200 printable characters")
    return given


def fraction(value: object) -> float:
    """A number from 0 to 1."""
    try:
        given = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except ValueError:
        given = -1.0
    if not 0 <= given <= 1:
        raise ValueError("a number from 0 to 1")
    return given


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
            return json_text.loads(value)
        except ValueError:
            return None
    return [each.strip() for each in value.split(",") if each.strip()]
