"""The dialect of OpenCode, which has no hook programs: a plugin passes on what its own hooks are given.

It sends `{"directory": …, "input": …, "output": …}` with the two arguments of the hook, or `{"event": …}` for an event
of the bus, with the last text of the assistant in `text`.
"""

from __future__ import annotations

from codexmem.clients.hook.dialects import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """What the plugin sends."""
    given = payload.get("args")
    first, second = [*given, None, None][:2] if isinstance(given, list) else (None, None)
    said, made = _part(payload, "input") or _object(first), _part(payload, "output") or _object(second)
    happened = _part(_part(payload, "event"), "properties")
    record = plain.read({**happened, **said, **_flat(payload)}, environ)
    if "parts" in made or "message" in made:  # chat.message
        record["prompt"] = plain.text_in(made.get("parts") or made.get("message"))
    if "tool" in said:  # tool.execute.after
        record["tool_name"] = str(said["tool"])
        record["tool_input"] = said.get("args") or made.get("args")
        record["tool_response"] = made.get("output", made)
    if isinstance(payload.get("text"), str):
        record["last_assistant_message"] = payload["text"]
    described = _part(happened, "info")
    if "contentSessionId" not in record and isinstance(described.get("id"), str):
        record["contentSessionId"] = described["id"]
    return record


def _part(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _object(value.get(name))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _flat(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload without what holds something else."""
    return {name: value for name, value in payload.items() if name not in {"input", "output", "event", "args"}}
