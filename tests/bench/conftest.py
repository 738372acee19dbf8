"""Programs whose promises are about behaviour get servers that are forks; those that measure one start a real one.

Stores on PostgreSQL that need not be durable are databases of the server that all tests share.
"""

from __future__ import annotations

import functools

import pytest

from bench import stores
from bench.victim import Victim
from tests._support.server import Server

MEASURED = ("test_streams.py",)  # how much memory a server needs
SHARED = "postgres_server"  # asked for by those alone that make a store there


@pytest.fixture(autouse=True)
def forked_servers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = request.path.name in MEASURED
    monkeypatch.setattr(Server, "forks", not measured)
    monkeypatch.setattr(Victim, "forks", not measured)
    monkeypatch.setattr(stores, "shared", functools.partial(request.getfixturevalue, SHARED))
