"""Gemini CLI: one settings file, event names of its own, times in milliseconds.

It waits for every hook of every event, so that only the five moments are registered that something comes of.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codexmem.clients.install.agent import CONTEXT, END, PROMPT, STOP, TOOL, Person
from codexmem.clients.install.agents import json_settings
from codexmem.clients.install.agents.one_file import OneFile
from codexmem.clients.install.entries import is_ours

MOMENTS = {CONTEXT: "SessionStart", PROMPT: "BeforeAgent", TOOL: "AfterTool", STOP: "AfterAgent", END: "SessionEnd"}


class GeminiCli(OneFile):
    """`gemini`."""

    name = "gemini-cli"
    title = "Gemini CLI"
    programs: tuple[str, ...] = ("gemini",)
    moments = MOMENTS

    def folder(self, person: Person) -> Path:
        """Its folder in the home that it is told of."""
        return person.folder("GEMINI_CLI_HOME", "") / ".gemini"

    def obstacles(self, person: Person) -> list[str]:
        """The switches for hooks, of today and of older versions."""
        path = self.settings(person)
        settings = json_settings.read(path)
        return [
            *json_settings.switched_off(path, settings, "hooksConfig", "enabled"),
            *json_settings.switched_off(path, settings, "tools", "enableHooks"),
            *(f"hooksConfig.disabled ({path})" for each in _disabled(settings) if is_ours(each)),
        ]


def _disabled(settings: Mapping[str, Any]) -> list[Any]:
    listed = json_settings.table(settings, "hooksConfig").get("disabled")
    return listed if isinstance(listed, list) else []
