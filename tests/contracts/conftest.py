"""A running server on each engine for the contract tests; they share it, so each test uses a project of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests._support.server import Server, create_key

_projects = itertools.count(1)


@pytest.fixture(scope="session")
def sqlite_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server as one developer runs it."""
    with Server(tmp_path_factory.mktemp("local")) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_api(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[Server]:
    """A server as a team runs it, with a key."""
    data_dir = tmp_path_factory.mktemp("team")
    key = create_key(data_dir, postgres_url, "contracts")
    with Server(data_dir, database_url=postgres_url, key=key) as server:
        yield server


@pytest.fixture
def api(engine_name: str, request: pytest.FixtureRequest) -> Server:
    """The running server of this engine."""
    server: Server = request.getfixturevalue(f"{engine_name}_api")
    return server


@pytest.fixture
def project() -> str:
    """A project no other test writes to."""
    return f"project-{next(_projects)}"
