"""Qwen Code, configured as docs/agents.md says and pointed at a scripted model."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
from dataclasses import dataclass
from fcntl import ioctl
from typing import Any

from tests._support.scripted_model import Call, ScriptedModel
from tests._support.waiting import eventually
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
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


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
        return self.person.run([*self._command, "--output-format", "stream-json", prompt], **self._environment)

    def shows(self, prompt: str, text: str) -> None:
        """It shows this on its screen, while a person looks at what became of a prompt."""
        main, other = pty.openpty()
        size = struct.pack("HHHH", 40, 160, 0, 0)
        ioctl(other, termios.TIOCSWINSZ, size)
        running = subprocess.Popen(
            [*self._command, "-i", prompt], cwd=self.person.repository, stdin=other, stdout=other, stderr=other,
            env=self.person.environment(TERM="xterm-256color", **self._environment), start_new_session=True,
        )  # fmt: skip
        os.close(other)
        shown = ""

        def seen() -> bool:
            nonlocal shown
            while select.select([main], [], [], 0)[0]:
                shown += os.read(main, 1 << 16).decode("utf-8", "replace")
            assert running.poll() is None, shown
            return text in _ESCAPES.sub("", shown)

        try:
            eventually(seen, within_s=120)
        finally:
            running.kill()
            running.wait()
            os.close(main)

    @property
    def _command(self) -> list[str]:
        return [str(self.installation.node), str(self.installation.qwen), "--auth-type", "openai", "--yolo"]

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": self.model.url,
            "OPENAI_MODEL": "scripted",
            # Start once, not twice, and from code that is compiled already.
            "QWEN_CODE_NO_RELAUNCH": "true",
            "NODE_COMPILE_CACHE": str(self.installation.compiled),
        }


def through_bridge(tool: str, arguments: dict[str, Any]) -> tuple[Call, Call]:
    """How its model calls a tool of an MCP server: look at the tool first, then call it by name."""
    look = Call("tool_search", {"query": f"select:{tool}"})
    return look, Call("tool_call", {"name": tool, "arguments": arguments})
