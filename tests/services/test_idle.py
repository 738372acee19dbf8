"""An author that is the person's own agent waits while that agent is in the middle of a turn."""

from __future__ import annotations

import pytest

from codexmem.capture.author_queue import AgentIdleness
from codexmem.kernel.model.capture import HookReport
from codexmem.kernel.store.database import Database
from tests._support import capturing
from tests._support.capturing import Capturing


@pytest.fixture
def here(database: Database) -> Capturing:
    return capturing.build(database, asked=True)


def idle(here: Capturing, platform: str | None) -> bool:
    return AgentIdleness(here.sessions, here.captures, here.base.clock, platform).is_idle()


def test_it_waits_for_the_turns_of_its_own_sessions(here: Capturing) -> None:
    assert idle(here, "codex")
    here.say("Do it", platform="codex")
    assert (idle(here, "codex"), idle(here, "claude-code"), idle(here, None)) == (False, True, True)
    here.intake.summarize(HookReport("s1", message="Done"))
    assert idle(here, "codex")
    here.say("And now?", platform="codex")
    assert not idle(here, "codex")
    here.base.clock.advance(121_000)  # an agent that was killed says nothing more
    assert idle(here, "codex")
    here.say("Again", platform="codex")
    here.intake.complete("s1")
    assert idle(here, "codex")
