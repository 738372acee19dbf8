"""Lists of this door: how long a page is, and what it answers. Cursors are those of every door."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query

from codexmem.surfaces._kit.cursors import cursor, place

__all__ = ["DEFAULT_LIMIT", "MAX_LIMIT", "CursorText", "Limit", "cursor", "page", "place"]

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_MAX_CURSOR = 400

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description=f"items of a page, at most {MAX_LIMIT}")]
CursorText = Annotated[str, Query(max_length=_MAX_CURSOR, description="next_cursor of the page before")]


def page(items: Sequence[dict[str, Any]], next_cursor: str | None) -> dict[str, Any]:
    """A page as every list of this door answers it."""
    return {"items": list(items), "next_cursor": next_cursor, "has_more": next_cursor is not None}
