"""What a worker serves: whether it lives, whether it works, and its figures. Nothing here belongs to a tenant."""

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from codexmem import __version__
from codexmem.app.core import Core
from codexmem.app.gauges import gauges
from codexmem.services.status import Phase, Status
from codexmem.surfaces._kit.metrics import Metrics

_BEHIND_MS = 15_000  # the dispatcher looks every five seconds


def probes(core: Core, status: Status) -> Starlette:
    """`/api/health`, `/api/readiness` and `/metrics` of a process that runs jobs."""
    metrics = Metrics()
    metrics.register(lambda: gauges(status, core))

    async def health(_: Request) -> Response:
        # Asks nobody: a database that is away is no reason to start a worker anew, jobs that never return are.
        state = "stuck" if core.worker.stuck() else "healthy"
        return JSONResponse({"status": state, "version": __version__}, 200 if state == "healthy" else 503)

    async def readiness(_: Request) -> Response:
        behind = core.worker.stuck() or core.worker.dispatch_age_ms() > _BEHIND_MS
        return JSONResponse({"status": (Phase.UNAVAILABLE if behind else Phase.READY).value}, 503 if behind else 200)

    async def figures(_: Request) -> Response:
        return await run_in_threadpool(metrics.endpoint)

    return Starlette(
        routes=[
            Route("/api/health", health),
            Route("/api/readiness", readiness),
            Route("/metrics", figures),
        ]
    )
