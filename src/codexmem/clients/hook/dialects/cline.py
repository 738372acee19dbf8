"""The dialect of Cline, in its two forms: the editor's (`postToolUse: {…}`) and the command line's (`tool_result`)."""

from __future__ import annotations

from codexmem.clients.hook.dialects import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """A payload of Cline."""
    record = plain.read(payload, environ)
    root = _part(payload, "sessionContext").get("rootSessionId")
    for session in (root, payload.get("taskId")):
        if isinstance(session, str) and session:
            record["contentSessionId"] = session
            break
    roots = payload.get("workspaceRoots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        record["cwd"] = roots[0]
    used = _part(payload, "tool_result") or _part(payload, "postToolUse")
    if used:
        record["tool_name"] = str(used.get("name") or used.get("toolName") or "")
        record["tool_input"] = used.get("input", used.get("parameters"))
        record["tool_response"] = used.get("output", used.get("result"))
        if isinstance(used.get("id"), str):
            record["tool_use_id"] = used["id"]
    asked = _part(payload, "userPromptSubmit") or _part(_part(payload, "taskStart"), "taskMetadata")
    for name in ("prompt", "initialTask", "task"):
        if isinstance(asked.get(name), str):
            record["prompt"] = asked[name]
            break
    ended = _part(payload, "turn").get("outputText") or _part(_part(payload, "taskComplete"), "taskMetadata").get(
        "result"
    )
    if isinstance(ended, str):
        record["last_assistant_message"] = ended
    return record


def _part(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
