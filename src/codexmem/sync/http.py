"""The routes of `/api/sync`: the files of a checkout and the memories of its project, brought in step.

Sending the same files again changes nothing: what is in step stays so.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.http.guard import written_by
from codexmem.http.surface import Surface, router
from codexmem.kernel.feature import Rooms
from codexmem.kernel.model.memory import MAX_PROJECT
from codexmem.kernel.model.query import RowCursor
from codexmem.sync import wire
from codexmem.sync.model import KINDS
from codexmem.sync.service import SyncService

_ERRORS: dict[int | str, dict[str, object]] = {"default": {"model": wire.SyncError, "description": "An error"}}


def routes(rooms: Rooms) -> APIRouter:
    """The routes on the services of an open store."""
    api = router()

    @api.post("/api/sync/files", responses=_ERRORS)
    def files(request: Request, body: wire.SyncFiles) -> wire.SyncFilesAnswer:
        """Bring files and memories in step: edits, renames and deletions of files become versions."""
        reports = [each.report() for each in body.files]
        by = written_by(request.scope)
        take = rooms.room(SyncService).take
        return wire.SyncFilesAnswer.of(take(body.project, reports, by, write=not body.dry_run, delta=body.delta))

    @api.get("/api/sync/memories", responses=_ERRORS)
    def memories(
        project: Annotated[str, Query(min_length=1, max_length=MAX_PROJECT)],
        lessons: Annotated[bool, Query(description="also lessons that belong to no project")] = False,
        cursor: CursorText = "",
    ) -> wire.SyncMemories:
        """Notes, approved answers and approved lessons of a project as files, some at a time."""
        return _page(rooms.room(SyncService), project, lessons, cursor)

    return api


def _page(sync: SyncService, project: str, lessons: bool, at: str) -> wire.SyncMemories:
    found = place("sync/memories", at, int, int, int)
    after = None
    if found is not None:
        stage, created_ms, seq = found
        after = (stage, RowCursor(created_ms, seq) if seq else None)
    page = sync.page(project, lessons=lessons, after=after)
    following = None
    if page.after is not None:
        stage, row = page.after
        following = cursor("sync/memories", stage, row.created_ms if row else 0, row.seq if row else 0)
    return wire.SyncMemories(
        items=tuple(map(wire.SyncMemory.of, page.items)),
        withheld=page.withheld,
        next_cursor=following,
        has_more=following is not None,
    )


SURFACE: Surface[Rooms] = Surface(name="sync_api", prefixes=("/api/sync",), kinds=KINDS, routes=routes)
