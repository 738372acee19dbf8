"""The routes of `/api/notes`, beyond the contracts: notes for people and programs that keep them in order, as a tree,
with their past. Every write may be sent again with its Idempotency-Key, and can be taken back.
"""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from codexmem.http.cursors import CursorText, cursor, place
from codexmem.http.errors import ENVELOPE
from codexmem.http.guard import written_by
from codexmem.http.params import IdempotencyKey
from codexmem.http.surface import Surface, router
from codexmem.kernel.feature import Rooms
from codexmem.kernel.model import note
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Kind, Memory
from codexmem.kernel.model.query import RowCursor
from codexmem.kernel.model.search import MAX_DEPTH
from codexmem.notes import wire
from codexmem.notes.service import NoteService
from codexmem.notes.service.writing import NoteRollback

_ERRORS: dict[int | str, dict[str, object]] = {"default": {"model": wire.NoteError, "description": "An error"}}
_Limit = Annotated[int, Query(ge=1, le=wire.MAX_LIMIT, description=f"items of a page, at most {wire.MAX_LIMIT}")]
_UriAsked = Annotated[str, Query(min_length=1, max_length=wire.MAX_ASKED, description="any address of the note")]


def routes(rooms: Rooms) -> APIRouter:
    """The routes on the services of an open store."""
    api = router()
    _add_reading(api, rooms)
    _add_writing(api, rooms)
    return api


def _add_reading(api: APIRouter, rooms: Rooms) -> None:
    @api.get("/api/notes/tree", responses=_ERRORS)
    def tree(
        prefix: Annotated[str, Query(max_length=4_000, description="an address; without one, the domains")] = "",
        cursor: CursorText = "",
        limit: _Limit = 50,
        deleted: bool = False,
    ) -> wire.NoteTree:
        """What lies directly under an address, in the order of bytes."""
        return _tree(rooms.room(NoteService), prefix, cursor, limit, deleted)

    @api.get("/api/notes", response_model_exclude_unset=True, responses=_ERRORS)
    def notes(asked: Annotated[wire.ListNotes, Query()]) -> wire.NoteList:
        """Notes by filters, the newest first, or by words, the best first."""
        service = rooms.room(NoteService)
        return _found(service, asked) if asked.q.strip() else _listed(service, asked)

    @api.get("/api/notes/stats", responses=_ERRORS)
    def stats() -> wire.NoteStats:
        """How many notes there are of what."""
        return wire.NoteStats.of(rooms.room(NoteService).shelf.figures())

    @api.get("/api/notes/read", responses=_ERRORS)
    def read(uri: _UriAsked) -> wire.Note:
        """One note, deleted or not; it counts as no use of it."""
        return wire.Note.inspected(rooms.room(NoteService).reading.look(uri))

    @api.get("/api/notes/view", responses=_ERRORS)
    def view(
        uri: Annotated[str, Query(min_length=1, max_length=4_000, description="for example system://boot")],
    ) -> wire.NoteView:
        """A view as agents are told it; nothing is counted as shown."""
        return wire.NoteView.of(rooms.room(NoteService).views.read(uri, told=False))

    @api.get("/api/notes/versions", responses=_ERRORS)
    def versions(uri: _UriAsked, cursor: CursorText = "", limit: _Limit = 20) -> wire.NoteVersions:
        """Its versions, the newest first."""
        return _versions(rooms.room(NoteService), uri, cursor, limit)

    @api.get("/api/notes/version", responses=_ERRORS)
    def version(uri: _UriAsked, version: wire.Number) -> wire.NoteState:
        """What it said in one version."""
        return wire.NoteState.of(rooms.room(NoteService).reading.version(uri, version))

    @api.get("/api/notes/diff", responses=_ERRORS)
    def diff(uri: _UriAsked, before: wire.Number, after: wire.Number) -> wire.NoteDiff:
        """Two of its versions side by side."""
        return wire.NoteDiff.of(uri, rooms.room(NoteService).reading.diff(uri, before, after))

    @api.get("/api/notes/rollback/preview", responses=_ERRORS)
    def preview(uri: _UriAsked, version: wire.Number) -> wire.NoteWayBack:
        """What bringing a version back would change."""
        return wire.NoteWayBack.of(uri, rooms.room(NoteService).reading.way_back(uri, version))


