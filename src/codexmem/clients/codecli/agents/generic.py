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

What is not configured is looked for where agents commonly put it. As with plain text, tools can be noted, not held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from codexmem.clients.codecli.agents.json_lines import Lines, Value, text_in, value_of
from codexmem.clients.codecli.agents.protocol import (
    Decide,
    Happening,
    Injection,
    Launch,
    Prepared,
    Said,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Wiring,
)
from codexmem.clients.codecli.agents.requests import request_of
from codexmem.clients.codecli.agents.sse import Events
from codexmem.clients.codecli.agents.text import NOT_HELD, agent_of, before_prompt, prompt_at, refusal
from codexmem.domain.tool_access import ToolRequest

JSON_LINES, SSE = "jsonl", "sse"
USUAL: Mapping[str, str] = {
    "text": "text|delta.text|delta|content|message.content|message|item.text|choices.0.delta.content|part.text",
    "tool": "tool|tool_name|tool_call.name|function.name|part.tool",
    "arguments": "arguments|args|tool_input|parameters|tool_call.arguments|tool_call.input|input|part.state.input",
    "call_id": "call_id|tool_call_id|tool_use_id|tool_id|tool_call.id|part.callID|id",
    "server": "server|server_name|tool_call.server",
    "ok": "ok|success",
    "done": "done",
    "error": "error.message|error",
}
_DONE = "[DONE]"  # how some streams say that nothing follows


class Mapped:
    """JSON values into happenings, by a mapping."""

    def __init__(self, mapping: Mapping[str, str], *, agent: str, cwd: str, decide: Decide | None) -> None:
        chosen = {**USUAL, **{name: path for name, path in mapping.items() if name in USUAL}}
        self._paths = {name: [tuple(path.split(".")) for path in text.split("|")] for name, text in chosen.items()}
        self._agent, self._cwd, self._decide = agent, cwd, decide

    def read(self, value: Value) -> Iterator[Happening]:
        """What one value tells."""
        text = text_in(self._at(value, "text", str))
        if text and value.get("role") != "user":  # some agents repeat the question
            yield Said(text)
        call_id = text_in(self._at(value, "call_id", str))
        tool = text_in(self._at(value, "tool", str))
        ok = self._at(value, "ok", bool)
        if isinstance(ok, bool) and (tool or call_id):
            yield ToolEnded(call_id, ok)
        elif tool:
            yield self._asked(tool, call_id, value)
        error = text_in(self._at(value, "error", str))
        if self._at(value, "done", bool) is True or (error and not tool):
            yield TurnEnded(not error, error)

    def _asked(self, tool: str, call_id: str, value: Value) -> Happening:
        request: ToolRequest = request_of(
            tool, self._at(value, "arguments", object), agent=self._agent, call_id=call_id, cwd=self._cwd,
            server=text_in(self._at(value, "server", str)),
        )  # fmt: skip
        return ToolStarted(request) if self._decide is None else ToolDecided(request, self._decide(request))

    def _at(self, value: Value, name: str, kind: type) -> Any:
        for path in self._paths[name]:
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


class LinesWatcher:
    """Reads JSON lines; what is no JSON is text that somebody printed, and tells nothing."""

    def __init__(self, mapped: Mapped) -> None:
        self._mapped = mapped
        self._lines = Lines()

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell."""
        return [each for line in self._lines.feed(piece) for each in self._line(line)]

    def close(self) -> Iterable[Happening]:
        """What an unfinished line tells."""
        return [each for line in self._lines.close() for each in self._line(line)]

    def _line(self, line: bytes) -> Iterator[Happening]:
        if (value := value_of(line)) is not None:
            yield from self._mapped.read(value)


class EventsWatcher:
    """Reads server-sent events; one that holds no JSON is something said."""

    def __init__(self, mapped: Mapped) -> None:
        self._mapped = mapped
        self._events = Events()

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell."""
        found: list[Happening] = []
        for event in self._events.feed(piece):
            value = value_of(event.data.encode("utf-8", "replace"))
            if value is not None:
                found += self._mapped.read(value)
            elif event.data != _DONE:
                found.append(Said(event.data))
        return found

    def close(self) -> Iterable[Happening]:
        """An event that is cut off is none."""
        return []


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

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> Prepared:
        """Put everything before the prompt, wherever it is: nothing is known about another way in."""
        ready = before_prompt(launch, injection)
        decide = wiring.decide if wiring.holds else None
        mapped = Mapped(self._mapping, agent=agent_of(launch), cwd=launch.cwd, decide=decide)
        watch: Callable[[Mapped], LinesWatcher | EventsWatcher] = EventsWatcher if self._format == SSE else LinesWatcher
        notes = (*ready.notes, *((NOT_HELD,) if wiring.holds else ()))
        return replace(ready, stdout=watch(mapped), refusal=refusal, notes=notes)
