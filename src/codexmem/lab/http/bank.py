"""Lessons: listing, searching, looking, writing and archiving them (contract 002 §5.1)."""

from typing import Annotated

from fastapi import APIRouter, Query

from codexmem.http.params import IdempotencyKey
from codexmem.kernel.model.history import WriteContext
from codexmem.kernel.model.memory import Status
from codexmem.kernel.model.query import RowCursor
from codexmem.kernel.model.search import MAX_DEPTH
from codexmem.lab.http.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, place
from codexmem.lab.http.services import LabRouteServices
from codexmem.lab.lesson_model import MAX_ROLE, LessonType
from codexmem.lab.service.bank import HAND, MAX_QUERY, SHOWN, LessonFilter
from codexmem.lab.service.lab import Lab
from codexmem.lab.wire import bank as wire
from codexmem.lab.wire.fields import LabPage


def add(api: APIRouter, services: LabRouteServices) -> None:
    """Add the routes."""
    by = WriteContext(HAND)

    @api.get("/api/v1/memories")
    def listed(
        query: Annotated[str, Query(max_length=MAX_QUERY, description="best first; without it, newest first")] = "",
        role: Annotated[str, Query(max_length=MAX_ROLE)] = "",
        status: Annotated[wire.ShownStatus | None, Query(description="both if left out")] = None,
        type: Annotated[LessonType | None, Query()] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> LabPage[wire.LabLesson]:
        bank = services.room(Lab).banking.bank
        wish = LessonFilter(frozenset({role} if role else ()), type, frozenset({Status(status)}) if status else SHOWN)
        name = f"memories {role} {status or ''} {type or ''} {query}"
        seen = place(name, cursor_text, int, int)
        if not query.strip():
            listing = bank.page(wish, limit=limit, after=RowCursor(*seen) if seen else None)
            after = cursor(name, listing.after.created_ms, listing.after.seq) if listing.after else None
            return LabPage[wire.LabLesson].of(map(wire.LabLesson.of, listing.items), after)
        # What is added meanwhile would move the pages that follow, so they leave it out.
        until_ms, offset = seen or (bank.now_ms(), 0)
        limit = min(limit, MAX_DEPTH - offset)
        found, more = bank.find(query, wish, limit=limit, offset=offset, until_ms=until_ms)
        reached = offset + len(found)
        after = cursor(name, until_ms, reached) if more and found and reached < MAX_DEPTH else None
        return LabPage[wire.LabLesson].of(map(wire.LabLesson.of, found), after)

    @api.post("/api/v1/memories")
    def create(body: wire.NoteRequest, key: IdempotencyKey) -> wire.OneLesson:
        def effect() -> tuple[wire.OneLesson, str]:
            made = services.room(Lab).banking.bank.add(body.to_note(), by)
            return wire.OneLesson(memory=wire.LabLesson.of(made)), f"memory:{made.seq}"

        return services.receipts.once_as(wire.OneLesson, "POST /api/v1/memories", key, body, effect)

    @api.get("/api/v1/memories/{mem_id}")
    def one(mem_id: str) -> wire.OneLesson:
        return wire.OneLesson(memory=wire.LabLesson.of(services.room(Lab).banking.bank.get(mem_id)))

    @api.get("/api/v1/memories/{mem_id}/versions")
    def versions(
        mem_id: str, limit: Limit = DEFAULT_LIMIT, cursor_text: Annotated[CursorText, Query(alias="cursor")] = ""
    ) -> LabPage[wire.LessonVersion]:
        name = f"versions {mem_id}"
        seen = place(name, cursor_text, int)
        found = services.room(Lab).banking.bank.versions(mem_id, below=seen[0] if seen else None, limit=limit + 1)
        after = cursor(name, found[limit - 1].version) if len(found) > limit else None
        return LabPage[wire.LessonVersion].of(map(wire.LessonVersion.of, found[:limit]), after)

    @api.patch("/api/v1/memories/{mem_id}")
    def edit(mem_id: str, body: wire.EditRequest, key: IdempotencyKey) -> wire.OneLesson:
        def effect() -> tuple[wire.OneLesson, str]:
            after = services.room(Lab).banking.bank.edit(mem_id, body.to_edit(), by, seen=body.version)
            return wire.OneLesson(memory=wire.LabLesson.of(after)), f"memory:{after.seq}"

        given = {"mem_id": mem_id, **body.model_dump(exclude_unset=True)}
        return services.receipts.once_as(wire.OneLesson, "PATCH /api/v1/memories", key, given, effect)

    @api.post("/api/v1/memories/{mem_id}/archive")
    def archive(mem_id: str) -> wire.OneLesson:
        return wire.OneLesson(memory=wire.LabLesson.of(services.room(Lab).banking.bank.archive(mem_id, by)))