def _add_writing(api: APIRouter, rooms: Rooms) -> None:
    def written(
        request: Request, body: BaseModel, key: str | None, write: Callable[[NoteService, WriteContext], Memory]
    ) -> wire.NoteWritten:
        notes = rooms.room(NoteService)

        def effect() -> tuple[wire.NoteWritten, str]:
            memory = write(notes, written_by(request.scope))
            return wire.NoteWritten.of(notes.reading.anew(memory)), f"memory:{memory.seq}"

        return notes.receipts.once_as(wire.NoteWritten, request.scope["path"], key, body, effect)

    def rolled_back(
        request: Request, body: BaseModel, key: str | None, write: Callable[[NoteService, WriteContext], NoteRollback]
    ) -> wire.NoteRolledBack:
        notes = rooms.room(NoteService)

        def effect() -> tuple[wire.NoteRolledBack, str]:
            done = write(notes, written_by(request.scope))
            return wire.NoteRolledBack.back(notes.reading.anew(done.memory), done), f"memory:{done.memory.seq}"

        return notes.receipts.once_as(wire.NoteRolledBack, request.scope["path"], key, body, effect)

    @api.post("/api/notes", responses=_ERRORS)
    def create(request: Request, body: wire.CreateNote, key: IdempotencyKey) -> wire.NoteWritten:
        """Keep something under an address that nothing stands under."""
        return written(request, body, key, lambda notes, by: notes.writing.create(body.new(), by))

    @api.post("/api/notes/update", responses=_ERRORS)
    def update(request: Request, body: wire.UpdateNote, key: IdempotencyKey) -> wire.NoteWritten:
        """Replace, append to or patch the content, or change priority, disclosure and status."""
        edit = body.edit()
        return written(
            request, body, key, lambda notes, by: notes.writing.update(body.uri, edit, by, seen=body.if_version)
        )

    @api.post("/api/notes/delete", responses=_ERRORS)
    def delete(request: Request, body: wire.DeleteNote, key: IdempotencyKey) -> wire.NoteWritten:
        """Hide the note; its history stays."""
        return written(
            request, body, key, lambda notes, by: notes.writing.delete(body.uri, by, seen=body.if_version).memory
        )

    @api.post("/api/notes/restore", responses=_ERRORS)
    def restore(request: Request, body: wire.RestoreNote, key: IdempotencyKey) -> wire.NoteRolledBack:
        """Let a deleted note stand again as it last stood."""
        return rolled_back(request, body, key, lambda notes, by: notes.writing.restore(body.uri, by))

    @api.post("/api/notes/rollback", responses=_ERRORS)
    def rollback(request: Request, body: wire.RollBackNote, key: IdempotencyKey) -> wire.NoteRolledBack:
        """Write an earlier version again as the newest."""

        def back(notes: NoteService, by: WriteContext) -> NoteRollback:
            return notes.writing.rollback(body.uri, body.version, by, seen=body.if_version)

        return rolled_back(request, body, key, back)

    @api.post("/api/notes/aliases", responses=_ERRORS)
    def alias(request: Request, body: wire.AliasOfNote, key: IdempotencyKey) -> wire.NoteWritten:
        """Give the note one more address."""
        return written(request, body, key, lambda notes, by: notes.writing.alias(body.uri, body.alias, by))

    @api.post("/api/notes/aliases/remove", responses=_ERRORS)
    def unalias(request: Request, body: wire.AliasOfNote, key: IdempotencyKey) -> wire.NoteWritten:
        """Take one of the note's further addresses away."""
        return written(request, body, key, lambda notes, by: notes.writing.unalias(body.uri, body.alias, by))


def _tree(notes: NoteService, prefix: str, at: str, limit: int, deleted: bool) -> wire.NoteTree:
    found = place("notes/tree", at, str, str)
    beginning, after = found if found is not None else (prefix, "")
    page = notes.tree.branch(beginning, limit=limit, after=after, deleted=deleted)
    following = cursor("notes/tree", page.prefix, page.after) if page.after is not None else None
    return wire.NoteTree(
        prefix=page.prefix,
        items=tuple(map(wire.NotePlace.of, page.nodes)),
        next_cursor=following,
        has_more=following is not None,
    )


def _listed(notes: NoteService, asked: wire.ListNotes) -> wire.NoteList:
    found = place("notes", asked.cursor, int, int)
    after = RowCursor(*found) if found is not None else None
    page = notes.shelf.page(asked.wish(), limit=asked.limit, after=after)
    following = cursor("notes", page.after.created_ms, page.after.seq) if page.after is not None else None
    return wire.NoteList(
        items=tuple(map(wire.NoteFound.of, page.memories)),
        next_cursor=following,
        has_more=following is not None,
        mode=None,
        notes=(),
    )


def _found(notes: NoteService, asked: wire.ListNotes) -> wire.NoteList:
    found = place("notes/found", asked.cursor, int)
    (offset,) = found if found is not None else (0,)
    limit = min(asked.limit, MAX_DEPTH - offset)
    results = notes.shelf.search(asked.q.strip(), asked.wish(), limit=limit, offset=offset)
    further = results.more and offset + limit < MAX_DEPTH
    following = cursor("notes/found", offset + limit) if further else None
    return wire.NoteList(
        items=tuple(wire.NoteFound.of(each.memory, score=round(each.score, 4)) for each in results.found),
        next_cursor=following,
        has_more=following is not None,
        mode=results.mode.value,
        notes=results.notes,
    )


def _versions(notes: NoteService, uri: str, at: str, limit: int) -> wire.NoteVersions:
    found = place("notes/versions", at, int)
    below = found[0] if found is not None else None
    # One more than is told: it says what the last one changed, and that there is more.
    past = notes.reading.versions(uri, limit=limit + 1, below=below)
    pairs = zip(past.versions, [*past.versions[1:], None], strict=False)
    items = tuple(wire.NoteVersion.of(each, before) for each, before in pairs)[:limit]
    following = cursor("notes/versions", items[-1].version) if len(past.versions) > limit else None
    return wire.NoteVersions(
        uri=note.primary(past.memory),
        seq=past.memory.seq,
        current=past.memory.version,
        items=items,
        next_cursor=following,
        has_more=following is not None,
    )


SURFACE: Surface[Rooms] = Surface(
    name="notes_api",
    prefixes=("/api/notes",),
    kinds=frozenset({Kind.NOTE}),
    routes=routes,
    errors=ENVELOPE,
)
