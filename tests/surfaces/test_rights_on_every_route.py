"""Every route × every role: whoever may not make a request enters no handler; every route that writes has a rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest
from starlette.types import Receive, Scope, Send

from codexmem.app import SURFACES, Services
from codexmem.app.mcp import TOOLSETS
from codexmem.http import rights
from codexmem.http.assemble import build_asgi
from codexmem.http.errors import ErrorTable
from codexmem.http.guard import Guard, GuardSettings
from codexmem.kernel.model.memory import Origin
from codexmem.kernel.model.tenant import LOCAL, Identity, TenantRole
from codexmem.kernel.store.database import acting_as
from tests.surfaces._kit import asgi
from tests.surfaces.test_guard_on_every_route import Entered, routes

JSON = (("content-type", "application/json"),)
WRITING = ("POST", "PUT", "PATCH", "DELETE")


@dataclass
class Called:
    """The application, called in whatever role is set; its routes are built once for all of them."""

    role: TenantRole = TenantRole.READER
    entered: Entered = field(default_factory=Entered)

    def __post_init__(self) -> None:
        guard = GuardSettings(lambda _: Identity(LOCAL, "key:test", role=self.role), acting_as)
        self.app = build_asgi(SURFACES, cast(Services, self.entered), guard, version="test")


@pytest.fixture(scope="module")
def called() -> Called:
    return Called()


@pytest.fixture(scope="module")
def listed() -> list[tuple[str, str]]:
    unknown = {("POST", "/api/nothing"), ("DELETE", "/api/health"), ("GET", "/openapi.json")}
    return [(method, path) for method, path in routes() if "/mcp" not in path and (method, path) not in unknown]


def test_a_route_that_writes_has_a_rule_and_every_rule_a_route(listed: list[tuple[str, str]]) -> None:
    writing = {f"{method} {path}" for method, path in listed if method in WRITING}
    assert writing == {rule for rule in rights.RULES if not rule.startswith("GET ")}
    known = {f"{method} {path}" for method, path in listed} | {"GET /stream"}
    assert {rule for rule in rights.RULES if rule.startswith("GET ")} <= known


@pytest.mark.slow
@pytest.mark.parametrize("role", TenantRole)
def test_whoever_may_not_make_a_request_enters_no_handler(
    role: TenantRole, called: Called, listed: list[tuple[str, str]]
) -> None:
    called.role, entered = role, called.entered
    for method, path in listed:
        before = entered.count
        body = b"{}" if method in WRITING else b""
        answer = asgi.call(called.app, method, path, body=body, headers=JSON if body else ())
        needed = rights.needed(method, path)
        if role.covers(needed):
            assert answer.status != 403, (method, path)
        else:
            assert (answer.status, entered.count) == (403, before), (method, path)
            assert needed.value in answer.body.decode()


@pytest.mark.slow
def test_to_describe_the_interface_opens_nothing() -> None:
    guard = GuardSettings(lambda _: Identity(LOCAL, "key:test", role=TenantRole.READER), acting_as)
    app = build_asgi(SURFACES, cast(Services, Entered()), guard, version="test")
    assert asgi.call(app, "GET", "/openapi.json").status == 200
    assert asgi.call(app, "POST", "/api/forget", body=b"{}", headers=JSON).status == 403


@pytest.mark.parametrize("role", TenantRole)
@pytest.mark.parametrize("header", [("sec-fetch-site", "same-origin"), ("x-codexmem-person", "1")])
def test_only_who_may_decide_what_is_told_is_heard_as_a_person(role: TenantRole, header: tuple[str, str]) -> None:
    heard: list[Identity] = []

    async def listen(scope: Scope, receive: Receive, send: Send) -> None:
        heard.append(scope["state"]["identity"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    settings = GuardSettings(lambda _: Identity(LOCAL, "key:test", role=role), acting_as)
    asgi.call(Guard(listen, settings, ErrorTable()), "GET", "/api/items", headers=(header,))
    decides = role in (TenantRole.REVIEWER, TenantRole.ADMIN)
    assert [each.origin for each in heard] == [Origin.HUMAN if decides else Origin.AGENT]
    assert [each.by().signature()["address"] for each in heard] == ["127.0.0.1"]


def test_tools_take_the_role_of_what_they_do() -> None:
    tools = {tool.name: tool.role for toolset in TOOLSETS.values() for tool in toolset.tools}
    assert tools["search"] is TenantRole.READER
    assert tools["save_memory"] is TenantRole.WRITER
    assert tools["forget"] is TenantRole.ADMIN
