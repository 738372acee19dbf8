"""From surfaces and services to one ASGI application: observation around guard around routing.

The assembly refuses a surface whose routes leave its prefixes or bypass strict JSON, because either would give a path
the wrong rules. Long-lived things (worker, database) are lifespan hooks: entered in order before the first request,
left in reverse after the last.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from anyio import to_thread
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, APIRouter
from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Lifespan

from codexmem.http.errors import ErrorTable, LastResort, exception_handlers
from codexmem.http.guard import Guard, GuardSettings
from codexmem.http.json_body import StrictRoute
from codexmem.http.metrics import Metrics
from codexmem.http.observe import Observe
from codexmem.http.surface import LateRoute, LateRouter, Surface, router

S = TypeVar("S")
# Of a document for somebody who takes it packed, as browsers do: below it packing saves less than it costs, and a
# higher level gains few bytes for much time. Streams are sent as they come, and files are packed before they are asked
# for.
_PACKED_BYTES, _PACKING = 2_000, 4
_NOT_PACKED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "text/*", "image/*", "font/*", "application/x-ndjson")
Hook = Callable[[], AbstractContextManager[object] | AbstractAsyncContextManager[object]]


def build_asgi(
    surfaces: Sequence[Surface[S]],
    services: S,
    guard: GuardSettings,
    *,
    version: str,
    lifespan: Sequence[Hook] = (),
    metrics: Metrics | None = None,
    threads: int = 40,
) -> ASGIApp:
    """The whole server as one ASGI application; `threads` bounds how many endpoints run at once."""
    errors = ErrorTable([(prefix, surface.errors) for surface in surfaces for prefix in surface.prefixes])

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = threads
        async with AsyncExitStack() as stack:
            for hook in lifespan:
                entered = hook()
                if isinstance(entered, AbstractAsyncContextManager):
                    await stack.enter_async_context(entered)
                else:
                    stack.enter_context(entered)
            for own in lives:
                await stack.enter_async_context(own(app))
            yield

    lives: list[Lifespan[Any]] = []
    application = _Application(
        title="codexmem",
        version=version,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would be built from the caller's Host
        lifespan=living,
        middleware=[
            Middleware(
                GZipMiddleware, minimum_size=_PACKED_BYTES, compresslevel=_PACKING, exclude_content_types=_NOT_PACKED
            ),
            Middleware(LastResort, table=errors),
        ],
        exception_handlers=exception_handlers(errors),
    )
    application.router.route_class = StrictRoute
    for surface in surfaces:
        routes = surface.routes(services)
        _require_own(surface, routes)
        application.router.routes.extend(routes.routes)
        if isinstance(routes, LateRouter) and routes.living is not None:
            lives.append(routes.living)
    metrics = metrics or Metrics()
    own = router()
    own.add_api_route("/metrics", metrics.endpoint, methods=["GET"], include_in_schema=False)
    application.router.routes.extend(own.routes)
    return Observe(Guard(application, guard, errors), metrics)


class _Application(FastAPI):
    """Only a description of the whole interface needs every route."""

    def openapi(self) -> dict[str, object]:
        """The description."""
        if self.openapi_schema is None:
            # Only described: what answers requests is the late route, which holds callers to their role.
            routes = [route.built if isinstance(route, LateRoute) else route for route in self.routes]
            self.openapi_schema = get_openapi(title=self.title, version=self.version, routes=routes)
        return self.openapi_schema


def _require_own(surface: Surface[S], routes: APIRouter) -> None:
    for route in routes.routes:
        if not isinstance(route, Route | Mount):
            raise TypeError(f"surface {surface.name}: routers may not be nested, found {type(route).__name__}")
        if isinstance(route, APIRoute) and not isinstance(route, StrictRoute):
            raise TypeError(f"surface {surface.name}: {route.path} bypasses strict JSON; use _kit.surface.router")
        stems = [prefix.rstrip("/") for prefix in surface.prefixes]
        if not any(route.path == stem or route.path.startswith(stem + "/") for stem in stems):
            raise TypeError(f"surface {surface.name}: {route.path} lies outside its prefixes")
