"""Health, readiness and version (contract 000 §3.1).

Health answers without touching the store or waiting for a worker thread, because it must answer always.
"""

from typing import Any, Protocol

from fastapi import APIRouter, Response

from codexmem.services.status import Status
from codexmem.surfaces.worker_api import answers_standing as answers
from codexmem.surfaces.worker_api import wire
from codexmem.surfaces.worker_api.answers_ops import described


class Services(Protocol):
    """What these routes need."""

    @property
    def status(self) -> Status: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""

    @door.get("/api/health", response_model=None, responses=described(answers.HealthAnswer))
    async def health() -> dict[str, Any]:
        return wire.health(services.status.health(), mcp_ready=services.status.initialized)

    @door.get("/api/readiness", response_model=None, responses=described(answers.ReadinessAnswer))
    def readiness(response: Response) -> dict[str, Any]:
        readiness = services.status.readiness()
        response.status_code = 200 if readiness.ready else 503
        return wire.readiness(readiness)

    @door.get("/api/version", response_model=None, responses=described(answers.VersionAnswer))
    async def version() -> dict[str, str]:
        return {"version": services.status.version}
