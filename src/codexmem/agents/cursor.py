"""Cursor: hooks and MCP servers in a file each. A hook there is a command without a group around it.

It speaks of conversations and workspaces, has an event for each sort of tool, and puts JSON inside strings. Leave to
use tools unasked is kept by Cursor itself. A file for it would replace what the person has chosen in the application,
so none is written and Cursor asks.
"""

from __future__ import annotations

from codexmem.agents import CONTEXT, END, PROMPT, STOP, TOOL, InstallableAgent, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.entries import Entry
    from codexmem.agents.install.targets import ConfigTarget, UserHome


class Cursor(InstallableAgent):
    """The editor and `cursor-agent`."""

    name = "cursor"
    title = "Cursor"
    programs = ("cursor", "cursor-agent")
    tools: Mapping[str, str] = {"Shell": "Bash"}
    reads = (".cursor/rules/*.mdc", ".cursor/rules/*/*.mdc", ".cursorrules", "AGENTS.md")
    moments: Mapping[str, str] = {
        CONTEXT: "sessionStart",
        PROMPT: "beforeSubmitPrompt",
        TOOL: "postToolUse",
        STOP: "afterAgentResponse",
        END: "sessionEnd",
    }
    second = 1

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """Conversations and workspaces."""
        record = plain(payload)
        for name in ("conversation_id", "session_id", "generation_id", "id"):
            if isinstance(payload.get(name), str) and payload[name]:
                record["contentSessionId"] = payload[name]
                break
        if isinstance(payload.get("generation_id"), str):
            record.setdefault("turn_id", payload["generation_id"])
        roots = payload.get("workspace_roots")
        if isinstance(roots, list) and roots and isinstance(roots[0], str):
            record["cwd"] = _workspace(roots[0])
        record.setdefault("transcript_path", environ.get("CURSOR_TRANSCRIPT_PATH", ""))
        if isinstance(payload.get("text"), str):  # afterAgentResponse
            record["last_assistant_message"] = payload["text"]
        record.update(_tool(payload, record))
        return record

    def takes_context(self, event: str) -> bool:
        """Not with a prompt."""
        return event == CONTEXT

    def answer(self, event: str, said: str, context: str) -> dict[str, object]:
        """It waits to hear that it may go on."""
        told = {"additional_context": context} if context and self.takes_context(event) else {}
        return {"continue": True, **told}

    def hooks_file(self, person: UserHome) -> Path:
        """Hooks alone."""
        return self.folder(person) / "hooks.json"

    def servers_file(self, person: UserHome) -> Path:
        """Servers alone."""
        return self.folder(person) / "mcp.json"

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """Hooks, and the list of servers."""
        from codexmem.agents.install.entries import Element, Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget

        program, *words = commands.mcp
        hooks: list[Entry] = [Member(("version",), 1, shared=True)]
        for event, name in self.moments.items():
            hook = {"command": commands.hook(self.name, event), "timeout": self.timeout(event)}
            hooks.append(Element(("hooks", name), hook))
        server = Member(("mcpServers", SERVER), {"command": program, "args": words})
        return [
            ConfigTarget(self.hooks_file(person), "json", hooks),
            ConfigTarget(self.servers_file(person), "json", [server]),
        ]

    def link(self, commands: ProgramCommands) -> str:
        """What a person clicks to have Cursor offer our MCP server; it has no such link for hooks."""
        import base64
        import json

        from codexmem.agents.install import plugins

        entry = json.dumps(plugins.server(commands)[plugins.NAME])
        config = base64.b64encode(entry.encode()).decode()
        return f"cursor://anysphere.cursor-deeplink/mcp/install?name={plugins.NAME}&config={config}"

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, object]:
        """A prompt."""
        return {
            "conversation_id": session,
            "workspace_roots": [cwd],
            "hook_event_name": self.moments[PROMPT],
            "prompt": prompt,
        }


def _tool(payload: Mapping[str, object], record: Mapping[str, object]) -> dict[str, object]:
    """The tool of any of Cursor's events."""
    if "result_json" in payload:  # afterMCPExecution
        name = str(payload.get("tool_name", ""))
        where = " ".join(str(payload.get(key, "")) for key in ("server", "url", "command"))
        name = f"mcp__codexmem__{name}" if "codexmem" in where else name if name.startswith("MCP:") else f"MCP:{name}"
        return {
            "tool_name": name,
            "tool_input": unwrapped(payload.get("tool_input")),
            "tool_response": unwrapped(payload["result_json"]),
        }
    if "command" in payload and "tool_name" not in payload:  # afterShellExecution
        return {
            "tool_name": "Bash",
            "tool_input": {"command": payload["command"]},
            "tool_response": payload.get("output", ""),
        }
    if "edits" in payload and "file_path" in payload:  # afterFileEdit
        return {
            "tool_name": "write_file",
            "tool_response": "",
            "tool_input": {"file_path": payload["file_path"], "edits": payload["edits"]},
        }
    if "tool_name" not in record:
        return {}
    return {"tool_input": unwrapped(record.get("tool_input")), "tool_response": unwrapped(record.get("tool_response"))}


def unwrapped(value: Any) -> Any:
    """The value inside a string of JSON; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    from codexmem.kernel.model import quick_json

    try:
        return quick_json.loads(value)
    except ValueError:
        return value


def _workspace(root: str) -> str:
    """On Windows Cursor writes `/c:/work`."""
    return root[1:] if root[:1] == "/" and root[2:3] == ":" else root


AGENT = Cursor()
