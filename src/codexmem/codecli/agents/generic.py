"""Agents that print JSON lines, or server-sent events that hold JSON, in a form that configuration describes.

`codecli.mapping` says where things stand, as dotted paths; a number is a place in a list, and `|` separates places
that are looked at one after the other:

    [codecli.mapping]
    text = "delta.text|message"     # what the agent says
    tool = "call.name"              # the name of a tool that it uses
    arguments = "call.input"
    call_id = "call.id"
    server = "call.server"          # the MCP server, if it has one
    ok = "result.ok"                # whether a tool did what it should; such a line is a tool's end
    done = "finished"               # true on the line that ends a turn
    error = "error.message"         # why it failed

What is not configured is looked for where agents commonly put it: for tools `tool_calls` knows how. What
is denied stops the agent, as with plain text.

Server-sent events as the HTML standard defines them, out of pieces of bytes that end anywhere.

Lines end with a line feed, a carriage return or both; an event ends with an empty line; one that is cut off at the end
of the stream is none. An event longer than the limit is left out.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from codexmem.codecli.agents.json_lines import LONGEST, Lines, Value, line_of, table_in, text_in, value_of
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Decide,
    Happening,
    Injection,
    Launch,
    Noticed,
    PreparedAgent,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Wiring,
)
from codexmem.codecli.agents.requests import request_of
from codexmem.codecli.agents.text import NOT_HELD, agent_of, before_prompt, prompt_at, refusal
from codexmem.codecli.agents.tool_calls import (
    AgentToolCall,
    AgentToolResult,
    Found,
    Fragment,
    Unclear,
    found_in,
    names_call,
    whole,
)
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest

_MARK = b"\xef\xbb\xbf"  # of byte order


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event."""

    data: str
    name: str = "message"
    last_id: str = ""
    retry_ms: int | None = None  # what the stream last said about waiting before another attempt


