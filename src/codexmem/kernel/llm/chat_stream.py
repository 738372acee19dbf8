"""A reply put together from the pieces of a stream, or read from a whole answer; without any I/O.

Servers differ: some send a tool call in many pieces with an index, some whole and without one, some repeat the index
for the next call. A reply counts only if the server said that it was finished.
"""

from dataclasses import dataclass, field
from typing import Any

from codexmem.kernel.llm.chat import MAX_CALLS, ChatReply, ToolCall, distinct
from codexmem.kernel.llm.openai_server import counted


@dataclass
class _Call:
    index: object
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class Assembly:
    """What has arrived of a reply."""

    text: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    finish: str = ""
    refused: bool = False
    prompt_tokens: object = None
    completion_tokens: object = None
    about: dict[str, object] = field(default_factory=dict)

    def take(self, piece: Any) -> None:
        """One chunk of a stream, or a whole completion, as JSON; what has another form is passed over."""
        if not isinstance(piece, dict):
            return
        for name in ("id", "model", "system_fingerprint"):
            if isinstance(piece.get(name), str):
                self.about[name] = piece[name][:200]
        usage = piece.get("usage")
        if isinstance(usage, dict):
            self.prompt_tokens, self.completion_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
        choices = piece.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        said = choice.get("delta") or choice.get("message")
        if isinstance(said, dict):
            self._say(said)
        if isinstance(choice.get("finish_reason"), str):
            self.finish = choice["finish_reason"][:40]

    @property
    def complete(self) -> bool:
        """Whether the server said that it was finished."""
        return bool(self.finish)

    def reply(self, asked: str) -> ChatReply:
        """The whole of it; `asked` is what was sent."""
        content = "".join(self.text)
        calls = distinct([ToolCall(each.id, each.name, "".join(each.arguments)) for each in self.calls])
        answered = content + "".join(call.name + call.arguments for call in calls)
        return ChatReply(
            content, calls, counted(self.prompt_tokens, asked), counted(self.completion_tokens, answered),
            self.finish or "stop", self.about | {"finish_reason": self.finish},
        )  # fmt: skip

    def _say(self, said: dict[str, object]) -> None:
        content = said.get("content")
        if isinstance(content, list):  # some servers answer in parts
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        if isinstance(content, str):
            self.text.append(content)
        self.refused = self.refused or bool(said.get("refusal"))
        pieces = said.get("tool_calls")
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, dict):
                self._call(piece)

    def _call(self, piece: dict[str, object]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        index, name, given = piece.get("index"), function.get("name"), piece.get("id")
        given = given if isinstance(given, str) else ""
        call = self._open(index, given)
        if call is None:
            if len(self.calls) > MAX_CALLS:
                return  # a stream of calls without end costs no more memory
            call = _Call(index, given)
            self.calls.append(call)
        if isinstance(name, str) and not call.name:
            call.name = name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments.append(arguments)

    def _open(self, index: object, given: str) -> _Call | None:
        """The call that a piece goes on with; None if it begins one."""
        if index is None:
            last = self.calls[-1] if self.calls else None
            return last if last is not None and given in {"", last.id} else None
        found = next((each for each in reversed(self.calls) if each.index == index), None)
        return None if found is not None and given and found.id and given != found.id else found
