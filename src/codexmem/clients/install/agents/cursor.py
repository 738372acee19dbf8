"""Cursor: hooks and MCP servers in a file each. A hook there is a command without a group around it.

Leave to use tools unasked is kept by Cursor itself. A file for it would replace what the person has chosen in the
application, so none is written and Cursor asks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from codexmem.clients.install.agent import (
    CONTEXT,
    END,
    END_S,
    HOOK_S,
    PROMPT,
    SERVER,
    STOP,
    TOOL,
    Person,
    Server,
    Target,
)
from codexmem.clients.install.agents import json_settings
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.entries import Element, Entry, Member

MOMENTS = {
    CONTEXT: "sessionStart",
    PROMPT: "beforeSubmitPrompt",
    TOOL: "postToolUse",
    STOP: "afterAgentResponse",
    END: "sessionEnd",
}


class Cursor:
    """The editor and `cursor-agent`."""

    name = "cursor"
    title = "Cursor"
    programs: tuple[str, ...] = ("cursor", "cursor-agent")

    def folder(self, person: Person) -> Path:
        """Its folder."""
        return person.home / ".cursor"

    def targets(self, person: Person, commands: Commands) -> list[Target]:
        """Hooks, and the list of servers."""
        program, *words = commands.mcp
        hooks: list[Entry] = [Member(("version",), 1, shared=True)]
        for event, name in MOMENTS.items():
            hook = {"command": commands.hook(self.name, event), "timeout": END_S if event == END else HOOK_S}
            hooks.append(Element(("hooks", name), hook))
        server = Member(("mcpServers", SERVER), {"command": program, "args": words})
        return [Target(self._hooks(person), "json", hooks), Target(self._servers(person), "json", [server])]

    def hook(self, person: Person, event: str) -> str:
        """As its file names it."""
        return json_settings.command_in(json_settings.read(self._hooks(person)), MOMENTS[event])

    def server(self, person: Person) -> Server | None:
        """As its list names it."""
        return json_settings.server_in(json_settings.read(self._servers(person)))

    def obstacles(self, person: Person) -> list[str]:
        """None that a file shows."""
        return []

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, Any]:
        """A prompt."""
        return {"conversation_id": session, "workspace_roots": [cwd], "hook_event_name": MOMENTS[PROMPT],
                "prompt": prompt}  # fmt: skip

    def _hooks(self, person: Person) -> Path:
        return self.folder(person) / "hooks.json"

    def _servers(self, person: Person) -> Path:
        return self.folder(person) / "mcp.json"
