"""The guard on the real application: no forbidden request enters any handler of any route."""

from __future__ import annotations

import functools
import json
from typing import cast

import pytest
from starlette.types import ASGIApp

from codexmem.app import SURFACES, Services
from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.store.database import acting_as
from tests.surfaces._kit import asgi
from tests.surfaces._kit.endpoints import LIMITS
from tests.surfaces._kit.variants import ALLOWED, FORBIDDEN, Variant
from tests.surfaces.web import openapi


class Entered:
    """Services that only count who asks for them."""

    def __init__(self) -> None:
        self.count = 0

    def __getattr__(self, name: str) -> object:
        self.count += 1
        raise LookupError(name)


@pytest.fixture(scope="module")
def entered() -> Entered:
    return Entered()


@pytest.fixture(scope="module")
def app(entered: Entered) -> ASGIApp:
    guard = GuardSettings(None, acting_as, limits=LIMITS)
    return build_asgi(SURFACES, cast(Services, entered), guard, version="test")


@functools.cache
def routes() -> tuple[tuple[str, str], ...]:
    """Every method of every path, as the application itself lists them, and those it keeps out of the list."""
    listed = openapi.description()["paths"]
    found = [(method.upper(), path) for path, methods in listed.items() for method in methods]
    unlisted = [
        ("GET", "/sign-in"),
        ("GET", "/sign-in/callback"),
        ("GET", "/metrics"),
        ("GET", "/openapi.json"),
        ("POST", "/api/nothing"),
        ("DELETE", "/api/health"),
    ]
    return (*found, *unlisted, *((method, "/mcp") for method in ("POST", "GET", "DELETE")), ("POST", "/mcp/recall"))


@pytest.mark.slow
def test_every_route_is_tried() -> None:
    assert {("POST", "/api/memory/save"), ("POST", "/api/observations/batch"), ("GET", "/api/health")} <= set(routes())
    assert len(FORBIDDEN) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("variant", FORBIDDEN, ids=lambda variant: variant.name)
def test_a_forbidden_request_enters_no_handler(app: ASGIApp, entered: Entered, variant: Variant) -> None:
    for method, path in routes():
        before = entered.count
        headers = variant.at(asgi.PORT)
        body = variant.body
        if body is None and method == "POST":
            body = json.dumps({"text": "x", "ids": [1]}).encode()
            if not any(name == "content-type" for name, _ in headers):
                headers.append(asgi.JSON)
        reply = asgi.call(app, method, path, host=None, headers=headers, body=body or b"")
        assert reply.status == variant.status, (variant.name, method, path)
        assert entered.count == before, (variant.name, method, path)
        assert reply.header("access-control-allow-origin") is None


@pytest.mark.parametrize("variant", ALLOWED, ids=lambda variant: variant.name)
def test_an_allowed_request_does_enter(app: ASGIApp, entered: Entered, variant: Variant) -> None:
    before = entered.count
    headers = variant.at(asgi.PORT)
    if not any(name == "content-type" for name, _ in headers):
        headers.append(asgi.JSON)
    body = variant.body if variant.body is not None else b'{"text": "x"}'
    asgi.call(app, "POST", "/api/memory/save", host=None, headers=headers, body=body)
    assert entered.count > before
