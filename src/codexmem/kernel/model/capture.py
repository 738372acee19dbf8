"""What a hook reports, before and after it is captured, and what becomes of it.

A repetition is told by the agent's own id of the call where there is one, else by what was said: session, turn, tool,
input and response. The turn stands in for a time window: the same call in a later turn is another event.
"""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from codexmem.kernel.model import own_tools

MAX_PROMPT = 4_000  # characters of a prompt that are kept
MAX_MESSAGE = 16_000  # characters of an agent's last message that are kept

_EDITORS = frozenset({"Edit", "Write", "Read", "NotebookEdit"})


class Capture(StrEnum):
    """What a hook reported."""

    PROMPT = "prompt"  # a turn began
    TOOL = "tool"  # a tool was used
    STOP = "stop"  # the agent finished its turn


@dataclass(frozen=True, slots=True)
class HookReport:
    """One hook event on its way in: cleaned of what is private, not yet captured."""

    session: str  # the agent's name for the conversation
    platform: str = ""
    project: str = ""
    cwd: str = ""
    prompt: str = ""
    private: bool = False  # the prompt was, as a whole
    tool: str = ""
    input: Any = None
    response: Any = None
    call: str = ""  # the agent's id of the tool call
    message: str = ""  # the agent's last words
    answers_hook: bool = False  # the turn that ends answered a hook, which had kept the agent from stopping
    agent: str = ""  # which sub-agent, if one
    process: str = ""  # of the agent, as `hook.processes` names it
    event: str = ""  # the sender's id of this delivery: sent twice, it is one event for ever
    files: tuple[str, ...] = ()  # stamps of the files that the call was about (`file_blobs`)
    at_ms: int | None = None  # when it happened, if that was not now
    rules_only: bool = False  # the checkout's own file says that nobody else may read it


@dataclass(frozen=True, slots=True)
class CapturedEvent:
    """One hook event as stored."""

    seq: int
    session: int
    turn: int
    kind: Capture
    at_ms: int
    tool: str = ""
    input: Any = None
    response: Any = None
    cwd: str = ""
    message: str = ""
    agent: str = ""
    job: int | None = None  # what extracts it; None where nothing does
    kept: bool = True  # whether what it said is still here
    files: tuple[str, ...] = ()  # stamps of the files that the call was about


@dataclass(frozen=True, slots=True)
class Queued:
    """Captured; a job will extract it."""


@dataclass(frozen=True, slots=True)
class Deduped:
    """Already captured; nothing was stored."""


class Skip(StrEnum):
    """Why something was not captured; the value is the contract's spelling."""

    PRIVATE = "private"
    TOOL = "tool_excluded"
    PROJECT = "project_excluded"
    SESSION_MEMORY = "session_memory_meta"
    SUBAGENT = "subagent_context"
    EMPTY = "empty"
    NOT_ACTIVE = "not_active"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Not captured, on purpose."""

    reason: Skip


Captured = Queued | Deduped | Skipped


def skip_of(report: HookReport, skipped_tools: frozenset[str]) -> Skip | None:
    """Why a tool event is not worth capturing, by its tool alone."""
    own = own_tools.is_own(report.tool, report.input) or own_tools.is_denial(report.response)
    if report.tool in skipped_tools or own:
        return Skip.TOOL
    if report.tool in _EDITORS and isinstance(report.input, dict):
        path = report.input.get("file_path") or report.input.get("notebook_path") or ""
        if "session-memory" in str(path):
            return Skip.SESSION_MEMORY
    return None


def key_of(report: HookReport, kind: Capture, session: int, turn: int) -> str:
    """What makes this event the same as another."""
    if kind is Capture.TOOL and report.call:
        return f"call:{session}:{_digest(report.call)}"
    said: tuple[Any, ...] = (session, turn)
    if kind is Capture.TOOL:
        said += (report.agent, report.tool, report.input, report.response)
    elif kind is Capture.STOP:
        said += (report.message,)
    return f"{kind.value}:{_digest(said)}"


def _digest(said: Any) -> str:
    text = json.dumps(said, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:40]
