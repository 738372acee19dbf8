"""What anybody may open, what stays closed without a key, and what an unknown address answers."""

from __future__ import annotations

import re
from typing import cast

import pytest
from starlette.types import ASGIApp

from codexmem.app import SURFACES, Services
from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.model.tenant import LOCAL, Identity
from codexmem.kernel.store.database import acting_as
from tests._support.server import Server
from tests.surfaces._kit import asgi


def keyed(bearer: str | None) -> Identity | None:
    return Identity(LOCAL, "somebody") if bearer == "right" else None


@pytest.fixture(scope="module")
def closed() -> ASGIApp:
    """The real application, where a key is asked for and nothing stands behind the endpoints."""
    return build_asgi(SURFACES, cast(Services, None), GuardSettings(keyed, acting_as), version="test")


@pytest.mark.parametrize("path", ["/", "/viewer", "/ui", "/ui/system", "/ui/m/a/b", "/ui/assets/none.js"])
@pytest.mark.slow
def test_the_application_opens_without_a_key(closed: ASGIApp, path: str) -> None:
    reply = asgi.call(closed, "GET", path)
    assert reply.status in {200, 307, 404}
    assert reply.status != 404 or path.endswith("none.js")


@pytest.mark.parametrize(
    "path",
    [
        "/api/stats", "/api/search/all", "/v1/qa/search", "/mcp", "/rpc", "/stream", "/api/events", "/metrics",
        "/openapi.json", "/uiapi", "/ui2/x", "/viewer/x", "/viewerx", "//ui/x", "/UI/x", "/api/../ui/x", "/x/ui/",
    ],
)  # fmt: skip
def test_nothing_else_opens_without_a_key(closed: ASGIApp, path: str) -> None:
    assert asgi.call(closed, "GET", path).status == 401


@pytest.mark.parametrize("path", ["/", "/viewer", "/ui", "/ui/x", "/ui/assets/x.js"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_it_opens_for_reading_alone(closed: ASGIApp, method: str, path: str) -> None:
    assert asgi.call(closed, method, path).status == 401
    known = [("authorization", "Bearer right")]
    assert asgi.call(closed, method, path, headers=known).status == 405


@pytest.mark.slow
def test_below_the_open_folder_there_is_only_the_application(closed: ASGIApp) -> None:
    for surface in SURFACES:
        if surface.name != "web":
            assert not any(re.match(r"/ui(/|$)", prefix) or prefix == "/" for prefix in surface.prefixes), surface.name
    listed = asgi.call(closed, "GET", "/openapi.json", headers=[("authorization", "Bearer right")]).json["paths"]
    assert not [path for path in listed if path.startswith("/ui")]


@pytest.mark.parametrize(
    "path", ["/api/nothing", "/api/v1/nothing", "/v1/nothing", "/mcp/nothing", "/rpc/nothing", "/nothing"]
)
def test_an_unknown_address_of_another_endpoint_is_no_page(api: Server, path: str) -> None:
    reply = api.request("GET", path)
    assert reply.status == 404
    assert reply.headers["content-type"] == "application/json"
    assert "error" in reply.json


def test_home_leads_to_the_application(api: Server) -> None:
    reply = api.request("GET", "/", headers={"Authorization": ""})
    assert (reply.status, reply.headers["location"]) == (307, "/ui")
    assert api.request("HEAD", "/viewer", headers={"Authorization": ""}).body == b""
