"""Contract 000 §3.1: health, readiness, version."""

from __future__ import annotations

import http.client
import os
from pathlib import Path

import pytest

from codexmem import __version__
from codexmem.app import Services
from codexmem.app.worker_api import SURFACE
from codexmem.http.assemble import build_asgi
from codexmem.http.guard import GuardSettings
from codexmem.kernel.model.ids import SystemClock
from codexmem.kernel.services.status import ServerStatus
from codexmem.kernel.store.database import acting_as
from tests._support.server import Server
from tests.surfaces._kit import asgi


@pytest.mark.clause("000 §3.1.1", "health has at least the named fields")
def test_3_1_1_health_has_at_least_the_named_fields(api: Server) -> None:
    reply = api.request("GET", "/api/health")
    assert reply.status == 200
    assert reply.json["status"] == "ok"
    assert reply.json["version"] == __version__
    assert reply.json["initialized"] is True
    assert reply.json["mcpReady"] is True
    assert reply.json["pid"] != os.getpid()
    assert reply.json["uptime"] > 0


def test_3_1_probes_need_no_key(postgresql_api: Server) -> None:
    for path in ("/api/health", "/api/version", "/api/readiness"):
        connection = http.client.HTTPConnection("127.0.0.1", postgresql_api.port, timeout=20)
        connection.request("GET", path)
        assert connection.getresponse().status == 200
        connection.close()


@pytest.mark.clause("000 §3.1.2", "200 ready once initialised")
def test_3_1_2_readiness_is_200_ready_once_initialised(api: Server) -> None:
    reply = api.request("GET", "/api/readiness")
    assert (reply.status, reply.json) == (200, {"status": "ready"})


@pytest.mark.clause("000 §3.1.2", "503 initializing before, while health answers")
@pytest.mark.clause("000 §4.3", "every other path is 503 while starting")
def test_3_1_2_readiness_is_503_initializing_before_and_health_answers_already() -> None:
    services = Services(ServerStatus(version=__version__, clock=SystemClock()))
    app = build_asgi((SURFACE,), services, GuardSettings(None, acting_as), version=__version__)
    reply = asgi.call(app, "GET", "/api/readiness")
    assert (reply.status, reply.json) == (503, {"status": "initializing"})
    health = asgi.call(app, "GET", "/api/health")
    assert (health.status, health.json["initialized"], health.json["mcpReady"]) == (200, False, False)
    # 4.3: every other path says 503 as well, instead of failing.
    save = asgi.post(app, "/api/memory/save", {"text": "x"})
    assert (save.status, save.json["error"]) == (503, "the server is still starting")


@pytest.mark.clause("000 §3.1.3", "the version")
def test_3_1_3_version(api: Server) -> None:
    reply = api.request("GET", "/api/version")
    assert (reply.status, reply.json) == (200, {"version": __version__})


def test_the_server_stops_within_its_grace_when_asked(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    assert server.post("/api/memory/save", {"text": "x"}).status == 200
    assert server.stop() == 0
    assert not (tmp_path / "server.json").exists()
