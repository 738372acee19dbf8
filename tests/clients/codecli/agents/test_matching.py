"""Calls that a hook was asked about, found again in what the agent prints."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codexmem.codecli.agents.protocol import AgentMessage, ToolEnded, ToolStarted
from codexmem.codecli.agents.requests import Calls
from codexmem.codecli.hook_socket import Matching
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

HOOKED = ToolRequest("Bash", command="make test", call_id="call_1", agent="codex")


@pytest.mark.parametrize("decided, seen", [
    (HOOKED, replace(HOOKED, call_id="item_1")),
    (HOOKED, replace(HOOKED, command="/bin/bash -lc 'make test'", call_id="item_1")),
    (replace(HOOKED, tool="apply_patch", command="", paths=("a.py", "src/b.py")),
     replace(HOOKED, tool="apply_patch", command="", paths=("/r/src/b.py", "/r/a.py"), call_id="item_1")),
    (replace(HOOKED, tool="mcp__gh__issue", command="", server="gh"),
     replace(HOOKED, tool="mcp__gh__issue", command="", server="gh", call_id="item_1")),
])  # fmt: skip
def test_the_same_call_has_one_id(decided: ToolRequest, seen: ToolRequest) -> None:
    matching = Matching()
    matching.allowed(decided)
    started = matching.of(ToolStarted(seen))
    assert isinstance(started, ToolStarted)
    assert started.request.call_id == "call_1"
    assert matching.of(ToolEnded("item_1", True)) == ToolEnded("call_1", True)
    assert matching.of(ToolEnded("item_1", True)) == ToolEnded("item_1", True)


def test_the_oldest_of_the_same_is_meant_and_others_keep_their_names() -> None:
    matching = Matching()
    for key in ("call_1", "call_2"):
        matching.allowed(replace(HOOKED, call_id=key))
    found = [matching.of(ToolStarted(replace(HOOKED, call_id=f"item_{n}"))) for n in range(3)]
    names = [each.request.call_id for each in found if isinstance(each, ToolStarted)]
    assert names == ["call_1", "call_2", "item_2"]
    other = ToolStarted(replace(HOOKED, command="ls", call_id="item_9"))
    assert matching.of(other) == other


def test_a_refused_call_never_began() -> None:
    matching = Matching()
    matching.refused(HOOKED)
    assert matching.of(ToolStarted(HOOKED)) == AgentMessage("")
    assert matching.of(ToolEnded("call_1", False)) == AgentMessage("")


def test_what_is_remembered_is_bounded() -> None:
    matching, calls = Matching(), Calls()
    for number in range(5_000):
        request = replace(HOOKED, call_id=str(number))
        matching.allowed(request)
        matching.refused(request)
        calls.announced(request)
        calls.decided(replace(HOOKED, call_id=f"x{number}"), ToolDecision(Verdict.DENY, ""))
    assert len(matching._waiting) == len(matching._refused) == len(calls._announced) == len(calls._refused) == 1_000
