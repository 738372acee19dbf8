"""Kimi Code: hooks as a list of tables in `config.toml`, MCP servers in `mcp.json`.

What a hook says at a prompt stands before the prompt; what it says at the start of a session is dropped, so that this
moment is not registered. Its last words are in the log of the session, whose place the hook is not told.
"""

from __future__ import annotations

from codexmem.agents import END, PROMPT, STOP, TOOL, InstallableAgent, part_of, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.targets import ConfigTarget, UserHome

_FAILED = "PostToolUseFailure"
_ENDED = "Command failed with exit code: "
_LOG = "agents/main/wire.jsonl"


class KimiCode(InstallableAgent):
    """`kimi`."""

    name = "kimi-code"
    title = "Kimi Code"
    programs = ("kimi",)
    second = 1
    acp = "acp"
    reads = ("AGENTS.md", "~/.kimi-code/AGENTS.md", "~/.agents/AGENTS.md")
    reads_below = False
    moments: Mapping[str, str] = {
        PROMPT: "UserPromptSubmit",
        TOOL: "PostToolUse",
        STOP: "Stop",
        END: "SessionEnd",
    }

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """The family's, with parts of a prompt and calls under other names."""
        record = super().dialect(payload, environ)
        if isinstance(payload.get("tool_call_id"), str):
            record["tool_use_id"] = payload["tool_call_id"]
        if message := text_in(part_of(payload, "error").get("message")):
            output, mark, code = message.rpartition(_ENDED)
            code = code.strip().rstrip(".")
            known = mark and code.isdecimal()
            record["tool_response"] = {"output": output, "exit_code": int(code)} if known else {"error": message}
        elif record.get("tool_name") == "Bash" and isinstance(record.get("tool_response"), str):
            record["tool_response"] = {"output": record["tool_response"], "exit_code": 0}  # others are failures
        if payload.get("stop_hook_active") is True:
            record["goes_on"] = True
        if record.get("hook_event_name") == self.moments[STOP]:
            home = environ.get("KIMI_CODE_HOME") or f"{environ.get('HOME', '')}/.kimi-code"
            record["transcript_path"] = _log(home, str(record.get("contentSessionId", "")))
        return record

    def takes_context(self, event: str) -> bool:
        """Not at the start."""
        return event == PROMPT

    def told(self, event: str, said: str, context: str) -> dict[str, object]:
        """As the one message that it puts before the prompt."""
        return {"message": context}

    def folder(self, person: UserHome) -> Path:
        """Its home."""
        return person.folder("KIMI_CODE_HOME", ".kimi-code")

    def hooks_file(self, person: UserHome) -> Path:
        """Its configuration, with everything else."""
        return self.folder(person) / "config.toml"

    def servers_file(self, person: UserHome) -> Path:
        """Servers alone."""
        return self.folder(person) / "mcp.json"

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """Hooks with leave to use our tools unasked, and the list of servers."""
        from codexmem.agents.install.entries import Element, Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget

        hooks = [
            Element(
                ("hooks",),
                {"event": name, "command": commands.hook(self.name, event), "timeout": self.timeout(event)},
            )
            for event, name in [*self.moments.items(), (TOOL, _FAILED)]
        ]
        leave = Element(("permission", "rules"), {"decision": "allow", "pattern": f"mcp__{SERVER}__*"})
        program, *words = commands.mcp
        server = Member(("mcpServers", SERVER), {"command": program, "args": words})
        return [
            ConfigTarget(self.hooks_file(person), "toml", [*hooks, leave]),
            ConfigTarget(self.servers_file(person), "json", [server]),
        ]

    def hook(self, person: UserHome, event: str) -> str:
        """As its list names it."""
        from codexmem.agents.install import json_settings
        from codexmem.agents.install.entries import is_ours

        listed = json_settings.read(self.hooks_file(person), "toml").get("hooks")
        for hook in listed if isinstance(listed, list) else []:
            if isinstance(hook, dict) and hook.get("event") == self.moments.get(event) and is_ours(hook):
                return str(hook.get("command", ""))
        return ""


def _log(home: str, session: str) -> str:
    """The log of a session, which lies in a folder for each project; empty if there is none."""
    import os

    if not session or "/" in session or session.startswith("."):
        return ""
    try:
        with os.scandir(f"{home}/sessions") as projects:
            paths = [f"{project.path}/{session}/{_LOG}" for project in projects]
    except OSError:
        return ""
    return next((path for path in paths if os.access(path, os.R_OK)), "")


AGENT = KimiCode()
