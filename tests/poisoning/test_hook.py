"""Attacks on the way that real ones take: the program that agents call, a running server, and the next session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests._support.mcp_calls import Agent, text_of
from tests._support.server import Server, environment
from tests._support.waiting import eventually
from tests.poisoning.corpus import CHINESE, ENGLISH, FORMS, Attack
from tests.poisoning.page import parse, seen, structure
from tests.poisoning.vectors import VECTORS, World

pytestmark = pytest.mark.process

# What reaches memory by a hook alone, each once, with as many forms.
WAYS = ("stderr", "exception", "commit subject", "file name", "command line", "last message", "next steps", "test name",
        "fetched page", "tool result", "sub-agent", "file read")  # fmt: skip


class HookWorld(World):
    """Turns that the hook program reports to a server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.planted = 0

    def turn(self, project: str, *tools: tuple[str, Any, Any], message: str = "Done.",
             prompt: str = "Prepare the release of the gateway") -> None:  # fmt: skip
        about = {"session_id": self.session(project), "cwd": f"/w/{project}"}
        self.hook("session-init", {**about, "prompt": prompt})
        for name, given, response in tools:
            self.hook("observation", {**about, "tool_name": name, "tool_input": given, "tool_response": response})
        self.hook("summarize", {**about, "last_assistant_message": message})

    def hook(self, event: str, said: dict[str, Any]) -> str:
        """What the program tells the agent to put before its model."""
        done = subprocess.run(
            [sys.executable, "-m", "codexmem.hook", "claude-code", event], input=json.dumps(said).encode(),
            env=environment(self.server.data_dir, CODEXMEM_AUTOSTART="0"), capture_output=True, check=True,
            cwd=self.server.data_dir,
        )  # fmt: skip
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        context: str = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        return context


def test_no_attack_through_the_hook_reaches_the_next_session_outside_quotes(tmp_path: Path) -> None:
    forms = [name for name in FORMS if name != "split"][:: len(FORMS) // len(WAYS)]
    orders = [(text, "en") for text in ENGLISH[:6]] + [(text, "zh") for text in CHINESE[:6]]
    planted = [
        Attack(number, way, form, *order)
        for number, (way, form, order) in enumerate(zip(WAYS, forms, orders, strict=False), start=500)
    ]
    assert len(planted) == len(WAYS)
    settings = {"CODEXMEM_EMBEDDER": "none", "CODEXMEM_PROVIDER": "rules", "CODEXMEM_BATCH_WAIT_S": "0"}
    with Server(tmp_path, settings=settings) as server:
        world, agent = HookWorld(server), Agent(server, "http-new")
        for attack in planted:
            VECTORS[attack.vector](world, "shop", attack.parts[0])
        eventually(lambda: not server.request("GET", "/api/processing-status").json["isProcessing"])
        late = {"session_id": "late", "cwd": "/w/shop"}
        pages = [world.hook("context", late)]
        pages += [world.hook("session-init", {**late, "prompt": each.question}) for each in planted]
        assert pages[0].count("\n") > 10
        for page in filter(None, pages):
            parsed = parse(page)
            assert (parsed.foreign, parsed.escapes) == ([], []), page
            assert [each.mark for each in planted if seen(each.mark, [*parsed.ours, *parsed.quoted])] == [], page
        asked = ""
        for attack in planted:
            answer = agent.call("search", {"query": attack.question, "project": "shop", "limit": 20})
            (content,) = answer.content
            assert isinstance(content, types.TextContent)
            assert content.text.startswith("Recalled from memory.")  # and text_of sees that the frame is whole
            text = text_of(answer)
            assert structure(text)[2] == [], text
            # What others wrote stands in cells and in lines that begin with `>`.
            ours = [line for line in text.split("\n") if not line.startswith(("| ", "> "))]
            assert [each.mark for each in planted if seen(each.mark, ours)] == [], text
            asked += text
        # Which shows that it is there for whoever asks; names and subjects stand in lists as they are told, cut.
        assert len([each for each in planted if seen(each.mark, [asked])]) >= len(planted) // 3
