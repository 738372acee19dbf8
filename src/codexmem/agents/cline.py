"""Cline, whose hooks people set up themselves. It speaks in two forms: the editor's (`postToolUse: {…}`) and the
command line's (`tool_result`).
"""

from __future__ import annotations

from codexmem.agents import CodingAgent, part_of, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Cline(CodingAgent):
    """`cline`."""

    name = "cline"
    title = "Cline"
    programs = ("cline",)
    reads = (".clinerules", ".clinerules/*.md", "AGENTS.md")

    def dialect(self, payload: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, object]:
        """Tasks, and what happened under the name of the event."""
        record = plain(payload)
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
            record["tool_response"] = used.get("output", used.get("result"))
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


AGENT = Cline()
