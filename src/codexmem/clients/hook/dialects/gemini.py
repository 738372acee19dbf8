"""The dialect of Gemini CLI: the envelope of Claude Code with other event names, and facts in the environment."""

from __future__ import annotations

from codexmem.clients.hook.dialects import claude, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """A payload of Gemini CLI."""
    record = plain.read(payload, environ)
    record.setdefault("contentSessionId", environ.get("GEMINI_SESSION_ID", ""))
    folders = ("GEMINI_CWD", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    record.setdefault("cwd", next((environ[name] for name in folders if environ.get(name)), ""))
    record["tool_response"] = claude.for_the_model(record.get("tool_response"))
    return record
