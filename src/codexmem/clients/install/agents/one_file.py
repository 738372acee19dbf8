"""Agents whose hooks and MCP servers stand in one settings file, in the shape that the Claude family shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codexmem.clients.install.agent import PROMPT, SERVER, Person, Server, Target
from codexmem.clients.install.agents import json_settings
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.entries import Member


class OneFile(ABC):
    """What differs is the folder, the names of the moments, and the switches against hooks."""

    name: str
    moments: Mapping[str, str]

    @abstractmethod
    def folder(self, person: Person) -> Path:
        """Where the file is."""

    def targets(self, person: Person, commands: Commands) -> list[Target]:
        """Its settings; times are in milliseconds."""
        program, *words = commands.mcp
        server = {"command": program, "args": words, "trust": True}
        hooks = json_settings.groups(self.moments, commands, self.name, second=1000)
        return [Target(self.settings(person), "json", [Member(("mcpServers", SERVER), server), *hooks])]

    def hook(self, person: Person, event: str) -> str:
        """As its settings name it."""
        return json_settings.command_in(json_settings.read(self.settings(person)), self.moments[event])

    def server(self, person: Person) -> Server | None:
        """As its settings name it."""
        return json_settings.server_in(json_settings.read(self.settings(person)))

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, Any]:
        """A prompt."""
        return {"session_id": session, "cwd": cwd, "hook_event_name": self.moments[PROMPT], "prompt": prompt}

    def settings(self, person: Person) -> Path:
        """The file."""
        return self.folder(person) / "settings.json"
