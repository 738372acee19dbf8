"""From an agent's payload to what the server is sent: under our names, without what is private, secret or too long."""

from __future__ import annotations

from codexmem.kernel.model import clipping, own_tools, privacy, quick_json, redaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MAX_BODY = 1 << 20  # the server takes more; nothing that is worth remembering needs it
_TIGHTER = (4_000, 1_000, 200)
_ABOUT = ("contentSessionId", "cwd", "transcript_path", "turn_id", "agent_id")
_NAME = 500  # characters of a name, id or path


def body_of(event: str, record: Mapping[str, object], known: Sequence[str]) -> dict[str, object] | None:
    """What the server is told of this event, cleaned; None if it is not worth telling."""
    if not record.get("contentSessionId"):
        return None
    said: dict[str, object] | None = {}
    if event == "session-init":
        said = _prompt(record, known)
    elif event == "observation":
        said = _tool(record, known)
    elif event == "summarize":
        said = _stop(record, known)
    if said is None:
        return None
    about = {name: _short(record[name], known) for name in _ABOUT if name in record}
    return {**about, **said}


def encoded(body: Mapping[str, object]) -> bytes:
    """The body as it is sent, however long its parts are."""
    made = quick_json.dumps(body)
    for limit in _TIGHTER:
        if len(made) <= MAX_BODY // 4:  # a character is at most four bytes
            break
        body = clipping.clip_value(body, limit)
        made = quick_json.dumps(body)
    if len(made) > MAX_BODY // 4:
        # Not long texts but endless lists: keep their beginning and end as text.
        body = {
            name: clipping.clip(quick_json.dumps(value)) if isinstance(value, dict | list) else value
            for name, value in body.items()
        }
        made = quick_json.dumps(body)
    return made.encode("utf-8", "replace")


def _prompt(record: Mapping[str, object], known: Sequence[str]) -> dict[str, object] | None:
    """A prompt that was private as a whole leaves a turn without text; an empty one is no prompt."""
    prompt = str(record.get("prompt", ""))
    if privacy.is_private(prompt):
        return {"prompt": "", "private": True}
    left = privacy.strip(prompt).strip()
    return {"prompt": redaction.redact(clipping.clip(left), known)} if left else None


def _tool(record: Mapping[str, object], known: Sequence[str]) -> dict[str, object] | None:
    name, given = str(record.get("tool_name", "")), record.get("tool_input")
    response = record.get("tool_response")
    if not name or own_tools.is_own(name, given) or own_tools.is_denial(response):
        return None
    if redaction.names_secret_file(given):
        given, response = redaction.without_content(given), redaction.masked("file")
    told = {
        "tool_name": _short(name, known),
        "tool_input": _clean(given, known),
        "tool_response": _clean(response, known),
    }
    if "tool_use_id" in record:
        told["tool_use_id"] = _short(record["tool_use_id"], ())
    if response != redaction.masked("file") and (files := _stamps(record, known)):
        told["files"] = files
    return told


def _stamps(record: Mapping[str, object], known: Sequence[str]) -> list[str]:
    """Which content the files of the call have; none under a name that holds a secret."""
    if str(record["tool_name"]).startswith(("mcp__", "mcp_", "MCP:")):
        return []
    from codexmem.hook import file_stamps, surroundings

    made = file_stamps.stamps(record, surroundings.text_of)
    return [each for each in made if redaction.redact(path := each.partition(" ")[2], known) == path]


def _stop(record: Mapping[str, object], known: Sequence[str]) -> dict[str, object] | None:
    """The end of a turn; not of a sub-agent's, and not if the agent goes on because a hook said so."""
    if record.get("agent_id") or record.get("goes_on"):
        return None
    message = str(record.get("last_assistant_message") or "")
    if not message and record.get("transcript_path"):
        from codexmem.hook import transcript

        message = transcript.last_message(str(record["transcript_path"]))
    told: dict[str, object] = {"stop_hook_active": True} if record.get("stop_hook_active") is True else {}
    return told | {"last_assistant_message": redaction.redact(clipping.clip(privacy.strip(message).strip()), known)}


def _clean(value: Any, known: Sequence[str]) -> Any:
    # Private regions are sought in the whole, secrets in what is left of it.
    return redaction.redact_value(clipping.clip_value(privacy.strip_value(value)), known)


def _short(value: Any, known: Sequence[str]) -> str:
    return redaction.redact(privacy.strip(str(value))[:_NAME], known)
