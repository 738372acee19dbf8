"""The dialect of Cursor: conversations and workspaces, an event per sort of tool, and JSON inside strings."""

from __future__ import annotations

from codexmem.clients.hook import json_text
from codexmem.clients.hook.dialects import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_NAMES = {"Shell": "Bash"}


def read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """A payload of Cursor."""
    record = plain.read(payload, environ)
    for name in ("conversation_id", "session_id", "generation_id", "id"):
        if isinstance(payload.get(name), str) and payload[name]:
            record["contentSessionId"] = payload[name]
            break
    if isinstance(payload.get("generation_id"), str):
        record.setdefault("turn_id", payload["generation_id"])
    roots = payload.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        record["cwd"] = _folder(roots[0])
    record.setdefault("transcript_path", environ.get("CURSOR_TRANSCRIPT_PATH", ""))
    if isinstance(payload.get("text"), str):  # afterAgentResponse
        record["last_assistant_message"] = payload["text"]
    record.update(_tool(payload, record))
    return record


def _tool(payload: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """The tool of any of Cursor's events."""
    if "result_json" in payload:  # afterMCPExecution
        name = str(payload.get("tool_name", ""))
        where = " ".join(str(payload.get(key, "")) for key in ("server", "url", "command"))
        name = f"mcp__codexmem__{name}" if "codexmem" in where else name if name.startswith("MCP:") else f"MCP:{name}"
        return {"tool_name": name, "tool_input": unwrapped(payload.get("tool_input")),
                "tool_response": unwrapped(payload["result_json"])}  # fmt: skip
    if "command" in payload and "tool_name" not in payload:  # afterShellExecution
        return {"tool_name": "Bash", "tool_input": {"command": payload["command"]},
                "tool_response": payload.get("output", "")}  # fmt: skip
    if "edits" in payload and "file_path" in payload:  # afterFileEdit
        return {"tool_name": "write_file", "tool_response": "",
                "tool_input": {"file_path": payload["file_path"], "edits": payload["edits"]}}  # fmt: skip
    if "tool_name" not in record:
        return {}
    named = str(record["tool_name"])
    return {"tool_name": _NAMES.get(named, named), "tool_input": unwrapped(record.get("tool_input")),
            "tool_response": unwrapped(record.get("tool_response"))}  # fmt: skip


def unwrapped(value: Any) -> Any:
    """The value inside a string of JSON; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
        return value
    try:
        return json_text.loads(value)
    except ValueError:
        return value


def _folder(root: str) -> str:
    """On Windows Cursor writes `/c:/work`."""
    return root[1:] if root[:1] == "/" and root[2:3] == ":" else root
