"""Qwen Code, configured as docs/agents.md says and pointed at a scripted model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests._support.scripted_model import Call, ScriptedModel
from tests.agents.installation import Installation
from tests.agents.person import Person, Run

_SETTINGS = {
    "general": {"enableAutoUpdate": False},
    # Its own memory writes files by asking the model behind the person's back.
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False, "enableAutoSkill": False},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "telemetry": {"enabled": False},
}


@dataclass
class Qwen:
    """One person's Qwen Code."""

    installation: Installation
    person: Person
    model: ScriptedModel

    def configure(self, *parts: str) -> None:
        """Write the settings from blocks of the guide."""
        settings: dict[str, Any] = dict(_SETTINGS)
        for part in parts:
            settings |= json.loads(part)
        folder = self.person.home / ".qwen"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps(settings))

    def ask(self, prompt: str) -> Run:
        """One session with one prompt."""
        command = [str(self.installation.node), str(self.installation.qwen), "--auth-type", "openai", "--yolo",
                   "--output-format", "stream-json", prompt]  # fmt: skip
        return self.person.run(
            command,
            OPENAI_API_KEY="x",
            OPENAI_BASE_URL=self.model.url,
            OPENAI_MODEL="scripted",
            # Start once, not twice, and from code that is compiled already.
            QWEN_CODE_NO_RELAUNCH="true",
            NODE_COMPILE_CACHE=str(self.installation.compiled),
        )


def through_bridge(tool: str, arguments: dict[str, Any]) -> tuple[Call, Call]:
    """How its model calls a tool of an MCP server: look at the tool first, then call it by name."""
    look = Call("tool_search", {"query": f"select:{tool}"})
    return look, Call("tool_call", {"name": tool, "arguments": arguments})
