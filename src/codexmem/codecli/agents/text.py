"""Agents that print plain text. A tool request is a line that begins with a marker: `TOOL_REQUEST: name arguments`.

After the marker stands a JSON object (`{"tool": "fetch", "arguments": {…}}`) or a name and whatever is asked of it. An
agent that only prints what it wants is stopped where that is denied; with `audit.untold = "note"` the refusal is
written to its input, where that is ours. What stands in text may be a quotation, so a marker raises a question and
grants nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codexmem.codecli.agents.command_line import TOO_LONG, fits
from codexmem.codecli.agents.json_lines import Lines, text_in, value_of
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Decide,
    Happening,
    Injection,
    Launch,
    PreparedAgent,
    ToolDecided,
    ToolStarted,
    Wiring,
)
from codexmem.codecli.agents.requests import ToolContext, request_of
from codexmem.codecli.opening import spoken
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

MARKER = "TOOL_REQUEST:"
NOT_HELD = "this agent only prints what it does: it is stopped where a tool is denied, unless audit.untold is note"
_LONGEST = 64 << 10
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]+[0-~]|[0-Z\\^-~])"
)
_NAME = re.compile(r"[^\s:(]+")


class TextWatcher:
    """Reads text, line by line; with an empty marker there are no requests in it.

    With `decide`, each request is decided as it is seen, and what came of it is told.
    """

    def __init__(self, *, agent: str = "", cwd: str = "", marker: str = MARKER, decide: Decide | None = None) -> None:
        self._agent = agent
        self._cwd = cwd
        self._marker = marker
        self._decide = decide
        self._lines = Lines(_LONGEST, cut=True)
        self._seen = 0

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell."""
        return [each for line in self._lines.feed(piece) for each in self._line(line, "\n")]

    def close(self) -> Iterable[Happening]:
        """What an unfinished line tells."""
        return [each for line in self._lines.close() for each in self._line(line, "")]

    def _line(self, line: bytes, end: str) -> Iterator[Happening]:
        text = plain(line.decode("utf-8", "replace"))
        asked = text.lstrip()
        if self._marker and asked.startswith(self._marker):
            request = self._request(asked.removeprefix(self._marker).strip())
            if self._decide is None:
                yield ToolStarted(request)
            else:
                yield ToolDecided(request, self._decide(request))
        else:
            yield AgentMessage(text + end)

    def _request(self, asked: str) -> ToolRequest:
        self._seen += 1
        named: ToolContext = {"agent": self._agent, "cwd": self._cwd, "call_id": f"text-{self._seen}"}
        if asked.startswith("{") and (said := value_of(asked.encode())) is not None:
            tool = next((text for key in ("tool", "name", "tool_name") if (text := text_in(said.get(key)))), "")
            given = next((said[key] for key in ("arguments", "args", "input", "parameters") if key in said), said)
            return request_of(tool or "unknown", given, from_text=True, server=text_in(said.get("server")), **named)
        name = _NAME.match(asked)
        tool = name[0] if name else "unknown"
        rest = asked[len(tool) :].strip(" :") if name else asked
        given = value_of(rest.encode()) if rest.startswith("{") else None
        return request_of(tool, {"text": rest} if given is None else given, from_text=True, **named)


def plain(text: str) -> str:
    """Text without the sequences that colour it or move the cursor."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def refusal(request: ToolRequest, decision: ToolDecision) -> bytes:
    """What an agent is told in words; one line, since it may read lines."""
    word = "refused" if decision.verdict is Verdict.DENY else "allowed"
    return (
        " ".join(f"[mem-codecli] {word}: {request.tool}. {decision.reason}".split()).encode("utf-8", "replace") + b"\n"
    )


class Text:
    """The adapter for agents that are known by nothing but their text.

    The prompt is the only argument on the command line that says more than a word; else it comes by standard input. A
    single word may be a sub-command: what an unknown program means by it is not ours to guess.
    """

    name = "text"

    def __init__(self, marker: str = MARKER) -> None:
        self._marker = marker

    def prompt_of(self, launch: Launch) -> str | None:
        """The prompt, if there is only one argument that it can be."""
        at = prompt_at(launch)
        return None if at is None else launch.argv[at]

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """Put everything before the prompt, wherever it is: nothing is known about another way in."""
        ready = before_prompt(launch, injection)
        watcher = TextWatcher(agent=agent_of(launch), cwd=launch.cwd, marker=self._marker,
                              decide=wiring.decide if wiring.holds else None)  # fmt: skip
        notes = (*ready.notes, *((NOT_HELD,) if wiring.holds else ()))
        return replace(ready, stdout=watcher, refusal=refusal, notes=notes)


def prompt_at(launch: Launch) -> int | None:
    """Where the prompt stands: the one argument that says more than a word."""
    found = [at for at, word in enumerate(launch.argv) if at and not word.startswith("-") and spoken(word)]
    return found[0] if len(found) == 1 else None


def before_prompt(launch: Launch, injection: Injection) -> PreparedAgent:
    """The launch with all of the injection before its prompt, or before the input that is to bring one."""
    told = "\n\n".join(dict.fromkeys(text for text in (injection.system, injection.user) if text))
    at = prompt_at(launch)
    if at is None:
        return PreparedAgent(launch, in_launch=False, by_input=True, before_input=told)
    prompt = launch.argv[at]
    argv = (*launch.argv[:at], f"{told}\n\n{prompt}", *launch.argv[at + 1 :]) if told else launch.argv
    if not fits(argv):
        return PreparedAgent(launch, prompt, in_launch=False, notes=(TOO_LONG,))
    return PreparedAgent(Launch(argv, launch.environ, launch.cwd), prompt)


def agent_of(launch: Launch) -> str:
    """The program's name."""
    return launch.argv[0].replace("\\", "/").rsplit("/", 1)[-1] if launch.argv else ""
