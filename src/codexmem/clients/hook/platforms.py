"""The agents we know: which dialect each speaks, and in which form it may be told something.

Nothing is printed, or JSON that is valid for that agent and that event. Codex refuses an answer with a key it does not
know, so there is none to spare.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

RAW = "raw"
_ALIASES = {"qwen": "qwen-code", "claude": "claude-code", "gemini": "gemini-cli"}
PLATFORMS = ("raw", "claude-code", "codex", "qwen-code", "gemini-cli", "cursor", "opencode", "cline")
# The agent's name for the moments at which it takes context.
_MOMENTS = {"context": "SessionStart", "session-init": "UserPromptSubmit"}
_GEMINI_MOMENTS = {"context": "SessionStart", "session-init": "BeforeAgent"}


def platform_of(name: str) -> str:
    """The platform that is meant; one that we do not know speaks plainly."""
    name = name.strip().lower()
    name = _ALIASES.get(name, name)
    return name if name in PLATFORMS else RAW


def read(platform: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """The payload under our own names, without what is missing. Only the one dialect is loaded."""
    if platform in {"claude-code", "codex", "qwen-code"}:
        from codexmem.clients.hook.dialects import claude

        readers = {"claude-code": claude.read, "codex": claude.read_codex, "qwen-code": claude.read_qwen}
        record = readers[platform](payload, environ)
    elif platform == "gemini-cli":
        from codexmem.clients.hook.dialects import gemini

        record = gemini.read(payload, environ)
    elif platform == "cursor":
        from codexmem.clients.hook.dialects import cursor

        record = cursor.read(payload, environ)
    elif platform == "opencode":
        from codexmem.clients.hook.dialects import opencode

        record = opencode.read(payload, environ)
    elif platform == "cline":
        from codexmem.clients.hook.dialects import cline

        record = cline.read(payload, environ)
    else:
        from codexmem.clients.hook.dialects import plain

        record = plain.read(payload, environ)
    return {name: value for name, value in record.items() if value is not None and value != ""}


def takes_context(platform: str, event: str) -> bool:
    """Whether this agent can be told something at this moment."""
    return event == "context" or (event == "session-init" and platform != "cursor")


def answer(platform: str, event: str, said: str, context: str) -> dict[str, Any] | None:
    """What the agent is told: `said` is its own name of the event, `context` what it should know, if anything."""
    if platform == "cursor":
        told = {"additional_context": context} if context and takes_context(platform, event) else {}
        return {"continue": True, **told}
    if platform == "cline":
        return {"cancel": False, **({"contextModification": context} if context else {})}
    if not context or not takes_context(platform, event):
        return None
    if platform in {"raw", "opencode"}:
        return {"context": context}
    moments = _GEMINI_MOMENTS if platform == "gemini-cli" else _MOMENTS
    moment = said if said in moments.values() else moments[event]
    return {"hookSpecificOutput": {"hookEventName": moment, "additionalContext": context}}
