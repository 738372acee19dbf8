"""What an interface is to the assembly: its name, paths, the kinds it can see, its routes and its error style.

Every surface folder exports one of these as `SURFACE`. Routes are built by a factory that receives the services, so
that importing a surface does nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import Match, Route
from starlette.types import Lifespan, Receive, Scope, Send

from codexmem.http import rights
from codexmem.http.errors import PLAIN, ErrorStyle
from codexmem.http.guard import acting, require_every_project
from codexmem.http.json_body import StrictRoute
from codexmem.kernel.model.memory import Kind

# An interface that needs less can be given more.
S_contra = TypeVar("S_contra", contravariant=True)


@dataclass(frozen=True)
class Surface(Generic[S_contra]):
    """One outside contract."""

    name: str
    prefixes: tuple[str, ...]  # every route lies under one of them, spelled from the root
    kinds: frozenset[Kind]  # all that this interface may ever show
    routes: Callable[[S_contra], APIRouter]
    errors: ErrorStyle = PLAIN


class LateRoute(Route):
    """A route that is built for its first request.

    To work out what its parameters and answers look like takes milliseconds; for some hundred routes that is most of a
    server's start, and nearly all of a command that asks one of them.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], build: Callable[[], APIRoute]) -> None:
        super().__init__(path, endpoint)
        self._build = build

    @cached_property
    def built(self) -> APIRoute:
        """The route itself."""
        return self._build()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is meant for it."""
        return (Match.NONE, {}) if super().matches(scope)[0] is Match.NONE else self.built.matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, if the caller may make it."""
        if not rights.is_by_project(scope["method"], self.path):
            require_every_project(scope)
        with acting(scope, rights.needed(scope["method"], self.path)):
            await self.built.handle(scope, receive, send)


class LateRouter(APIRouter):
    """Declares routes in FastAPI's way, and leaves the building for later."""

    def __init__(self, living: Lifespan[Any] | None) -> None:
        super().__init__(route_class=StrictRoute)
        self.living = living

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Remember how to build the route."""

        def build() -> APIRoute:
            super(LateRouter, self).add_api_route(path, endpoint, **options)
            route = self.routes.pop()
            assert isinstance(route, APIRoute)
            return route

        self.routes.append(LateRoute(path, endpoint, build))


def router(living: Lifespan[Any] | None = None) -> LateRouter:
    """An empty router whose routes parse bodies strictly; routes spell their whole path.

    `living` is entered before the first request and left after the last.
    """
    return LateRouter(living)
