"""Lists of this interface: how long a page is. Cursors are those of every interface.

What the routes of this interface call, besides the lab itself.
"""

from typing import Annotated, Protocol

from fastapi import Query

from codexmem.http.cursors import cursor, place
from codexmem.kernel.feature import Rooms
from codexmem.kernel.services.receipts import Receipts
from codexmem.kernel.services.status import ServerStatus

__all__ = ["DEFAULT_LIMIT", "MAX_LIMIT", "CursorText", "Limit", "cursor", "place"]

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_MAX_CURSOR = 400

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description=f"items of a page, at most {MAX_LIMIT}")]
CursorText = Annotated[str, Query(max_length=_MAX_CURSOR, description="next_cursor of the page before")]


class LabRouteServices(Rooms, Protocol):
    """What this interface needs."""

    @property
    def status(self) -> ServerStatus: ...
    @property
    def receipts(self) -> Receipts: ...
