"""Health, readiness and version (contract 000 §3.1).

Health answers without touching the store or waiting for a worker thread, because it must answer always. Readiness looks
at the store in threads of its own and not for long: while a database hangs, requests fill all others.
"""

from typing import Protocol

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import APIRouter, Response

from codexmem.kernel.services.status import Phase, Readiness, ServerStatus
from codexmem.operations.wire import dashboard as wire

_PATIENCE_S = 3.0  # probes wait for three to five seconds


class SystemServices(Protocol):
    """What these routes need."""

    @property
    def status(self) -> ServerStatus: ...


def add(api: APIRouter, services: SystemServices) -> None:
    """Add the routes."""
    looking: CapacityLimiter | None = None

    @api.get("/api/health")
    async def health() -> wire.HealthAnswer:
        return wire.HealthAnswer.of(services.status.health())

    @api.get("/api/readiness", response_model_exclude_unset=True)
    async def readiness(response: Response) -> wire.ReadinessAnswer:
        nonlocal looking
        looking = looking or CapacityLimiter(2)  # belongs to the loop that runs by now
        readiness = Readiness(Phase.UNAVAILABLE, f"the store has not answered for {_PATIENCE_S:.0f} s")
        with move_on_after(_PATIENCE_S):
            readiness = await to_thread.run_sync(services.status.readiness, limiter=looking, abandon_on_cancel=True)
        response.status_code = 200 if readiness.ready else 503
        return wire.ReadinessAnswer.of(readiness)

    @api.get("/api/version")
    async def version() -> wire.VersionAnswer:
        return wire.VersionAnswer(version=services.status.version)
