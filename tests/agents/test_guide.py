"""The guide says the same in both languages, and what the tests read out of it is there."""

from __future__ import annotations

import json
import tomllib

from tests.agents import guide

EVENTS = {
    "SessionStart": "context",
    "UserPromptSubmit": "session-init",
    "PostToolUse": "observation",
    "Stop": "summarize",
    "SessionEnd": "session-complete",
}


def test_both_languages_have_the_same_blocks() -> None:
    assert guide.blocks(guide.CHINESE) == guide.blocks(guide.ENGLISH)


def test_the_hooks_of_every_agent_are_complete() -> None:
    blocks = guide.blocks()
    for platform, hooks in (
        ("codex", tomllib.loads(blocks["codex-hooks"])["hooks"]),
        ("qwen-code", json.loads(blocks["qwen-settings"])["hooks"]),
    ):
        commands = {event: group[0]["hooks"][0]["command"] for event, group in hooks.items()}
        assert commands == {event: f"codexmem-hook {platform} {ours}" for event, ours in EVENTS.items()}


def test_a_block_is_exchanged_and_nothing_else() -> None:
    page = guide.replaced(guide.ENGLISH, "codex-mcp", "x = 1\n")
    assert page.replace("x = 1\n", guide.blocks()["codex-mcp"], 1) == guide.ENGLISH.read_text()
