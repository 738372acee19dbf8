"""A lab for each engine, in a store of its own: its workers must not meet those of other tests' servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests._support import encoder
from tests._support.lab import SECRET, StepAgent
from tests._support.lab_endpoint import LabEndpoint, lab_endpoint
from tests._support.postgres import PostgresServer
from tests._support.server import create_key

# A model is configured and nothing may be spent on it: rules write the lessons.
MODEL: dict[str, Any] = {"openai_api_key": SECRET, "daily_tokens": 1}


@pytest.fixture(scope="session")
def step_agent() -> StepAgent:
    """Who answers every batch of these tests."""
    return StepAgent(steps=2)


@pytest.fixture(scope="session")
def sqlite_lab(tmp_path_factory: pytest.TempPathFactory, step_agent: StepAgent) -> Iterator[LabEndpoint]:
    """As one developer runs it."""
    folder = tmp_path_factory.mktemp("local-lab")
    with lab_endpoint(folder, step_agent, **MODEL, embedder=encoder.setting("sqlite")) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def postgresql_lab(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer, address: Callable[[str], str],
    step_agent: StepAgent,
) -> Iterator[LabEndpoint]:  # fmt: skip
    """As a team runs it, with a key."""
    data_dir = tmp_path_factory.mktemp("team-lab")
    postgres_server.create_store("codexmem_lab_endpoint")
    url = address("codexmem_lab_endpoint")
    key = create_key(data_dir, url, "lab")
    encoding = encoder.setting("postgresql")
    with lab_endpoint(data_dir, step_agent, key=key, database_url=url, **MODEL, embedder=encoding) as endpoint:
        yield endpoint


@pytest.fixture
def lab(engine_name: str, request: pytest.FixtureRequest) -> LabEndpoint:
    """Who calls the running lab of this engine."""
    endpoint: LabEndpoint = request.getfixturevalue(f"{engine_name}_lab")
    return endpoint
