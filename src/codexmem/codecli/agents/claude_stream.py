"""The output of Claude Code and Qwen Code in their format `stream-json`: one JSON value a line.

`system` begins a session; `assistant` holds what the model said and the tools it calls, `user` their results; with
partial messages `stream_event` holds the same piece by piece before; `result` ends a turn and repeats its last text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codexmem.codecli.agents.calls import Calls
from codexmem.codecli.agents.json_lines import Lines, Value, list_in, table_in, text_in, value_of
from codexmem.codecli.agents.protocol import AgentMessage, Happening, ToolEnded, ToolStarted, TurnEnded
from codexmem.codecli.agents.requests import request_of

_MESSAGES = 1_000  # remembered at once


class StreamReader:
    """Values of the stream into happenings."""

    def __init__(self, agent: str, cwd: str, calls: Calls | None = None) -> None:
        self._agent, self._cwd = agent, cwd
        self._calls = calls  # None: nobody asks, so what is called is at work
        self._streaming = ""  # the message whose parts are told as they come
        self._told: dict[str, None] = {}  # messages that were told in parts

    def read(self, value: Value) -> Iterator[Happening]:
        """What one value tells."""
        message = table_in(value.get("message"))
        match value.get("type"):
            case "stream_event":
                yield from self._event(table_in(value.get("event")))
            case "assistant":
                yield from self._assistant(message)
            case "user":
                for part in map(table_in, list_in(message.get("content"))):
                    if part.get("type") == "tool_result":
                        key, ok = text_in(part.get("tool_use_id")), part.get("is_error") is not True
                        yield from (ToolEnded(key, ok),) if self._calls is None else self._calls.ended(key, ok)
            case "result":
                ok = value.get("is_error") is not True and value.get("subtype") in ("success", None)
                why = "" if ok else text_in(value.get("result")) or text_in(table_in(value.get("error")).get("message"))
                yield from self._calls.left() if self._calls is not None else ()
                yield TurnEnded(ok, why)

    def _event(self, event: Value) -> Iterator[Happening]:
        if event.get("type") == "message_start":
            self._streaming = text_in(table_in(event.get("message")).get("id"))
        elif event.get("type") == "content_block_delta":
            text = text_in(table_in(event.get("delta")).get("text"))
            if text:
                if self._streaming and self._streaming not in self._told:
                    while len(self._told) >= _MESSAGES:
                        del self._told[next(iter(self._told))]
                    self._told[self._streaming] = None
                yield AgentMessage(text)

    def _assistant(self, message: Value) -> Iterator[Happening]:
        told = text_in(message.get("id")) in self._told
        content = message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list_in(content)
        for part in map(table_in, parts):
            if part.get("type") == "text":
                text = text_in(part.get("text"))
                if text or told:
                    yield AgentMessage("\n" if told else text + "\n")
            elif part.get("type") == "tool_use":
                request = request_of(
                    text_in(part.get("name")) or "tool", part.get("input"), agent=self._agent, cwd=self._cwd,
                    call_id=text_in(part.get("id")),
                )  # fmt: skip
                if self._calls is None:
                    yield ToolStarted(request)
                else:
                    self._calls.announced(request)


class StreamWatcher:
    """Reads the stream as it passes; `hooked` if a hook decides about the tools in it."""

    def __init__(self, agent: str, cwd: str, *, hooked: bool = False) -> None:
        self._reader = StreamReader(agent, cwd, Calls() if hooked else None)
        self._lines = Lines()

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell."""
        return [each for line in self._lines.feed(piece) for each in self._line(line)]

    def close(self) -> Iterable[Happening]:
        """What an unfinished line tells."""
        return [each for line in self._lines.close() for each in self._line(line)]

    def _line(self, line: bytes) -> Iterator[Happening]:
        if (value := value_of(line)) is not None:
            yield from self._reader.read(value)
