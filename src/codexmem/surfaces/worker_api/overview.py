"""Projects, figures and whether captured work waits (contract 000 §3.3.8 to §3.3.10)."""

from typing import Any, Protocol

from fastapi import APIRouter, Request

from codexmem.services.overview import Overview
from codexmem.services.status import Status
from codexmem.surfaces._kit.recall.described import answers
from codexmem.surfaces.worker_api import wire


class Services(Protocol):
    """What these routes need."""

    @property
    def overview(self) -> Overview: ...
    @property
    def status(self) -> Status: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/projects", responses=answers(wire.Projects))
    def projects() -> dict[str, Any]:
        return {"projects": services.overview.projects()}

    @door.get("/api/stats", responses=answers(wire.Stats))
    def stats(request: Request) -> dict[str, Any]:
        look = services.overview
        server = request.scope.get("server") or (None, None)
        return wire.stats(
            services.status.health(), look.counted(), followers=look.followers(), port=server[1], path=look.path
        )

    @door.get("/api/processing-status", responses=answers(wire.Processing))
    def processing() -> dict[str, Any]:
        waiting = services.overview.waiting()
        return {"isProcessing": waiting > 0, "queueDepth": waiting}