class SseStream:
    """The events of one stream."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._line = bytearray()
        self._after_return = False
        self._begun = False
        self._data: list[str] = []
        self._held = 0
        self._cut = False  # within a line that is too long
        self._too_long = False  # within an event that is left out
        self._name = ""
        self._last_id = ""
        self._retry_ms: int | None = None
        self.skipped = 0  # events that were left out

    def feed(self, piece: bytes) -> Iterator[SseEvent]:
        """The events that these bytes complete."""
        start = 0
        while start < len(piece):
            if self._after_return and piece[start] == 0x0A:
                start += 1
                self._after_return = False
                continue
            self._after_return = False
            ends = [at for at in (piece.find(b"\n", start), piece.find(b"\r", start)) if at >= 0]
            end = min(ends, default=len(piece))
            self._grow(piece[start:end])
            start = end + 1
            if end < len(piece):
                self._after_return = piece[end] == 0x0D
                yield from self._ended()

    def _grow(self, part: bytes) -> None:
        if len(self._line) + len(part) > self._longest:
            self._too_long = self._cut = True
            self._data = []
            self._line.clear()
        elif not self._cut:
            self._line += part

    def _ended(self) -> Iterator[SseEvent]:
        whole = bytes(self._line)
        self._line.clear()
        if not self._begun:
            self._begun = True
            whole = whole.removeprefix(_MARK)
        if self._cut:
            self._cut = False  # the end of a line that was too long, and no end of an event
        elif whole:
            self._field(whole.decode("utf-8", "replace"))
        else:
            self.skipped += self._too_long
            if self._data and not self._too_long:
                yield SseEvent("\n".join(self._data), self._name or "message", self._last_id, self._retry_ms)
            self._data, self._held, self._name, self._too_long = [], 0, "", False

    def _field(self, line: str) -> None:
        name, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if colon and not name:
            return  # a comment
        if name == "data":
            self._held += len(value) + 1
            if self._held > self._longest:
                self._too_long, self._data = True, []
            elif not self._too_long:
                self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._last_id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) < 10:
            self._retry_ms = int(value)


JSON_LINES, SSE = "jsonl", "sse"
USUAL: Mapping[str, str] = {
    "text": "text|delta.text|delta|content|message.content|message|item.text|choices.0.delta.content"
    "|choices.0.message.content|part.text",
    "done": "done",
    "error": "error.message|error",
}
_TOOLS = ("tool", "arguments", "call_id", "server", "ok")  # looked for by `tool_calls` unless a mapping names the tool
_NAMED = re.compile(rb'"(?:tool_?use|tool_?calls?|function_?calls?)"', re.IGNORECASE)
_OPEN_CALLS = 64
_SEEN = 1_000
_LONGEST_CALL = 1 << 20
_SHOWN = 2_000  # characters of what is no JSON
TOO_LONG = "a line that is too long"
UNKNOWN = "unknown"
_DONE = "[DONE]"  # how some streams say that nothing follows


@dataclass(slots=True)
class _Open:
    """A call that comes in pieces."""

    tool: str = ""
    call_id: str = ""
    text: str = ""
    told: bool = False

    def call(self) -> AgentToolCall | Unclear:
        """As far as it has come."""
        given = whole(self.text) if self.text.strip() else {}
        arguments = {"text": self.text} if given is None else given
        return (
            AgentToolCall(self.tool, arguments, self.call_id)
            if self.tool
            else Unclear("a call without a name", arguments)
        )


class Mapped:
    """JSON values into happenings, by a mapping."""

    def __init__(self, mapping: Mapping[str, str], *, agent: str, cwd: str, decide: Decide | None) -> None:
        chosen = {**USUAL, **{name: path for name, path in mapping.items() if name in (*USUAL, *_TOOLS)}}
        self._paths = {name: [tuple(path.split(".")) for path in text.split("|")] for name, text in chosen.items()}
        self._agent, self._cwd, self._decide = agent, cwd, decide
        self._open: OrderedDict[Hashable, _Open] = OrderedDict()
        self._seen: OrderedDict[str, None] = OrderedDict()

    def read(self, value: Value, event: str = "") -> Iterator[Happening]:
        """What one value tells; `event` is the name that a server-sent event gave it."""
        found = [] if "tool" in self._paths else list(found_in(value, event))
        text = self._said(value)
        in_pieces = Fragment(None) in found or (isinstance(value.get("delta"), str) and bool(found))
        if text and value.get("role") not in ("user", "tool") and not in_pieces:  # some agents repeat the question
            yield AgentMessage(text)
        tool = ""
        if "tool" in self._paths:
            call_id = text_in(self._at(value, "call_id", str))
            tool = text_in(self._at(value, "tool", str))
            ok = self._at(value, "ok", bool)
            if isinstance(ok, bool) and (tool or call_id):
                yield ToolEnded(call_id, ok)
            elif tool:
                given, server = self._at(value, "arguments", object), text_in(self._at(value, "server", str))
                yield self._asked(AgentToolCall(tool, given, call_id, server))
        for each in found:
            yield from self._found(each)
        error = text_in(self._at(value, "error", str))
        told = tool or any(isinstance(each, AgentToolCall | AgentToolResult) for each in found)
        if self._at(value, "done", bool) is True or (error and not told):
            yield TurnEnded(not error, error)

    def unclear(self, what: str, value: Any = None) -> Iterator[Happening]:
        """Something that looks like a call: a person is told, and policy is asked about a tool that nobody knows."""
        if self._decide is not None:
            yield Noticed(f"what looks like a tool call could not be read ({what[:80]}): judged as an unknown tool")
        yield self._asked(AgentToolCall(UNKNOWN, value), from_text=True)

    def close(self) -> Iterator[Happening]:
        """The calls that nothing follows any more."""
        yield from self._finish(())

    def _found(self, found: Found) -> Iterator[Happening]:
        match found:
            case Unclear(what, value):
                yield from self.unclear(what, value)
            case AgentToolResult(call_id, ok):
                yield ToolEnded(call_id, ok)
            case AgentToolCall(call_id=call_id, ok=ok):
                if not call_id or call_id not in self._seen:
                    yield self._asked(found)
                if call_id:
                    self._seen[call_id] = None
                    if len(self._seen) > _SEEN:
                        self._seen.popitem(last=False)
                if ok is not None:
                    yield ToolEnded(call_id, ok)
            case Fragment(key=None):
                pass
            case Fragment():
                yield from self._grow(found)

    def _grow(self, part: Fragment) -> Iterator[Happening]:
        if part.last:
            yield from self._finish(part.key)
            return
        if part.key in self._open and part.call_id and self._open[part.key].call_id not in ("", part.call_id):
            yield from self._finish(part.key)
        call = self._open.setdefault(part.key, _Open())
        call.tool, call.call_id = call.tool or part.tool, call.call_id or part.call_id
        call.text = (call.text + part.text)[: _LONGEST_CALL + 1]
        if not call.told and part.text.rstrip().endswith("}") and isinstance(whole(call.text), dict):
            call.told = True
            yield from self._found(call.call())
        if len(self._open) > _OPEN_CALLS:
            yield from self._finish(next(iter(self._open)))

    def _finish(self, key: Hashable) -> Iterator[Happening]:
        """The open calls whose key begins like this."""
        for each in [each for each in self._open if each == key or _begins(each, key)]:
            call = self._open.pop(each)
            if not call.told:
                yield from self._found(call.call())

    def _asked(self, call: AgentToolCall, *, from_text: bool = False) -> Happening:
        request: ToolRequest = request_of(
            call.tool, call.arguments, agent=self._agent, call_id=call.call_id, cwd=self._cwd, server=call.server,
            from_text=from_text,
        )  # fmt: skip
        return ToolStarted(request) if self._decide is None else ToolDecided(request, self._decide(request))

    def _said(self, value: Value) -> str:
        text = self._at(value, "text", str | list)
        if isinstance(text, list):  # parts of a message
            parts = [table_in(each) for each in text]
            return "".join(text_in(part.get("text")) for part in parts if part.get("type") in ("text", "output_text"))
        return text_in(text)

    def _at(self, value: Value, name: str, kind: Any) -> Any:
        for path in self._paths.get(name, ()):
            found: Any = value
            for step in path:
                if isinstance(found, dict):
                    found = found.get(step)
                elif isinstance(found, list) and step.isascii() and step.isdigit() and len(step) < 6:
                    found = found[int(step)] if int(step) < len(found) else None
                else:
                    found = None
                if found is None:
                    break
            if found is not None and isinstance(found, kind):
                return found
        return None


def _begins(key: Hashable, other: Hashable) -> bool:
    return isinstance(key, tuple) and isinstance(other, tuple) and key[: len(other)] == other


class LinesWatcher:
    """Reads JSON lines; what is no JSON is text that somebody printed, and tells nothing."""

    def __init__(self, mapped: Mapped) -> None:
        self._mapped = mapped
        self._lines = Lines()

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell."""
        skipped = self._lines.skipped
        found = [each for line in self._lines.feed(piece) for each in self._line(line)]
        return [*found, *(self._mapped.unclear(TOO_LONG) if self._lines.skipped > skipped else ())]

    def close(self) -> Iterable[Happening]:
        """What an unfinished line tells, and unfinished calls."""
        return [*(each for line in self._lines.close() for each in self._line(line)), *self._mapped.close()]

    def _line(self, line: bytes) -> Iterator[Happening]:
        # A line may be a list of values.
        value = value_of(b'{"":%b}' % line if line.lstrip()[:1] == b"[" else line)
        if value is not None:
            yield from self._mapped.read(value)
        elif _NAMED.search(line):
            yield from self._mapped.unclear("a line that is no JSON", line[:_SHOWN].decode("utf-8", "replace"))


