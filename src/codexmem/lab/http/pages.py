"""Lists of this interface: how long a page is. Cursors are those of every interface."""

from typing import Annotated

from fastapi import Query

from codexmem.http.cursors import cursor, place

__all__ = ["DEFAULT_LIMIT", "MAX_LIMIT", "CursorText", "Limit", "cursor", "place"]

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_MAX_CURSOR = 400

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description=f"items of a page, at most {MAX_LIMIT}")]
CursorText = Annotated[str, Query(max_length=_MAX_CURSOR, description="next_cursor of the page before")]
