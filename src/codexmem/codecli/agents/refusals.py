"""What an agent is told when a tool is refused, so that it can go on another way, in the words of all protocols."""

from __future__ import annotations

from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest

_SHOWN = 300  # characters of a command or of a tool's name


def told(request: ToolRequest, decision: ToolDecision) -> str:
    """One refusal."""
    what = request.command or request.tool
    what = what if len(what) <= _SHOWN else what[:_SHOWN] + "…"
    return f"[mem-codecli] The tool request {what!r} was refused by policy: {decision.reason}"


def go_on(refused: list[str]) -> str:
    """What follows where a refusal has ended the agent's turn."""
    return "\n".join([*refused, "Continue without it: find another way to do what was asked, or say what is missing."])
