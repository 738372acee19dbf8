"""Health, readiness and version (contract 000 §3.1).

Health answers without touching the store or waiting for a worker thread, because it must answer always. Readiness looks
at the store in threads of its own and not for long: while a database hangs, requests fill all others.
"""

from typing import Any, Protocol

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import APIRouter, Response

from codexmem.services.status import Phase, Readiness, Status
from codexmem.surfaces.worker_api import answers_standing as answers
from codexmem.surfaces.worker_api import wire
from codexmem.surfaces.worker_api.answers_ops import described

_PATIENCE_S = 3.0  # probes wait for three to five seconds


class Services(Protocol):
    """What these routes need."""

    @property
    def status(self) -> Status: ...


def add(door: APIRouter, services: Services) -> None:
    """Add the routes."""
    looking: CapacityLimiter | None = None

    @door.get("/api/health", response_model=None, responses=described(answers.HealthAnswer))
    async def health() -> dict[str, Any]:
        return wire.health(services.status.health(), mcp_ready=services.status.initialized)

    @door.get("/api/readiness", response_model=None, responses=described(answers.ReadinessAnswer))
    async def readiness(response: Response) -> dict[str, Any]:
        nonlocal looking
        looking = looking or CapacityLimiter(2)  # belongs to the loop that runs by now
        readiness = Readiness(Phase.UNAVAILABLE, f"the store has not answered for {_PATIENCE_S:.0f} s")
        with move_on_after(_PATIENCE_S):
            readiness = await to_thread.run_sync(services.status.readiness, limiter=looking, abandon_on_cancel=True)
        response.status_code = 200 if readiness.ready else 503
        return wire.readiness(readiness)

    @door.get("/api/version", response_model=None, responses=described(answers.VersionAnswer))
    async def version() -> dict[str, str]:
        return {"version": services.status.version}
