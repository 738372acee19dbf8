"""A person, their codexmem server, a scripted model and the agents, on a network of their own where that is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support.scripted_model import ScriptedModel
from tests._support.server import Server
from tests.agents.codex import Codex
from tests.agents.installation import Installation
from tests.agents.loopback import loopback_only
from tests.agents.person import SERVER, Person
from tests.agents.qwen import Qwen


@pytest.fixture(autouse=True)
def alone() -> Iterator[bool]:
    """Whether the test, and all it starts, can reach nothing but this machine."""
    with loopback_only() as alone:
        yield alone


@pytest.fixture(scope="session")
def installation() -> Installation:
    """The pinned agents."""
    return Installation.find()


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """Somebody who works on a project named shop."""
    return Person(tmp_path, "shop")


@pytest.fixture
def model(alone: bool) -> Iterator[ScriptedModel]:
    """The model of whatever agent the test runs."""
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def server(person: Person, alone: bool) -> Iterator[Server]:
    """The person's running server."""
    with Server(person.data_dir, settings=SERVER) as server:
        yield server


@pytest.fixture
def codex(installation: Installation, person: Person, model: ScriptedModel) -> Codex:
    """The person's Codex, not configured yet."""
    return Codex(installation, person, model)


@pytest.fixture
def qwen(installation: Installation, person: Person, model: ScriptedModel) -> Qwen:
    """The person's Qwen Code, not configured yet."""
    return Qwen(installation, person, model)