class EventsWatcher:
    """Reads server-sent events; one that holds no JSON is something said."""

    def __init__(self, mapped: Mapped) -> None:
        self._mapped = mapped
        self._events = SseStream()
        self._skipped = 0

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell."""
        found: list[Happening] = []
        for event in self._events.feed(piece):
            value = value_of(event.data.encode("utf-8", "replace"))
            if value is not None:
                found += self._mapped.read(value, event.name)
            elif event.data == _DONE:
                found += self._mapped.close()
            elif names_call(event.name) or _NAMED.search(event.data.encode("utf-8", "replace")):
                found += self._mapped.unclear(f"an event {event.name}", event.data[:_SHOWN])
            else:
                found.append(AgentMessage(event.data))
        if self._events.skipped > self._skipped:
            self._skipped = self._events.skipped
            found += self._mapped.unclear(TOO_LONG)
        return found

    def close(self) -> Iterable[Happening]:
        """An event that is cut off is none; an unfinished call is one."""
        return list(self._mapped.close())


def refusal_line(request: ToolRequest, decision: ToolDecision) -> bytes:
    """What an agent that speaks JSON is told: a tool's result, with the call's id by each name that agents have."""
    told = {
        "type": "tool_result", "tool": request.tool, "call_id": request.call_id, "tool_use_id": request.call_id,
        "tool_call_id": request.call_id, "ok": False, "is_error": True, "decision": str(decision.verdict),
        "content": refusal(request, decision).decode().rstrip("\n"),
    }  # fmt: skip
    return line_of(told) or b""


class Generic:
    """The adapter for agents that configuration describes."""

    def __init__(self, stream_format: str, mapping: Mapping[str, str]) -> None:
        self.name = "generic"
        self._format = stream_format
        self._mapping = mapping

    def prompt_of(self, launch: Launch) -> str | None:
        """The prompt, if there is only one argument that it can be."""
        at = prompt_at(launch)
        return None if at is None else launch.argv[at]

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """Put everything before the prompt, wherever it is: nothing is known about another way in."""
        ready = before_prompt(launch, injection)
        decide = wiring.decide if wiring.holds else None
        mapped = Mapped(self._mapping, agent=agent_of(launch), cwd=launch.cwd, decide=decide)
        watch: Callable[[Mapped], LinesWatcher | EventsWatcher] = EventsWatcher if self._format == SSE else LinesWatcher
        notes = (*ready.notes, *((NOT_HELD,) if wiring.holds else ()))
        return replace(ready, stdout=watch(mapped), refusal=refusal_line, notes=notes)
