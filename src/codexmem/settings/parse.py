"""How a setting's value is read: each function takes what a source gave and returns the value.

A `ValueError` says in a few words what was expected; who reads the settings adds where the value came from.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Parse = Callable[[object], Any]


def text(value: object) -> str:
    """Any text without NUL, trimmed."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("text")
    return value.strip()


def path(value: object) -> Path:
    """An absolute path; `~` is the home folder."""
    given = text(value)
    if not given:
        raise ValueError("a path")
    return Path(given).expanduser().absolute()


def integer(low: int, high: int) -> Parse:
    """A whole number within these bounds."""

    def parse(value: object) -> int:
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
            value = int(value[:20])
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return parse


def switch(value: object) -> bool:
    """On or off."""
    words = {"on": True, "1": True, "true": True, "yes": True, "off": False, "0": False, "false": False, "no": False}
    given = value if isinstance(value, bool) else words.get(str(value).strip().lower())
    if given is None:
        raise ValueError("on or off")
    return given


def choice(*allowed: str) -> Parse:
    """One of these words."""

    def parse(value: object) -> str:
        given = text(value).lower() if isinstance(value, str) else None
        if given not in allowed:
            raise ValueError("one of " + ", ".join(repr(each) for each in allowed))
        return given

    return parse


def names(value: object) -> tuple[str, ...]:
    """Several names, as a list or separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("names separated by commas, or a list of names")
    return tuple(part.strip() for part in parts if part.strip())


def web_url(value: object) -> str:
    """An address on the web, or nothing."""
    given = text(value)
    if given and (urlsplit(given).scheme not in {"http", "https"} or not urlsplit(given).hostname):
        raise ValueError("http://… or https://…")
    return given.rstrip("/")


def collection(value: object) -> str:
    """A name that Chroma takes."""
    given = text(value)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", given):
        raise ValueError("1 to 63 of letters, digits, '.', '_' and '-'")
    return given


def model(*allowed: str) -> Parse:
    """One of these, or a model of fastembed."""

    def parse(value: object) -> str:
        given = text(value)
        if given.lower() in allowed:
            return given.lower()
        if not given.startswith("fastembed:") or not given.removeprefix("fastembed:"):
            raise ValueError("one of " + ", ".join(map(repr, allowed)) + " or 'fastembed:<name or path>'")
        return given

    return parse


def database_url(value: object) -> str:
    """An address of a store, or nothing for the default."""
    given = text(value)
    if given and not given.startswith(("sqlite:///", "postgresql://", "postgres://")):
        raise ValueError("sqlite:///path or postgresql://user@host/database")
    return given
