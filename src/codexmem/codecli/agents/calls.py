"""Tool calls between their announcement and their end, for protocols that announce a call before they ask about it.

A call that was announced is not a tool at work: it may still be refused, here or by a hook. So it is told of when it
was let through, or, if nobody asked, with its end; one that was refused is told of as refused and as nothing else.
"""

from __future__ import annotations

from collections import OrderedDict

from codexmem.codecli.agents.protocol import Happening, ToolDecided, ToolEnded, ToolStarted
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

_KEPT = 1_000


class Calls:
    """The calls of one conversation. Bounded."""

    def __init__(self) -> None:
        self._announced: OrderedDict[str, ToolRequest] = OrderedDict()
        self._refused: OrderedDict[str, None] = OrderedDict()

    def announced(self, request: ToolRequest) -> None:
        """The agent wants to use a tool."""
        self._announced[request.call_id] = request
        if len(self._announced) > _KEPT:
            self._announced.popitem(last=False)

    def awaits(self, call_id: str) -> bool:
        """Whether it was announced, and nothing more is known."""
        return call_id in self._announced

    def decided(self, request: ToolRequest, decision: ToolDecision) -> tuple[Happening, ...]:
        """What is to be told of a decision."""
        self._announced.pop(request.call_id, None)
        if decision.verdict is Verdict.ALLOW:
            # A question says more than an announcement.
            return ToolDecided(request, decision), ToolStarted(request)
        self._refused[request.call_id] = None
        if len(self._refused) > _KEPT:
            self._refused.popitem(last=False)
        return (ToolDecided(request, decision),)

    def ended(self, call_id: str, ok: bool, took_ms: int | None = None) -> tuple[Happening, ...]:
        """What is to be told of an end."""
        if call_id in self._refused:
            del self._refused[call_id]
            return ()
        begun = self._announced.pop(call_id, None)
        end = ToolEnded(call_id, ok, took_ms)
        return (end,) if begun is None else (ToolStarted(begun), end)

    def dropped(self, call_id: str) -> None:
        """It came to nothing, and nothing is to be told."""
        self._announced.pop(call_id, None)
        self._refused.pop(call_id, None)

    def left(self) -> tuple[Happening, ...]:
        """What is still at work when a turn is over."""
        found = tuple(ToolStarted(request) for request in self._announced.values())
        self._announced.clear()
        self._refused.clear()
        return found
