"""What a process that serves nothing else answers: whether it lives, whether it works, and its figures."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from codexmem.http.metrics import Metrics


def probes(healthy: Callable[[], bool], ready: Callable[[], bool], metrics: Metrics, *, version: str) -> Starlette:
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
