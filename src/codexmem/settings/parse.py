"""How the values of settings are read that only the server has; the common ones are in `domain.written`."""

import re
from pathlib import Path

from codexmem.domain.written import Parse, text


def path(value: object) -> Path:
    """An absolute path; `~` is the home folder."""
    given = text(value)
    if not given:
        raise ValueError("a path")
    return Path(given).expanduser().absolute()


def names(value: object) -> tuple[str, ...]:
    """Several names, as a list or separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError("names separated by commas, or a list of names")
    return tuple(part.strip() for part in parts if part.strip())


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
