"""The paths of contract 000: parse, call one service, render.

Health answers without touching the store or waiting for a worker thread, because it must answer always.
"""

from typing import Any, Protocol

from fastapi import APIRouter, Request, Response

from codexmem.domain.history import By
from codexmem.domain.memory import Kind, Status
from codexmem.services.memories import Memories
from codexmem.services.receipts import Answer, Receipts
from codexmem.services.status import Status as ServerStatus
from codexmem.surfaces._kit.guard import identity_of
from codexmem.surfaces._kit.params import IdempotencyKey
from codexmem.surfaces._kit.surface import router
from codexmem.surfaces.worker_api import wire

_OBSERVATIONS = frozenset({Kind.OBSERVATION})


class Services(Protocol):
    """What this door needs."""

    @property
    def memories(self) -> Memories: ...
    @property
    def receipts(self) -> Receipts: ...
    @property
    def status(self) -> ServerStatus: ...


def routes(services: Services) -> APIRouter:
    """The door's routes on these services."""
    door = router()

    @door.get("/api/health")
    async def health() -> dict[str, Any]:
        return wire.health(services.status.health())

    @door.get("/api/readiness")
    def readiness(response: Response) -> dict[str, Any]:
        readiness = services.status.readiness()
        response.status_code = 200 if readiness.ready else 503
        return wire.readiness(readiness)

    @door.get("/api/version")
    async def version() -> dict[str, str]:
        return {"version": services.status.version}

    @door.post("/api/memory/save", response_model=wire.Saved)
    def save(request: Request, body: wire.SaveRequest, key: IdempotencyKey) -> dict[str, Any]:
        def effect() -> Answer:
            memory = services.memories.remember(body.to_draft(), By(_actor(request)))
            return Answer(wire.saved(memory), subject=f"memory:{memory.seq}")

        return services.receipts.once("/api/memory/save", key, body.model_dump(), effect)

    @door.post("/api/observations/batch", response_model=list[wire.Observation])
    def batch(body: wire.BatchRequest) -> list[dict[str, Any]]:
        found = services.memories.many(body.ids, _OBSERVATIONS).values()
        kept = [memory for memory in found if memory.state.status is not Status.DELETED and body.keeps(memory)]
        kept.sort(key=lambda memory: (memory.created_ms, memory.seq), reverse=body.orderBy == "date_desc")
        return wire.observations(kept[: body.limit])

    return door


def _actor(request: Request) -> str:
    identity = identity_of(request.scope)
    return identity.actor if identity is not None else "unknown"
