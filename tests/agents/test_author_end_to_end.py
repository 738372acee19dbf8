"""With Codex as the author: what a session said is a memory that the next session begins with, and nothing else.

The other four agents do the same in `python -m tests.agents.authors`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents import author_sessions, authors
from tests.agents.author_sessions import MEANING, Counted
from tests.agents.four_agents import Place
from tests.agents.installation import Installation
from tests.agents.person import Person

pytestmark = pytest.mark.timeout(180)


def test_what_a_session_of_codex_said_is_told_by_its_author_to_the_next(
    installation: Installation, person: Person, tmp_path: Path, alone: bool
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    place = Place(person, programs, installation, tmp_path)
    with authors.codex(place) as agent:
        seen = author_sessions.remembered(agent, place, tmp_path)
    assert (seen.memory["narrative"], seen.memory["concepts"]) == (MEANING, ["decision"])
    assert seen.before == Counted(sessions=1, events=2)  # the prompt and the end of the turn
    seen.check()
