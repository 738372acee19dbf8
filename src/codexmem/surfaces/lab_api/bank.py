"""Lessons: listing, searching, looking, writing and archiving them (contract 002 §5.1)."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from codexmem.domain.history import By
from codexmem.domain.lesson import MAX_ROLE, LessonType
from codexmem.domain.memory import Status
from codexmem.domain.query import Cursor
from codexmem.domain.search import MAX_DEPTH
from codexmem.services.lab.bank import HAND, MAX_QUERY, SHOWN, Wish
from codexmem.services.receipts import Answer
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.lab_api import wire_bank as wire
from codexmem.surfaces.lab_api.pages import DEFAULT_LIMIT, CursorText, Limit, cursor, page, place
from codexmem.surfaces.lab_api.services import Services


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""
    by = By(HAND)

    @door.get("/api/v1/memories")
    def listed(
        query: Annotated[str, Query(max_length=MAX_QUERY, description="best first; without it, newest first")] = "",
        role: Annotated[str, Query(max_length=MAX_ROLE)] = "",
        status: Annotated[wire.ShownStatus | None, Query(description="both if left out")] = None,
        type: Annotated[LessonType | None, Query()] = None,
        limit: Limit = DEFAULT_LIMIT,
        cursor_text: Annotated[CursorText, Query(alias="cursor")] = "",
    ) -> dict[str, Any]:
        bank = services.lab.banking.bank
        wish = Wish(frozenset({role} if role else ()), type, frozenset({Status(status)}) if status else SHOWN)
        name = f"memories {role} {status or ''} {type or ''} {query}"
        seen = place(name, cursor_text, int, int)
        if not query.strip():
            listing = bank.page(wish, limit=limit, after=Cursor(*seen) if seen else None)
            after = cursor(name, listing.after.created_ms, listing.after.seq) if listing.after else None
            return page([wire.memory(each) for each in listing.items], after)
        # What is added meanwhile would move the pages that follow, so they leave it out.
        until_ms, offset = seen or (bank.now_ms(), 0)
        limit = min(limit, MAX_DEPTH - offset)
        found, more = bank.find(query, wish, limit=limit, offset=offset, until_ms=until_ms)
        reached = offset + len(found)
        after = cursor(name, until_ms, reached) if more and found and reached < MAX_DEPTH else None
        return page([wire.memory(each) for each in found], after)

    @door.post("/api/v1/memories")
    def create(body: wire.NoteRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            made = services.lab.banking.bank.add(body.to_note(), by)
            return Answer({"memory": wire.memory(made)}, f"memory:{made.seq}")

        return services.receipts.once("POST /api/v1/memories", key, body.model_dump(), effect)

    @door.get("/api/v1/memories/{mem_id}")
    def one(mem_id: str) -> dict[str, Any]:
        return {"memory": wire.memory(services.lab.banking.bank.get(mem_id))}

    @door.get("/api/v1/memories/{mem_id}/versions")
    def versions(
        mem_id: str, limit: Limit = DEFAULT_LIMIT, cursor_text: Annotated[CursorText, Query(alias="cursor")] = ""
    ) -> dict[str, Any]:
        name = f"versions {mem_id}"
        seen = place(name, cursor_text, int)
        found = services.lab.banking.bank.versions(mem_id, below=seen[0] if seen else None, limit=limit + 1)
        after = cursor(name, found[limit - 1].version) if len(found) > limit else None
        return page([wire.version(each) for each in found[:limit]], after)

    @door.patch("/api/v1/memories/{mem_id}")
    def edit(mem_id: str, body: wire.EditRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            after = services.lab.banking.bank.edit(mem_id, body.to_edit(), by, seen=body.version)
            return Answer({"memory": wire.memory(after)}, f"memory:{after.seq}")

        given = {"mem_id": mem_id, **body.model_dump(exclude_unset=True)}
        return services.receipts.once("PATCH /api/v1/memories", key, given, effect)

    @door.post("/api/v1/memories/{mem_id}/archive")
    def archive(mem_id: str) -> dict[str, Any]:
        return {"memory": wire.memory(services.lab.banking.bank.archive(mem_id, by))}
