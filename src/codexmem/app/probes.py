"""What a worker serves. Nothing of it belongs to a tenant."""

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from codexmem import __version__
from codexmem.app.core import Core
from codexmem.http.metrics import Metrics

_BEHIND_MS = 15_000  # the dispatcher looks every five seconds


def worker_probes(core: Core, metrics: Metrics) -> Any:
    """The ASGI application that answers for a worker."""
    worker = core.worker
    # Health asks nobody: a database that is away is no reason to start a worker anew, jobs that never return are.
    return _probes(
        lambda: not worker.stuck(),
        lambda: not worker.stuck() and worker.dispatch_age_ms() <= _BEHIND_MS,
        metrics,
        version=__version__,
    )


def _probes(healthy: Callable[[], bool], ready: Callable[[], bool], metrics: Metrics, *, version: str) -> Starlette:
    """`/api/health`, `/api/readiness` and `/metrics`; neither question may wait for anybody."""

    async def health(_: Request) -> Response:
        alive = healthy()
        return JSONResponse({"status": "healthy" if alive else "stuck", "version": version}, 200 if alive else 503)

    async def readiness(_: Request) -> Response:
        works = ready()
        return JSONResponse({"status": "ready" if works else "unavailable"}, 200 if works else 503)

    async def figures(_: Request) -> Response:
        return await run_in_threadpool(metrics.endpoint)

    return Starlette(
        routes=[Route("/api/health", health), Route("/api/readiness", readiness), Route("/metrics", figures)]
    )
