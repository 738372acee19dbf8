"""A server of its own for each engine: these tests replace everything the endpoint can see."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests._support import encoder
from tests._support.rpc_calls import Rpc
from tests._support.server import Server, create_key

_tasks = itertools.count(1)


@pytest.fixture(scope="session")
def sqlite_rpc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rpc]:
    """As one developer runs it."""
    settings = {"CODEXMEM_EMBEDDER": encoder.setting("sqlite")}
    with Server(tmp_path_factory.mktemp("local-knowledge"), settings=settings) as server:
        yield Rpc(server)


@pytest.fixture(scope="session")
def postgresql_rpc(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Iterator[Rpc]:
    """As a team runs it, with a key."""
    data_dir = tmp_path_factory.mktemp("team-knowledge")
    key = create_key(data_dir, postgres_url, "knowledge")
    settings = {"CODEXMEM_EMBEDDER": encoder.setting("postgresql")}
    with Server(data_dir, database_url=postgres_url, key=key, settings=settings) as server:
        yield Rpc(server)


@pytest.fixture
def rpc(engine_name: str, request: pytest.FixtureRequest) -> Rpc:
    """Who calls the running server of this engine."""
    caller: Rpc = request.getfixturevalue(f"{engine_name}_rpc")
    return caller


@pytest.fixture
def task() -> str:
    """A task no other test has."""
    return f"task-{next(_tasks)}"
