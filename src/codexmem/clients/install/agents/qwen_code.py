"""Qwen Code: one settings file, the hooks of the Claude family, times in milliseconds."""

from __future__ import annotations

from pathlib import Path

from codexmem.clients.install.agent import CONTEXT, END, PROMPT, STOP, TOOL, Person
from codexmem.clients.install.agents import json_settings
from codexmem.clients.install.agents.one_file import OneFile

MOMENTS = {CONTEXT: "SessionStart", PROMPT: "UserPromptSubmit", TOOL: "PostToolUse", STOP: "Stop", END: "SessionEnd"}


class QwenCode(OneFile):
    """`qwen`."""

    name = "qwen-code"
    title = "Qwen Code"
    programs: tuple[str, ...] = ("qwen",)
    moments = MOMENTS

    def folder(self, person: Person) -> Path:
        """Its home."""
        return person.folder("QWEN_HOME", ".qwen")

    def obstacles(self, person: Person) -> list[str]:
        """The switch against all hooks."""
        path = self.settings(person)
        return json_settings.switched_on(path, json_settings.read(path), "disableAllHooks")
