"""Cline: a program for each event in its folder of hooks, MCP servers in a file of its settings.

It speaks in two forms: the editor's (`postToolUse: {…}`) and the command line's (`tool_result`). The command line tells
no hook what a person typed first, and drops what a hook says at the start: there, tools alone read memory.
"""

from __future__ import annotations

from codexmem.agents import END, PROMPT, STOP, TOOL, InstallableAgent, part_of, plain, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.targets import ConfigTarget, UserHome

_MARK = "# From codexmem:"


class Cline(InstallableAgent):
    """`cline`."""

    name = "cline"
    title = "Cline"
    programs = ("cline",)
    reads = (".clinerules", ".clinerules/*.md", "AGENTS.md")
    moments: Mapping[str, str] = {
        PROMPT: "UserPromptSubmit",
        TOOL: "PostToolUse",
        STOP: "TaskComplete",
        END: "SessionShutdown",
    }

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """Tasks, and what happened under the name of the event."""
        record = plain(payload)
        if "parent_agent_id" in payload and not payload["parent_agent_id"]:
            record.pop("agent_id", None)  # every agent has an id here; only a sub-agent has a parent
        root = part_of(payload, "sessionContext").get("rootSessionId")
        for session in (root, payload.get("taskId")):
            if isinstance(session, str) and session:
                record["contentSessionId"] = session
                break
        roots = payload.get("workspaceRoots")
        if isinstance(roots, list) and roots and isinstance(roots[0], str):
            record["cwd"] = roots[0]
        used = part_of(payload, "tool_result") or part_of(payload, "postToolUse")
        if used:
            record["tool_name"] = str(used.get("name") or used.get("toolName") or "")
            record["tool_input"] = used.get("input", used.get("parameters"))
            record["tool_response"] = _answer(used.get("output", used.get("result")))
            if isinstance(used.get("id"), str):
                record["tool_use_id"] = used["id"]
        asked = part_of(payload, "userPromptSubmit") or part_of(part_of(payload, "taskStart"), "taskMetadata")
        for name in ("prompt", "initialTask", "task"):
            if isinstance(asked.get(name), str):
                record["prompt"] = asked[name]
                break
        completed = part_of(part_of(payload, "taskComplete"), "taskMetadata")
        ended = part_of(payload, "turn").get("outputText") or completed.get("result")
        if isinstance(ended, str):
            record["last_assistant_message"] = ended
        return record

    def answer(self, event: str, said: str, context: str) -> dict[str, object]:
        """It waits to hear that it may go on."""
        return {"cancel": False, **({"contextModification": context} if context else {})}

    def hooks_file(self, person: UserHome) -> Path:
        """The folder with a program for each event."""
        return self.folder(person) / "hooks"

    def servers_file(self, person: UserHome) -> Path:
        """Servers alone."""
        data = person.folder("CLINE_DATA_DIR", ".cline/data")
        return person.folder("CLINE_MCP_SETTINGS_PATH", str(data / "settings" / "cline_mcp_settings.json"))

    def targets(self, person: UserHome, commands: ProgramCommands) -> list[ConfigTarget]:
        """The list of servers, and the programs."""
        from codexmem.agents.install.entries import Member
        from codexmem.agents.install.targets import SERVER, ConfigTarget, WholeFile

        program, *words = commands.mcp
        server = Member(("mcpServers", SERVER), {"type": "stdio", "command": program, "args": words})
        scripts = [
            WholeFile(
                self.hooks_file(person) / name,
                f"#!/bin/sh\n{_MARK} codexmem uninstall cline\nexec {commands.hook(self.name, event)}\n",
                _MARK,
                program=True,
            )
            for event, name in self.moments.items()
        ]
        return [ConfigTarget(self.servers_file(person), "json", [server]), *scripts]

    def hook(self, person: UserHome, event: str) -> str:
        """As its program calls it."""
        try:
            text = (self.hooks_file(person) / self.moments[event]).read_text(encoding="utf-8")
        except (OSError, ValueError, KeyError):
            return ""
        return text.rpartition("exec ")[2].strip() if _MARK in text else ""

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, object]:
        """A prompt, as the editor tells it."""
        return {"taskId": session, "workspaceRoots": [cwd], "userPromptSubmit": {"prompt": prompt}}


def _answer(output: object) -> object:
    """What came back; of commands what they printed and, where each says how it ended, whether all succeeded."""
    ended = [each for each in output if isinstance(each, dict)] if isinstance(output, list) else []
    if not ended or not all(isinstance(each.get("success"), bool) for each in ended):
        return output
    said = "\n".join(text_in(each.get(name)) for each in ended for name in ("result", "error") if each.get(name))
    return {"output": said, "exit_code": 0} if all(each["success"] for each in ended) else {"error": said or "failed"}


AGENT = Cline()
