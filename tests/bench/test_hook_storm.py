"""The short form of `just soak-hooks`: sixty events, the server killed meanwhile, nothing lost, nothing twice."""

from __future__ import annotations

import pytest

from bench import hook_storm


@pytest.mark.timeout(180)
def test_every_event_is_captured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_storm, "KILLED", 0.0)
    figures = hook_storm.soak(60, 7, agents=3)
    assert hook_storm.kept(figures), figures
    assert figures["events"] == figures["captured"] == 60
    assert figures["server_kills"] >= 1


def test_the_order_of_a_session_is_judged() -> None:
    assert hook_storm._in_order(["a", "b", "c"], ["a", "b", "c"])
    assert hook_storm._in_order(["a", "c"], ["a", "b", "c"])
    assert not hook_storm._in_order(["a", "b"], ["b", "a"])
    assert not hook_storm._in_order(["a", "b"], ["a"])


def test_a_lost_event_is_no_success() -> None:
    fine = dict.fromkeys(hook_storm._MUST_BE_NONE, 0)
    assert hook_storm.kept(fine)
    for name in fine:
        assert not hook_storm.kept(fine | {name: 1})
