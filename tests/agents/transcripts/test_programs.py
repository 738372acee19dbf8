"""Transcripts that real programs wrote; those that the gate does not install are read by `just soak-transcripts`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.four_agents import Place
from tests.agents.installation import Installation
from tests.agents.person import Person
from tests.agents.transcripts import conversation

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def place(person: Person, installation: Installation, tmp_path: Path) -> Place:
    """Where the pinned agents are."""
    programs = tmp_path / "bin"
    programs.mkdir()
    return Place(person, programs, installation, tmp_path)


def test_what_codex_keeps_is_read(place: Place) -> None:
    kept = conversation.held("codex", place)
    conversation.check("codex", place, kept)
    assert [(tool.tool, tool.input, tool.response) for tool in kept.turns[0].tools[1:]] == [
        ("Bash", {"command": conversation.PRINTS}, {"output": "42\n", "exit_code": 0})
    ]


def test_what_codex_keeps_is_what_its_hooks_are_told(place: Place) -> None:
    kept = conversation.held("codex", place, hooked=True)
    conversation.check("codex", place, kept)
    conversation.check_hooks("codex", kept)


def test_what_qwen_code_keeps_is_read(place: Place) -> None:
    conversation.check("qwen-code", place, conversation.held("qwen-code", place))
