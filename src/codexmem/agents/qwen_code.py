"""Qwen Code: one settings file, the hooks of the family of Claude Code, times in milliseconds.

It reports an empty prompt after every tool result, and its tools answer with what the model sees and what people see.
"""

from __future__ import annotations

from codexmem.agents import InstallableAgent, for_the_model, shell_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.targets import UserHome


class QwenCode(InstallableAgent):
    """`qwen`."""

    name = "qwen-code"
    title = "Qwen Code"
    comments = True  # `qwen mcp list` sets a file with a comma before a bracket aside
    programs = ("qwen",)
    reads = ("QWEN.md", "AGENTS.md", "~/.qwen/QWEN.md")
    adapter = "claude-json"
    acp = "--acp"
    approval_option = "--approval-mode"
    ends_with_input = True

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """The family's, with the folder in the environment."""
        record = super().dialect(payload, environ)
        record["cwd"] = record.get("cwd") or environ.get("QWEN_PROJECT_DIR", "")
        answer = shell_answer if record.get("tool_name") == "run_shell_command" else for_the_model
        record["tool_response"] = answer(record.get("tool_response"))
        record["stop_hook_active"] = payload.get("stop_hook_active") is True or None
        return record

    def folder(self, person: UserHome) -> Path:
        """Its home."""
        return person.folder("QWEN_HOME", ".qwen")

    def plugin(self, commands: ProgramCommands) -> dict[str, str]:
        """An extension: one manifest with server and hooks, and slash commands."""
        from codexmem.agents.install import plugins

        parts = {"mcpServers": plugins.server(commands), **plugins.hooks(self, commands)}
        return {
            "qwen-extension.json": plugins.as_json(plugins.ABOUT | parts),
            **plugins.markdown_commands(commands),
        }

    def obstacles(self, person: UserHome) -> list[str]:
        """The switch against all hooks."""
        from codexmem.agents.install import json_settings

        path = self.hooks_file(person)
        return json_settings.switched_on(path, json_settings.read(path), "disableAllHooks")


AGENT = QwenCode()
