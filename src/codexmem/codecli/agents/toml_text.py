"""Texts as TOML strings, for agents that take their configuration on the command line."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from codexmem.codecli.agents.json_lines import text_in


def quoted(text: str) -> str:
    """A basic string: JSON's own escapes, except that TOML also wants the delete character escaped."""
    return json.dumps(text_in(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def value_of(text: str) -> Any:
    """What a value on the command line means: TOML, or else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, KeyError):
        return text


def table_of(text: str | None) -> dict[str, Any]:
    """A configuration file; empty if it cannot be read, which is for its program to complain about."""
    try:
        return tomllib.loads(text or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def inline(value: Any) -> str:
    """A value of tables, lists, texts, numbers and truth values on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case dict():
            return "{" + ", ".join(f"{quoted(str(key))} = {inline(each)}" for key, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(inline, value)) + "]"
        case _:
            return quoted(str(value))
