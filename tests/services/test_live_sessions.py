"""Which session speaks: by the agent's process, else by the only open turn, else none."""

from __future__ import annotations

from dataclasses import replace

from codexmem.kernel.model.session import Session, SessionStatus
from codexmem.kernel.services.live_sessions import Caller, LiveSessions

A, B = "box.10.1", "box.20.1"


def session(number: int, *, project: str = "shop", platform: str = "codex") -> Session:
    return Session(number, f"s{number}", project, platform, "/shop", SessionStatus.ACTIVE, 1, False, 0, 0)


def key_of(known: LiveSessions, caller: Caller) -> str | None:
    found = known.of("local", caller)
    return found.key if found is not None else None


def test_the_nearest_common_process_names_the_session() -> None:
    known = LiveSessions()
    known.heard("local", session(1), A, in_turn=True)
    known.heard("local", session(2), B, in_turn=True)
    assert key_of(known, Caller((B, A))) == "s2"  # an agent inside another's shell
    assert key_of(known, Caller((A,))) == "s1"
    assert known.of("other", Caller((A,))) is None
    assert (known.below_agent("local", Caller((A,))), known.below_agent("local", Caller(("box.9.9",)))) == (True, False)
    known.ended("local", "s1")
    assert key_of(known, Caller((A,))) is None


def test_two_sessions_of_one_process_are_told_apart_by_the_turn_or_not_at_all() -> None:
    known = LiveSessions()
    known.heard("local", session(1), A, in_turn=True)
    known.heard("local", session(2), A, in_turn=True)
    assert key_of(known, Caller((A,))) is None
    known.heard("local", session(1), A, in_turn=False)
    known.heard("local", session(2), A)  # a tool in between leaves the turn open
    assert key_of(known, Caller((A,))) == "s2"


def test_without_processes_only_one_open_turn_of_that_agent_and_project_will_do() -> None:
    known = LiveSessions()
    asked = Caller(client="codex-mcp-client", project="shop")
    known.heard("local", session(1), in_turn=True)
    known.heard("local", session(2, platform="claude-code"), in_turn=True)
    known.heard("local", session(3, project="other"), in_turn=True)
    assert key_of(known, asked) == "s1"
    assert key_of(known, replace(asked, client="curl")) is None
    known.heard("local", session(4), in_turn=True)
    assert key_of(known, asked) is None
    # Where both name processes of one machine and none is common, it is not that session.
    known = LiveSessions()
    known.heard("local", session(1), A, in_turn=True)
    assert key_of(known, replace(asked, processes=("box.77.1",))) is None
    assert key_of(known, replace(asked, processes=("elsewhere.77.1",))) == "s1"
