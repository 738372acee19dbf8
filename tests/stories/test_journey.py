"""A developer's day: a hook reports a turn, and the next question finds it by MCP, with its origin and a page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests._support import warm
from tests._support.mcp_calls import Agent
from tests._support.server import Server, environment
from tests._support.waiting import eventually

pytestmark = pytest.mark.sqlite


def test_a_turn_is_captured_found_explained_and_shown(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    data = tmp_path / "data"
    data.mkdir(mode=0o700)

    def hook(event: str, **payload: Any) -> None:
        given = json.dumps({"session_id": "s1", "cwd": str(shop), **payload})
        command = [sys.executable, "-m", "codexmem.hook", "claude-code", event]
        subprocess.run(command, env=environment(data), input=given, text=True, check=True)

    with Server(data) as server:
        hook("session-init", hook_event_name="UserPromptSubmit", prompt="Why does the nightly export fail?")
        hook("observation", hook_event_name="PostToolUse", tool_name="Bash", tool_input={"command": "./export"},
             tool_response={"stdout": "", "stderr": "EXPORT_DSN is not set", "exit_code": 1})  # fmt: skip
        hook(
            "summarize", hook_event_name="Stop", last_assistant_message="The nightly export fails: EXPORT_DSN is unset."
        )

        agent = Agent(server, "http-new")
        asked = {"query": "what does the nightly export need", "project": "shop"}
        assert "EXPORT_DSN" in eventually(lambda: _holding("EXPORT_DSN", agent.text("search", **asked)))
        (memory, *_) = eventually(lambda: server.request("GET", "/api/summaries?project=shop").json["items"])
        told = warm.run(["why", f"S{memory['id']}", "--all-projects"], env=environment(data))
        assert told.returncode == 0, told.stderr
        assert "claude-code" in told.stdout.decode()
        page = server.request("GET", "/ui/")
        assert page.status == 200
        assert b"codexmem" in page.body


def _holding(word: str, text: str) -> str:
    return text if word in text else ""
