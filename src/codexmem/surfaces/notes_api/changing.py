"""`/api/notes`: writing notes. Every write may be sent again with its Idempotency-Key, and can be taken back."""

from collections.abc import Callable
from typing import Any, Protocol

from fastapi import APIRouter, Request
from pydantic import BaseModel

from codexmem.domain.history import By
from codexmem.domain.memory import Memory
from codexmem.services.notes import Notes
from codexmem.services.notes.writing import RolledBack
from codexmem.services.receipts import Answer, Receipts
from codexmem.surfaces._kit.guard import actor_of
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces.notes_api import answers, requests, wire

ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": answers.NoteError, "description": "An error"}}


class Services(Protocol):
    """What these routes need."""

    @property
    def notes(self) -> Notes: ...
    @property
    def receipts(self) -> Receipts: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    def written(memory: Memory) -> Answer:
        return Answer(wire.written(services.notes.reading.anew(memory)), f"memory:{memory.seq}")

    def rolled_back(done: RolledBack) -> Answer:
        told = written(done.memory)
        changed = wire.changed(done.former.state, done.memory.state)
        return Answer({**told.body, "changed": changed}, told.subject)

    def once(request: Request, body: BaseModel, key: str | None, effect: Callable[[By], Answer]) -> dict[str, Any]:
        route = request.scope["path"]
        return services.receipts.once(
            route, key, body.model_dump(mode="json"), lambda: effect(By(actor_of(request.scope)))
        )

    @door.post("/api/notes", response_model=answers.NoteWritten, responses=ERRORS)
    def create(request: Request, body: requests.CreateNote, key: IdempotencyKey) -> dict[str, Any]:
        """Keep something under an address that nothing stands under."""
        return once(request, body, key, lambda by: written(services.notes.writing.create(body.new(), by)))

    @door.post("/api/notes/update", response_model=answers.NoteWritten, responses=ERRORS)
    def update(request: Request, body: requests.UpdateNote, key: IdempotencyKey) -> dict[str, Any]:
        """Replace, append to or patch the content, or change priority, disclosure and status."""
        edit = body.edit()
        return once(
            request, body, key,
            lambda by: written(services.notes.writing.update(body.uri, edit, by, seen=body.if_version)),
        )  # fmt: skip

    @door.post("/api/notes/delete", response_model=answers.NoteWritten, responses=ERRORS)
    def delete(request: Request, body: requests.DeleteNote, key: IdempotencyKey) -> dict[str, Any]:
        """Hide the note; its history stays."""
        return once(
            request, body, key,
            lambda by: written(services.notes.writing.delete(body.uri, by, seen=body.if_version).memory),
        )  # fmt: skip

    @door.post("/api/notes/restore", response_model=answers.NoteRolledBack, responses=ERRORS)
    def restore(request: Request, body: requests.RestoreNote, key: IdempotencyKey) -> dict[str, Any]:
        """Let a deleted note stand again as it last stood."""
        return once(request, body, key, lambda by: rolled_back(services.notes.writing.restore(body.uri, by)))

    @door.post("/api/notes/rollback", response_model=answers.NoteRolledBack, responses=ERRORS)
    def rollback(request: Request, body: requests.RollBackNote, key: IdempotencyKey) -> dict[str, Any]:
        """Write an earlier version again as the newest."""

        def effect(by: By) -> Answer:
            writing = services.notes.writing
            return rolled_back(writing.rollback(body.uri, body.version, by, seen=body.if_version))

        return once(request, body, key, effect)

    @door.post("/api/notes/aliases", response_model=answers.NoteWritten, responses=ERRORS)
    def alias(request: Request, body: requests.AliasOfNote, key: IdempotencyKey) -> dict[str, Any]:
        """Give the note one more address."""
        return once(request, body, key, lambda by: written(services.notes.writing.alias(body.uri, body.alias, by)))

    @door.post("/api/notes/aliases/remove", response_model=answers.NoteWritten, responses=ERRORS)
    def unalias(request: Request, body: requests.AliasOfNote, key: IdempotencyKey) -> dict[str, Any]:
        """Take one of the note's further addresses away."""
        return once(request, body, key, lambda by: written(services.notes.writing.unalias(body.uri, body.alias, by)))
