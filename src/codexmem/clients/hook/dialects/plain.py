"""Our own field names, in snake_case or camelCase: the `raw` platform, and what every other dialect begins with."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Our name for a field, and what it is called in payloads; the first that is there counts.
_TEXTS = {
    "contentSessionId": ("contentSessionId", "content_session_id", "session_id", "sessionId", "sessionID", "id"),
    "cwd": ("cwd", "directory", "workspace", "workingDirectory", "working_directory"),
    "tool_name": ("tool_name", "toolName", "tool"),
    "tool_use_id": ("tool_use_id", "toolUseId", "callID", "call_id"),
    "last_assistant_message": ("last_assistant_message", "lastAssistantMessage", "prompt_response", "message"),
    "transcript_path": ("transcript_path", "transcriptPath"),
    "turn_id": ("turn_id", "turnId", "prompt_id", "promptId"),
    "agent_id": ("agent_id", "agentId"),
    "hook_event_name": ("hook_event_name", "hookEventName", "hookName"),
    "project": ("project",),
}
_VALUES = {
    "prompt": ("prompt", "user_prompt", "userPrompt", "query", "input"),
    "tool_input": ("tool_input", "toolInput", "arguments"),
    "tool_response": ("tool_response", "toolResponse", "tool_output", "toolOutput", "output", "result"),
}


def read(payload: Mapping[str, Any], _environ: Mapping[str, str]) -> dict[str, Any]:
    """The payload under our names, without what is missing."""
    record: dict[str, Any] = {}
    for ours, theirs in _TEXTS.items():
        for name in theirs:
            value = payload.get(name)
            if isinstance(value, str) and value:
                record[ours] = value
                break
    for ours, theirs in _VALUES.items():
        for name in theirs:
            if payload.get(name) is not None:
                record[ours] = payload[name]
                break
    if "error" in payload and "tool_response" not in record:
        record["tool_response"] = {"error": payload["error"]}
    if "prompt" in record:
        record["prompt"] = text_in(record["prompt"])
    return record


def text_in(value: Any) -> str:
    """The text of a message that may be a string, a part or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for name in ("text", "content", "parts"):
            if name in value:
                return text_in(value[name])
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_in, value)))
    return ""
