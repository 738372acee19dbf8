"""Assembly: what it refuses to build, and that hooks surround the life of the server."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from fastapi import APIRouter
from starlette.types import ASGIApp, Message

from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.http.surface import Surface, router
from tests.surfaces._kit.asgi import call
from tests.surfaces._kit.endpoints import Endpoints, acting_as, application

SETTINGS = GuardSettings(None, acting_as)


def build(routes: APIRouter) -> ASGIApp:
    surface: Surface[None] = Surface("test", ("/api",), frozenset(), lambda _: routes)
    return build_asgi([surface], None, SETTINGS, version="1")


def nothing() -> None:
    """An endpoint."""


def test_a_route_outside_the_prefixes_is_refused() -> None:
    routes = router()
    routes.get("/apix/y")(nothing)
    with pytest.raises(TypeError, match="outside its prefixes"):
        build(routes)


def test_a_route_that_bypasses_strict_json_is_refused() -> None:
    routes = APIRouter()
    routes.get("/api/y")(nothing)
    with pytest.raises(TypeError, match="strict JSON"):
        build(routes)


def test_a_nested_router_is_refused_because_it_cannot_be_checked() -> None:
    routes, inner = router(), APIRouter()
    inner.get("/api/y")(nothing)
    routes.include_router(inner)
    with pytest.raises(TypeError):
        build(routes)


def test_a_mounted_application_is_guarded_too(endpoints: Endpoints) -> None:
    routes = router()
    routes.mount("/api/raw", application(endpoints))
    app = build(routes)
    assert call(app, "GET", "/api/raw/x", headers=[("origin", "null")]).status == 403
    assert endpoints.total == 0


def test_long_answers_are_packed_for_those_who_take_it() -> None:
    routes = router()
    routes.get("/api/long")(lambda: {"text": "端口 port " * 1_000})
    routes.get("/api/short")(lambda: {"text": "端口"})
    app = build(routes)
    plain, packed = (call(app, "GET", "/api/long", headers=each) for each in ([], [("accept-encoding", "gzip")]))
    assert json.loads(gzip.decompress(packed.body)) == json.loads(plain.body)
    assert len(packed.body) < len(plain.body) / 10
    assert call(app, "GET", "/api/short", headers=[("accept-encoding", "gzip")]).json == {"text": "端口"}


def test_interactive_documentation_is_not_served(app: ASGIApp) -> None:
    assert call(app, "GET", "/docs").status == 404
    assert call(app, "GET", "/redoc").status == 404
    described = call(app, "GET", "/openapi.json").json
    assert "/api/echo" in described["paths"]
    assert "/metrics" not in described["paths"]


def test_hooks_surround_the_life_of_the_server(endpoints: Endpoints) -> None:
    story: list[str] = []

    @contextmanager
    def database() -> Iterator[None]:
        story.append("database opened")
        yield
        story.append("database closed")

    @asynccontextmanager
    async def worker() -> AsyncIterator[None]:
        story.append("worker started")
        yield
        story.append("worker stopped")

    app = application(endpoints, lifespan=(database, worker))

    async def live() -> None:
        messages: list[Message] = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

        async def receive() -> Message:
            return messages.pop(0)

        async def send(message: Message) -> None:
            story.append(message["type"])

        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)

    asyncio.run(live())
    assert story == [
        "database opened",
        "worker started",
        "lifespan.startup.complete",
        "worker stopped",
        "database closed",
        "lifespan.shutdown.complete",
    ]
