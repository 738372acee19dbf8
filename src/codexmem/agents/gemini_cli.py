"""Gemini CLI: one settings file, event names of its own, times in milliseconds, facts in the environment.

It waits for every hook of every event, so that only the five moments are registered that something comes of.
"""

from __future__ import annotations

from codexmem.agents import CONTEXT, END, PROMPT, STOP, TOOL, InstallableAgent, for_the_model, plain, shell_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.targets import UserHome

_FOLDERS = ("GEMINI_CWD", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")


class GeminiCli(InstallableAgent):
    """`gemini`."""

    name = "gemini-cli"
    title = "Gemini CLI"
    comments = True  # `gemini mcp list` refuses a comma before a bracket
    programs = ("gemini",)
    reads = ("GEMINI.md", "~/.gemini/GEMINI.md")
    moments: Mapping[str, str] = {
        CONTEXT: "SessionStart",
        PROMPT: "BeforeAgent",
        TOOL: "AfterTool",
        STOP: "AfterAgent",
        END: "SessionEnd",
    }
    stream_adapter = "jsonl"  # its format has the name of Claude Code's and another form
    acp = "--acp"
    approval_option = "--approval-mode"

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """The envelope of Claude Code."""
        record = plain(payload)
        record.setdefault("contentSessionId", environ.get("GEMINI_SESSION_ID", ""))
        record.setdefault("cwd", next((environ[name] for name in _FOLDERS if environ.get(name)), ""))
        answer = shell_answer if record.get("tool_name") == "run_shell_command" else for_the_model
        record["tool_response"] = answer(record.get("tool_response"))
        record["stop_hook_active"] = payload.get("stop_hook_active") is True or None
        return record

    def folder(self, person: UserHome) -> Path:
        """Its folder in the home that it is told of."""
        return person.folder("GEMINI_CLI_HOME", "") / ".gemini"

    def plugin(self, commands: ProgramCommands) -> dict[str, str]:
        """An extension: manifest with the server, hooks, slash commands. It may not say that its server is trusted."""
        from codexmem.agents.install import plugins

        return {
            "gemini-extension.json": plugins.as_json(plugins.ABOUT | {"mcpServers": plugins.server(commands)}),
            "hooks/hooks.json": plugins.as_json(plugins.hooks(self, commands)),
            **plugins.toml_commands(commands),
        }

    def obstacles(self, person: UserHome) -> list[str]:
        """The switches for hooks, of today and of older versions."""
        from codexmem.agents.install import json_settings
        from codexmem.agents.install.entries import is_ours

        path = self.hooks_file(person)
        settings = json_settings.read(path)
        listed = json_settings.table(settings, "hooksConfig").get("disabled")
        disabled = listed if isinstance(listed, list) else []
        return [
            *json_settings.switched_off(path, settings, "hooksConfig", "enabled"),
            *json_settings.switched_off(path, settings, "tools", "enableHooks"),
            *(f"hooksConfig.disabled ({path})" for each in disabled if is_ours(each)),
        ]


AGENT = GeminiCli()
