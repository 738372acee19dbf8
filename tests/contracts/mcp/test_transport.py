"""The MCP endpoint over plain HTTP: what the protocol and the guard let through, and what they do not."""

from __future__ import annotations

from typing import Any

import pytest

from codexmem import __version__
from codexmem.app import Services
from codexmem.app.mcp import SURFACE
from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.services.status import ServerStatus
from codexmem.kernel.store.database import acting_as
from tests._support.server import Server
from tests.surfaces._kit import asgi

BOTH = {"Accept": "application/json, text/event-stream"}


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_a_body_less_delete_or_get_passes_the_guard_and_is_told_that_there_is_no_session(api: Server) -> None:
    for method in ("DELETE", "GET", "PUT"):
        reply = api.request(method, "/mcp")
        assert (reply.status, reply.headers["allow"]) == (405, "POST")
        assert reply.json["error"]["message"] == "messages are sent by POST; there is no session here"


def test_a_message_stands_alone(api: Server) -> None:
    reply = api.post("/mcp", message("tools/list"), BOTH)
    assert (reply.status, len(reply.json["result"]["tools"])) == (200, 21)
    assert "mcp-session-id" not in reply.headers
    reply = api.post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, BOTH)
    assert (reply.status, reply.body) == (202, b"")


@pytest.mark.clause("000 §4.6", "arguments that are no object are is_error with a text, not a protocol error")
@pytest.mark.parametrize("arguments", [[1], "abc", 5, True])
def test_4_6_arguments_that_are_no_object(api: Server, arguments: object) -> None:
    reply = api.post("/mcp", message("tools/call", name="search", arguments=arguments), BOTH)
    is_error = reply.json["result"]["isError"]
    assert (reply.status, is_error) == (200, True)
    assert reply.json["result"]["content"] == [{"type": "text", "text": "arguments must be an object"}]


def test_the_guard_stands_before_it_and_speaks_the_protocol(api: Server) -> None:
    for headers, status in (({"Origin": "http://evil.example"}, 403), ({"Host": "evil.example"}, 421),
                            ({"Content-Type": "text/plain"}, 415)):  # fmt: skip
        reply = api.request("POST", "/mcp", b'{"jsonrpc": "2.0"}', {**BOTH, **headers})
        assert (reply.status, reply.json["jsonrpc"], reply.json["id"]) == (status, "2.0", None)
    assert api.request("POST", "/mcp", b"{", BOTH).status == 400
    if api.key is not None:
        assert api.post("/mcp", message("tools/list"), {**BOTH, "Authorization": "Bearer wrong"}).status == 401


@pytest.mark.parametrize("how", ["address", "header"])
def test_what_names_no_project_is_saved_in_the_callers(api: Server, project: str, how: str) -> None:
    path = f"/mcp?project={project}-%E7%AB%AF" if how == "address" else "/mcp/recall"
    headers = {**BOTH, "X-Codexmem-Project": f"{project}-%E7%AB%AF"} if how == "header" else BOTH
    reply = api.post(path, message("tools/call", name="save_memory", arguments={"text": f"by {how}"}), headers)
    assert reply.json["result"]["structuredContent"]["project"] == f"{project}-端"
    own = {"text": f"by {how}", "project": project}
    reply = api.post(path, message("tools/call", name="save_memory", arguments=own), headers)
    assert reply.json["result"]["structuredContent"]["project"] == project


def test_before_its_lifespan_began_it_is_not_ready() -> None:
    services = Services(ServerStatus(version=__version__, clock=SystemClock()))
    app = build_asgi((SURFACE,), services, GuardSettings(None, acting_as), version=__version__)
    reply = asgi.post(app, "/mcp", message("tools/list"))
    assert (reply.status, reply.json["error"]["message"]) == (503, "the server is still starting")
