"""Replies of a conversing model as they travel: streamed in pieces, with calls of tools; and a script by roles.

`Cast` plays a lab's profile: each role has its own list of lines, and the line to play is the number of replies that
the conversation already holds. So a request that is repeated gets the same answer, and nothing is remembered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codexmem.lab.service.profiles import Profile
from tests._support.model_server import Asked, Manner, Reply

Call = tuple[str, Any]  # a tool and its arguments; a text is sent as it is
_LEFT_OUT = re.compile(r"(\d+) earlier steps are left out")
_PIECE = 7  # characters of text in one chunk, of a short one


def event(value: Any) -> str:
    """One message of a stream."""
    return f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One piece of a completion."""
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": choices, **more}  # fmt: skip


def stream(*messages: Any, manner: Manner = Manner.PLAIN) -> Reply:
    """These messages as a stream."""
    body = "".join(map(event, messages)).encode()
    return Reply(200, body, {"Content-Type": "text/event-stream"}, manner)


def streamed(text: str = "", *calls: Call, finish: str | None = None, usage: tuple[int, int] | None = (100, 20),
             manner: Manner = Manner.PLAIN) -> Reply:  # fmt: skip
    """A reply in many small pieces."""
    pieces: list[Any] = [chunk({"role": "assistant", "content": ""})]
    size = max(_PIECE, len(text) // 200)
    pieces += [chunk({"content": text[start : start + size]}) for start in range(0, len(text), size)]
    for index, (name, given) in enumerate(calls):
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        opening = {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        pieces.append(chunk({"tool_calls": [opening]}))
        size = max(40, len(arguments) // 100)
        pieces += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[start : start + size]}}]})
            for start in range(0, len(arguments), size)
        ]
    pieces.append(chunk({}, finish or ("tool_calls" if calls else "stop")))
    if usage is not None:
        total = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        pieces.append(chunk({}) | {"choices": [], "usage": total})
    return stream(*pieces, "[DONE]", manner=manner)


Line = Reply | Sequence[Call] | str | Callable[[Asked], Any]


@dataclass
class Cast:
    """Plays every role of a profile; `asked` remembers which role was asked how often."""

    profile: Profile
    lines: Mapping[str, Sequence[Line]]
    asked: list[str] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        role = self.role(asked)
        self.asked.append(role)
        turn = sum(1 for message in asked.body["messages"] if message["role"] == "assistant")
        left_out = _LEFT_OUT.search(asked.body["messages"][1]["content"]) if len(asked.body["messages"]) > 1 else None
        turn += int(left_out.group(1)) if left_out else 0
        lines = self.lines[role]
        line: Any = lines[min(turn, len(lines) - 1)]
        if callable(line):
            line = line(asked)
        if isinstance(line, Reply):
            return line
        return streamed(line) if isinstance(line, str) else streamed("", *line)

    def role(self, asked: Asked) -> str:
        """Who is asked."""
        told = asked.body["messages"][0]["content"]
        return next(name for name, role in self.profile.roles.items() if told.startswith(role.prompt))


def results(asked: Asked) -> list[Any]:
    """What tools have returned so far, out of the envelope."""
    said = [message["content"] for message in asked.body["messages"] if message["role"] == "tool"]
    return [json.loads(text.split("\n", 1)[1].rsplit("\n", 1)[0]) for text in said if text.startswith("<tool_result>")]


def tools(asked: Asked) -> list[str]:
    """The names of the tools that are offered."""
    return [tool["function"]["name"] for tool in asked.body.get("tools", [])]
