"""Claude Code: hooks and permissions in its settings, MCP servers in a file that it keeps its own state in.

That second file is written by every running Claude Code. What was ours in it is taken out by its meaning, not by
putting an old file back.
"""

from __future__ import annotations

from codexmem.agents import TOOL, InstallableAgent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.targets import ConfigTarget, UserHome

_FAILED = "PostToolUseFailure"


class ClaudeCode(InstallableAgent):
    """`claude`."""

    name = "claude-code"
    title = "Claude Code"
    programs = ("claude",)
    second = 1
    adapter = "claude-json"
    reads = (
        "CLAUDE.md",
        "CLAUDE.local.md",
        ".claude/rules/*.md",
        "AGENTS.md",
        "~/.claude/CLAUDE.md",
        "~/.claude/rules/*.md",
        "~/.claude/projects/*/memory/*.md",
    )
    replaced: Mapping[str, tuple[str, ...]] = {"AGENTS.md": ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")}

    def folder(self, person: UserHome) -> Path:
        """Its folder."""
        return person.folder("CLAUDE_CONFIG_DIR", ".claude")

    def servers_file(self, person: UserHome) -> Path:
        """Its state: beside the folder, unless the folder was moved."""
        return person.folder("CLAUDE_CONFIG_DIR", "") / ".claude.json"

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """Settings, with leave to use our tools unasked; and the list of servers."""
        from codexmem.agents.install import json_settings
        from codexmem.agents.install.entries import Element, Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget

        program, *words = commands.mcp
        server = {"type": "stdio", "command": program, "args": words}
        hooks = json_settings.groups(self.moments, commands, self.name, self.timeout)
        hooks += json_settings.groups({TOOL: _FAILED}, commands, self.name, self.timeout)
        leave = Element(("permissions", "allow"), f"mcp__{SERVER}")
        return [
            ConfigTarget(self.hooks_file(person), "json", [*hooks, leave]),
            ConfigTarget(self.servers_file(person), "json", [Member(("mcpServers", SERVER), server)]),
        ]

    def plugin(self, commands: ProgramCommands) -> dict[str, str]:
        """Manifest, hooks, server and slash commands, each where it looks by itself."""
        from codexmem.agents.install import plugins

        about: dict[str, object] = {
            "author": {"name": plugins.OWNER},
            "license": plugins.LICENSE,
            "keywords": plugins.KEYWORDS,
        }
        return {
            ".claude-plugin/plugin.json": plugins.as_json(plugins.ABOUT | about),
            ".mcp.json": plugins.as_json({"mcpServers": plugins.server(commands)}),
            "hooks/hooks.json": plugins.as_json(plugins.hooks(self, commands, **{TOOL: _FAILED})),
            **plugins.markdown_commands(commands),
        }

    def obstacles(self, person: UserHome) -> list[str]:
        """The switches against hooks."""
        from codexmem.agents.install import json_settings

        path = self.hooks_file(person)
        settings = json_settings.read(path)
        return [
            *json_settings.switched_on(path, settings, "disableAllHooks"),
            *json_settings.switched_on(path, settings, "allowManagedHooksOnly"),
        ]


AGENT = ClaudeCode()
