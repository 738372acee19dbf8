"""How a value that somebody wrote into a file, a variable or a flag is read.

Each function takes what was given and returns the value. A `ValueError` says in a few words what was expected; whoever
reads the settings adds which one and where it came from.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

Parse = Callable[[object], Any]
_LONGEST = 4_096
_WORDS = {"on": True, "1": True, "true": True, "yes": True, "off": False, "0": False, "false": False, "no": False}


def text(value: object) -> str:
    """Any text without NUL of a reasonable length, trimmed."""
    if not isinstance(value, str) or "\0" in value or len(value) > _LONGEST:
        raise ValueError("text")
    return value.strip()


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
    given = value if isinstance(value, bool) else _WORDS.get(str(value).strip().lower())
    if given is None:
        raise ValueError("on or off")
    return given


def choice(*allowed: str) -> Parse:
    """One of these words."""

    def parse(value: object) -> str:
        given = text(value).lower() if isinstance(value, str) else None
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
        raise ValueError("http://… or https://…")
    return given.rstrip("/")
