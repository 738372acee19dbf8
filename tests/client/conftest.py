"""One server for all tests of the client; each uses a project and a domain of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from codexmem.client import Client
from tests._support.server import Server

_names = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks for a key."""
    settings = {"CODEXMEM_AUTH": "token", "CODEXMEM_EMBEDDER": "none"}
    with Server(tmp_path_factory.mktemp("client"), settings=settings) as running:
        yield running


@pytest.fixture(scope="session")
def url(server: Server) -> str:
    """Where it listens."""
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture(scope="session")
def key(server: Server) -> str:
    """What it asks for."""
    return (server.data_dir / "token").read_text().strip()


@pytest.fixture
def client(url: str, key: str) -> Iterator[Client]:
    """A client of that server."""
    with Client(url, api_key=key) as client:
        yield client


@pytest.fixture
def name() -> str:
    """A project, or a domain, that no other test writes to."""
    return f"c{next(_names)}"
