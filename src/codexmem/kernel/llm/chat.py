"""A conversation with a model that may call tools: messages and tools in, one reply out.

The model keeps nothing between calls, and calls no tool itself: a reply says which it would like called, with arguments
as the model wrote them, unread and unchecked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from codexmem.kernel.llm.model import Check

MAX_CALLS = 16  # of tools in one reply; what follows is left out
MAX_NAME = 128
CUT = "length"  # why a reply ended that had no room left


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model would like called."""

    id: str  # joins it to its result; unique within a reply
    name: str
    arguments: str  # JSON, if the model wrote what it should

    def to_json(self) -> dict[str, object]:
        """As it is kept and traced."""
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn."""

    role: str  # system, user, assistant or tool
    content: str
    tool_calls: tuple[ToolCall, ...] = ()  # of an assistant
    tool_call_id: str = ""  # of a tool: which call this answers


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool that the model may ask for."""

    name: str
    description: str
    schema: Mapping[str, Any]  # of its arguments


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model said, what it wants called, and what that took."""

    content: str
    tool_calls: tuple[ToolCall, ...]
    prompt_tokens: int
    completion_tokens: int
    finish: str = "stop"  # or tool_calls, or `CUT`
    raw: dict[str, Any] = field(default_factory=dict)  # what else the server told about it, without the text


class ChatModel(Protocol):
    """Answers in conversations. Every call may come from any thread, holds no state and ends within its time."""

    name: str

    def reply(self, messages: Sequence[ChatMessage], tools: Sequence[ChatTool], *, temperature: float, max_tokens: int,
              check: Check, deadline_s: float | None = None) -> ChatReply:  # fmt: skip
        """The next turn, or `Unanswered`; `check` is called four times a second and what it raises passes through."""
        ...


def spoken(messages: Sequence[ChatMessage]) -> str:
    """All that is sent, to estimate what it costs."""
    return "\n".join(
        part for each in messages for part in (each.content, *(call.name + call.arguments for call in each.tool_calls))
    )


def distinct(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls with ids that can be told apart; servers leave them out, or repeat them."""
    seen: set[str] = set()
    kept: list[ToolCall] = []
    for number, call in enumerate(calls[:MAX_CALLS], 1):
        name = call.id if 0 < len(call.id) <= MAX_NAME and call.id not in seen else f"call_{number}"
        while name in seen:
            name += "_"
        seen.add(name)
        kept.append(ToolCall(name, call.name[:MAX_NAME], call.arguments))
    return tuple(kept)
