"""The plugins of the two agents that the gate has, installed, used and removed by the real programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.server import Server
from tests.agents import plugins
from tests.agents.four_agents import Place
from tests.agents.installation import Installation
from tests.agents.person import Person

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("agent", ["codex", "qwen-code"])
def test_a_plugin_is_installed_used_and_removed_by_its_program(
    agent: str, server: Server, person: Person, installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    # `just try-plugins` does the same for all; the others are too large for the gate.
    place = Place(person, tmp_path / "bin", installation, Path())
    with plugins.AGENTS[agent](place) as driven:
        plugins.used(driven, server, tmp_path / "published")
