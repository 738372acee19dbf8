"""GitHub Copilot CLI: hooks in a file of our own in its folder of hooks, MCP servers in another.

An event that is named as Claude Code names it comes with Claude Code's names of fields and tools. What a hook answers
is its own: context stands at the top. It asks before it uses a tool; leave is kept by folder, so that none is written.
"""

from __future__ import annotations

from codexmem.agents import TOOL, InstallableAgent, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.entries import Entry
    from codexmem.agents.install.targets import ConfigTarget, UserHome

_FAILED = "PostToolUseFailure"
_ENDED = "\n<shellId: "  # the last line of what a shell printed, which is Copilot's


class CopilotCli(InstallableAgent):
    """`copilot`."""

    name = "copilot-cli"
    title = "Copilot CLI"
    comments = commas = True
    programs = ("copilot",)
    second = 1
    acp = "--acp"
    reads = (
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".github/instructions/*.instructions.md",
        "~/.copilot/copilot-instructions.md",
    )
    reads_below = False

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """The family's; a result says what the model was given of it."""
        record = super().dialect(payload, environ)
        said = part_of(payload, "tool_result").get("text_result_for_llm")
        if isinstance(said, str):
            record["tool_response"] = _printed(said)
        if payload.get("stop_hook_active") is True:
            record["goes_on"] = True
        return record

    def told(self, event: str, said: str, context: str) -> dict[str, object]:
        """At the top."""
        return {"additionalContext": context}

    def folder(self, person: UserHome) -> Path:
        """Its home."""
        return person.folder("COPILOT_HOME", ".copilot")

    def hooks_file(self, person: UserHome) -> Path:
        """One of many that it reads; this one has our name."""
        return self.folder(person) / "hooks" / "codexmem.json"

    def servers_file(self, person: UserHome) -> Path:
        """Servers alone."""
        return self.folder(person) / "mcp-config.json"

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """Hooks, and the list of servers."""
        from codexmem.agents.install.entries import Element, Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget

        hooks: list[Entry] = [Member(("version",), 1, shared=True)]
        for event, name in [*self.moments.items(), (TOOL, _FAILED)]:
            command = commands.hook(self.name, event)
            hook = {"type": "command", "command": command, "timeoutSec": self.timeout(event)}
            hooks.append(Element(("hooks", name), hook))
        program, *words = commands.mcp
        server = {"type": "local", "command": program, "args": words, "tools": ["*"]}
        return [
            ConfigTarget(self.hooks_file(person), "json", hooks),
            ConfigTarget(self.servers_file(person), "json", [Member(("mcpServers", SERVER), server)]),
        ]

    def obstacles(self, person: UserHome) -> list[str]:
        """The switch against all hooks."""
        from codexmem.agents.install import json_settings

        path = self.folder(person) / "settings.json"
        return json_settings.switched_on(path, json_settings.read(path), "disableAllHooks")


def _printed(said: str) -> object:
    """What a shell printed, and its exit code if Copilot tells it in a line of its own."""
    text, mark, end = said.rpartition(_ENDED)
    code = end.rstrip(">\n").rpartition(" ")[2]
    return {"output": text, "exit_code": int(code)} if mark and code.isdecimal() else said


AGENT = CopilotCli()
