"""Lists of this door: how long a page is, and cursors.

A cursor is the place of the last item, so a page does not move when something is added before it. It is opaque: it
carries a check over its list's name, and one that was changed, or belongs to another list, is refused.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query

from codexmem.domain.errors import InvalidArgument

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_MAX_CURSOR = 400
_CHECK = 6  # bytes
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description=f"items of a page, at most {MAX_LIMIT}")]
CursorText = Annotated[str, Query(max_length=_MAX_CURSOR, description="next_cursor of the page before")]


def page(items: Sequence[dict[str, Any]], next_cursor: str | None) -> dict[str, Any]:
    """A page as every list of this door answers it."""
    return {"items": list(items), "next_cursor": next_cursor, "has_more": next_cursor is not None}


def cursor(name: str, *place: int | str) -> str:
    """The text that leads back to this place of a list; `name` tells lists apart."""
    body = json.dumps(list(place), separators=(",", ":")).encode()
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
        raise InvalidArgument("cursor is not one of this list", hint="send next_cursor of the page before, unchanged")
    return tuple(found)


def _check(name: str, body: bytes) -> bytes:
    return hashlib.blake2s(name.encode() + b"\0" + body, digest_size=_CHECK).digest()
