"""Cursors: the place of the last row that a caller saw, as opaque text.

A page begins behind a place, so it does not move when something is added before it. The text carries a check over its
list's name: one that was changed, or belongs to another list, is refused. It is no secret and grants nothing.
"""

import base64
import binascii
import hashlib
import json
from typing import Annotated, Any

from fastapi import Query

from codexmem.kernel.model.errors import InvalidArgument

_MAX = 4_000  # characters: an address of 512, each of four bytes, fits
_CHECK = 6  # bytes
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

CursorText = Annotated[str, Query(max_length=_MAX, description="the cursor that the page before answered")]


def cursor(name: str, *place: int | str) -> str:
    """The text that leads back to this place of a list; `name` tells lists apart."""
    body = json.dumps(list(place), separators=(",", ":"), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(_check(name, body) + body).decode().rstrip("=")


def place(name: str, text: str, *types: type) -> tuple[Any, ...] | None:
    """The place that a cursor of this list leads to; None for no cursor, InvalidArgument for what was never one."""
    if not text:
        return None
    try:
        if not _ALPHABET.issuperset(text):
            raise ValueError(text)
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        check, body = raw[:_CHECK], raw[_CHECK:]
        found = json.loads(body)
        sound = check == _check(name, body) and isinstance(found, list) and list(map(type, found)) == list(types)
    except (ValueError, RecursionError, binascii.Error):
        sound, found = False, []
    if not sound:
        raise InvalidArgument("cursor is not one of this list", hint="send the cursor of the page before, unchanged")
    return tuple(found)


def _check(name: str, body: bytes) -> bytes:
    return hashlib.blake2s(name.encode() + b"\0" + body, digest_size=_CHECK).digest()
