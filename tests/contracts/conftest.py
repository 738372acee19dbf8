"""A running server on each engine for the contract tests; they share it, so each test uses a project of its own.

In the gate SQLite runs with the shipped encoder and PostgreSQL without; `just contracts --encoder on` (or `off`) runs
both with (or without) it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from codexmem.kernel.embed.model import Embedder
from tests._support import encoder as encoders
from tests._support.server import Server, create_key

_projects = itertools.count(1)


@pytest.fixture(scope="session")
def sqlite_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server as one developer runs it."""
    settings = {"CODEXMEM_EMBEDDER": encoders.setting("sqlite")}
    with Server(tmp_path_factory.mktemp("local"), settings=settings) as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_api(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[Server]:
    """A server as a team runs it, with a key."""
    data_dir = tmp_path_factory.mktemp("team")
    key = create_key(data_dir, postgres_url, "contracts")
    settings = {"CODEXMEM_EMBEDDER": encoders.setting("postgresql")}
    with Server(data_dir, database_url=postgres_url, key=key, settings=settings) as server:
        yield server


@pytest.fixture
def api(engine_name: str, request: pytest.FixtureRequest) -> Server:
    """The running server of this engine."""
    server: Server = request.getfixturevalue(f"{engine_name}_api")
    return server


@pytest.fixture
def encoder(engine_name: str) -> Embedder | None:
    """The shipped encoder where this engine is tested with it."""
    return encoders.shipped() if encoders.is_on(engine_name) else None


@pytest.fixture
def project() -> str:
    """A project no other test writes to."""
    return f"project-{next(_projects)}"
