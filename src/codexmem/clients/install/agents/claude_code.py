"""Claude Code: hooks and permissions in its settings, MCP servers in a file that it keeps its own state in.

That second file is written by every running Claude Code. What was ours in it is taken out by its meaning, not by
putting an old file back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codexmem.clients.install.agent import CONTEXT, END, PROMPT, SERVER, STOP, TOOL, Person, Server, Target
from codexmem.clients.install.agents import json_settings
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.entries import Element, Member

MOMENTS = {CONTEXT: "SessionStart", PROMPT: "UserPromptSubmit", TOOL: "PostToolUse", STOP: "Stop", END: "SessionEnd"}
_FAILED = "PostToolUseFailure"


class ClaudeCode:
    """`claude`."""

    name = "claude-code"
    title = "Claude Code"
    programs: tuple[str, ...] = ("claude",)

    def folder(self, person: Person) -> Path:
        """Its folder."""
        return person.folder("CLAUDE_CONFIG_DIR", ".claude")

    def targets(self, person: Person, commands: Commands) -> list[Target]:
        """Settings, with leave to use our tools unasked; and the list of servers."""
        program, *words = commands.mcp
        server = {"type": "stdio", "command": program, "args": words}
        hooks = json_settings.groups(MOMENTS, commands, self.name)
        hooks += json_settings.groups({TOOL: _FAILED}, commands, self.name)
        leave = Element(("permissions", "allow"), f"mcp__{SERVER}")
        return [
            Target(self._settings(person), "json", [*hooks, leave]),
            Target(self._state(person), "json", [Member(("mcpServers", SERVER), server)]),
        ]

    def hook(self, person: Person, event: str) -> str:
        """As its settings name it."""
        return json_settings.command_in(json_settings.read(self._settings(person)), MOMENTS[event])

    def server(self, person: Person) -> Server | None:
        """As its list names it."""
        return json_settings.server_in(json_settings.read(self._state(person)))

    def obstacles(self, person: Person) -> list[str]:
        """The switches against hooks."""
        path = self._settings(person)
        settings = json_settings.read(path)
        return [
            *json_settings.switched_on(path, settings, "disableAllHooks"),
            *json_settings.switched_on(path, settings, "allowManagedHooksOnly"),
        ]

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, Any]:
        """A prompt."""
        return {"session_id": session, "cwd": cwd, "hook_event_name": MOMENTS[PROMPT], "prompt": prompt}

    def _settings(self, person: Person) -> Path:
        return self.folder(person) / "settings.json"

    def _state(self, person: Person) -> Path:
        # Beside the folder, unless the folder was moved.
        return person.folder("CLAUDE_CONFIG_DIR", "") / ".claude.json"
