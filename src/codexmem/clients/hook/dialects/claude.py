"""The dialect of Claude Code, which Codex and Qwen Code speak too, each with an accent.

Qwen reports an empty prompt after every tool result, and its tools answer with what the model sees and what people see.
Codex says when it stops because a hook told it to go on. A sub-agent's stop is not the end of a turn.
"""

from __future__ import annotations

from codexmem.clients.hook.dialects import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """A payload of Claude Code."""
    record = plain.read(payload, environ)
    record.setdefault("cwd", environ.get("CLAUDE_PROJECT_DIR", ""))
    if record.get("hook_event_name") == "SubagentStop":
        record["agent_id"] = record.get("agent_id") or "subagent"
    return record


def read_codex(payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """A payload of Codex."""
    record = read(payload, environ)
    if payload.get("stop_hook_active") is True:
        record["goes_on"] = True
    return record


def read_qwen(payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """A payload of Qwen Code."""
    record = read(payload, environ)
    record["cwd"] = record.get("cwd") or environ.get("QWEN_PROJECT_DIR", "")
    record["tool_response"] = for_the_model(record.get("tool_response"))
    return record


def for_the_model(response: Any) -> Any:
    """Of `{llmContent, returnDisplay}` what says most: the first, unless it is a wrapper around foreign text."""
    if not isinstance(response, dict) or not {"llmContent", "returnDisplay"} & response.keys():
        return response
    said, shown = response.get("llmContent"), response.get("returnDisplay")
    wrapped = "<untrusted_context" in plain.text_in(said)
    chosen = shown if shown and (wrapped or not said) else said
    if response.get("error"):
        return {"output": chosen, "error": response["error"]}
    return chosen
