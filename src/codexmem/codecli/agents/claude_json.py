"""Claude Code and Qwen Code: their command line, and the two-way form of their `stream-json`.

Memory goes in by `--append-system-prompt` (joined to one that is there), or before the prompt. One way, with
`--output-format stream-json` or plain text, tools are held back by our hook (`codex_hook`). Two ways, with
`--input-format stream-json`, a person's program sends `user` messages and the agent asks about tools:

    {"type": "control_request", "request_id": …, "request": {"subtype": "can_use_tool", "tool_name": …, "input": …}}
    {"type": "control_response", "response": {"subtype": "success", "request_id": …,
                                              "response": {"behavior": "deny", "message": …}}}

The message reaches the model, which goes on. Claude Code asks on this line only with `--permission-prompt-tool stdio`;
Qwen Code only after a control request `initialize`, without which it waits for ever: if the person's program sends
none, we do.

The output of Claude Code and Qwen Code in their format `stream-json`: one JSON value a line.

`system` begins a session; `assistant` holds what the model said and the tools it calls, `user` their results; with
partial messages `stream_event` holds the same piece by piece before; `result` ends a turn and repeats its last text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codexmem.codecli.agents import policy_hooks
from codexmem.codecli.agents.command_line import (
    CLAUDE,
    QWEN,
    TOO_LONG,
    Grammar,
    Scanned,
    fits,
    merged,
    program_of,
    scan,
)
from codexmem.codecli.agents.generic import refusal_line
from codexmem.codecli.agents.json_lines import Lines, Value, line_of, list_in, table_in, text_in, value_of
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Decide,
    Happening,
    Injection,
    Launch,
    LineEffects,
    PreparedAgent,
    ToolDecided,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    UserPrompt,
    Wiring,
)
from codexmem.codecli.agents.requests import Calls, request_of
from codexmem.codecli.agents.text import NOT_HELD
from codexmem.kernel.model.tool_access import Verdict

_MESSAGES = 1_000  # remembered at once


class StreamReader:
    """Values of the stream into happenings."""

    def __init__(self, agent: str, cwd: str, calls: Calls | None = None, decide: Decide | None = None) -> None:
        self._agent, self._cwd = agent, cwd
        self._calls = calls  # None: nobody asks, so what is called is at work, or decided as it is printed
        self._decide = decide
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
                if self._decide is not None:
                    yield ToolDecided(request, self._decide(request))
                elif self._calls is None:
                    yield ToolStarted(request)
                else:
                    self._calls.announced(request)


class StreamWatcher:
    """Reads the stream as it passes; `hooked` if a hook decides about the tools in it, else `decide` may."""

    def __init__(self, agent: str, cwd: str, *, hooked: bool = False, decide: Decide | None = None) -> None:
        self._reader = StreamReader(agent, cwd, Calls() if hooked else None, decide)
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


APPENDED = "--append-system-prompt"
STREAM = "stream-json"
PROMPTS = frozenset({"-p", "--prompt", "-i", "--prompt-interactive"})
_INITIALIZE = "mem-codecli-initialize"
_PERMISSIONS = "--permission-prompt-tool"
_GRAMMAR = Grammar(
    short="mporeis",
    long=frozenset(
        {
            *("--model", "--prompt", "--prompt-interactive", "--output-format", "--input-format", "--system-prompt"),
            *(APPENDED, "--approval-mode", "--permission-mode", _PERMISSIONS, "--mcp-config", "--settings", "--resume"),
            *("--session-id", "--auth-type", "--max-turns", "--max-session-turns", "--fallback-model", "--agents"),
            *("--openai-api-key", "--openai-base-url", "--output-style", "--proxy", "--channel", "--json-schema"),
            *("--json-file", "--json-fd", "--input-file", "--max-wall-time", "--max-tool-calls", "--setting-sources"),
            *("--agent", "--max-budget-usd", "--sandbox-image", "--plugin-dir", "--openai-logging-dir"),
        }
    ),
    many=frozenset(
        {"--add-dir", "--include-directories", "--allowed-tools", "--allowedTools", "--disallowedTools", "--betas",
         "--disallowed-tools", "--extensions", "--core-tools", "--exclude-tools", "--tools"}
    ),
)  # fmt: skip
# In Claude Code these letters are flags.
_CLAUDE_FLAGS = "ps"


class ClaudeJson:
    """The adapter for Claude Code and Qwen Code."""

    name = "claude-json"

    def prompt_of(self, launch: Launch) -> str | None:
        """The prompt on the command line."""
        at = prompt_at(launch)
        return None if at is None else launch.argv[at]

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """Put the injection on the command line, and hold tools by the line that asks or by our hook."""
        agent, scanned, start = _read(launch)
        two_way = scanned.value("--input-format") == STREAM
        prompt = self.prompt_of(launch)
        notes: tuple[str, ...] = ()
        ready = launch
        by_input = prompt is None and not scanned.positions and not two_way
        if not two_way:
            ready, notes = _injected(launch, injection, by_input=by_input)
        in_launch = two_way or ready.argv != launch.argv
        if wiring.holds and two_way:
            if agent != QWEN and not scanned.has(_PERMISSIONS):
                argv = (*ready.argv[:start], _PERMISSIONS, "stdio", *ready.argv[start:])
                ready = Launch(argv, ready.environ, ready.cwd)
        held = policy_hooks.held(ready, agent, scanned, wiring) if wiring.holds and not two_way else None
        if held is not None:
            ready = held
        elif wiring.holds and not two_way:
            notes = (*notes, NOT_HELD)
        if two_way:
            dialogue = ClaudeDialogue(agent, launch.cwd, injection, wiring)
            return PreparedAgent(ready, prompt or "", dialogue=dialogue, notes=notes)
        streams = STREAM in (scanned.value("--output-format"), scanned.value("-o"))
        decide = wiring.decide if wiring.holds and wiring.hook_command and held is None else None
        watcher = StreamWatcher(agent, launch.cwd, hooked=held is not None, decide=decide) if streams else None
        return PreparedAgent(
            ready,
            prompt or "",
            stdout=watcher,
            notes=notes,
            in_launch=in_launch,
            by_input=by_input,
            before_input=injection.user if by_input else "",
            refusal=refusal_line if streams and decide is not None else None,
        )


class ClaudeDialogue:
    """The two-way form, between a person's program and the agent."""

    def __init__(self, agent: str, cwd: str, injection: Injection, wiring: Wiring) -> None:
        self._agent, self._cwd, self._injection, self._wiring = agent, cwd, injection, wiring
        self._calls = Calls()
        self._reader = StreamReader(agent, cwd, self._calls)
        self._begun = False

    def open(self, prompt: str | None) -> LineEffects:
        """The person's program begins."""
        return LineEffects()

    def from_person(self, line: bytes) -> LineEffects:
        """Pass it on, a message with memory before it."""
        message = value_of(line)
        if message is None:
            return LineEffects(to_agent=(line,))
        first = self._first(message)
        if message.get("type") != "user":
            return LineEffects(to_agent=(*first, line))
        said = table_in(message.get("message"))
        content = said.get("content")
        asked = _text(content)
        told = self._told(asked)
        if told:
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else list_in(content)
            changed = {**said, "content": [{"type": "text", "text": told}, *parts]}
            line = line_of({**message, "message": changed}) or line
        return LineEffects(to_agent=(*first, line), happenings=(UserPrompt(asked),) if asked else ())

    def _first(self, message: Value) -> tuple[bytes, ...]:
        if self._begun or not self._wiring.holds:
            return ()
        self._begun = True
        if table_in(message.get("request")).get("subtype") == "initialize":
            return ()
        return (line_of({"type": "control_request", "request_id": _INITIALIZE,
                         "request": {"subtype": "initialize", "hooks": None}}) or b"",)  # fmt: skip

    def _told(self, asked: str) -> str:
        if not asked:
            return ""
        recalled = self._wiring.recall(asked)
        return "\n\n".join(text for text in (recalled.system, recalled.user) if text)

    def from_agent(self, line: bytes) -> LineEffects:
        """Answer it, read it, pass it on."""
        message = value_of(line)
        if message is None:
            return LineEffects(to_person=(line,))
        request = table_in(message.get("request"))
        if message.get("type") == "control_response":
            if table_in(message.get("response")).get("request_id") == _INITIALIZE:
                return LineEffects()
        elif message.get("type") == "control_request" and request.get("subtype") == "can_use_tool":
            if self._wiring.holds:
                return self._question(message, request)
        return LineEffects(to_person=(line,), happenings=tuple(self._reader.read(message)))

    def _question(self, message: Value, request: Value) -> LineEffects:
        given = request.get("input")
        asked = request_of(text_in(request.get("tool_name")) or "tool", given, agent=self._agent, cwd=self._cwd,
                           call_id=text_in(request.get("tool_use_id")))  # fmt: skip
        decision = self._wiring.decide(asked)
        allowed = decision.verdict is Verdict.ALLOW
        answer: Value = {"behavior": "allow", "updatedInput": given} if allowed else {
            "behavior": "deny", "message": decision.reason}  # fmt: skip
        response = {"subtype": "success", "request_id": message.get("request_id"), "response": answer}
        line = line_of({"type": "control_response", "response": response}) or b""
        return LineEffects(to_agent=(line,), happenings=self._calls.decided(asked, decision))


def _read(launch: Launch) -> tuple[str, Scanned, int]:
    program = program_of(launch.argv)
    short = "".join(letter for letter in _GRAMMAR.short if program.name != CLAUDE or letter not in _CLAUDE_FLAGS)
    grammar = Grammar(short, _GRAMMAR.long - ({"--prompt"} if program.name == CLAUDE else set()), _GRAMMAR.many)
    return program.name, scan(launch.argv[program.words :], grammar), program.words


def prompt_at(launch: Launch) -> int | None:
    """Where the prompt stands in argv, if it is there."""
    agent, scanned, start = _read(launch)
    if agent != CLAUDE:
        for name, value, at in reversed(scanned.options):
            # `--prompt=text` would have to be put together again.
            if name in PROMPTS and launch.argv[start + at] == name and value:
                return start + at + 1
    return start + scanned.positions[0] if len(scanned.positions) == 1 else None


def _injected(launch: Launch, injection: Injection, *, by_input: bool) -> tuple[Launch, tuple[str, ...]]:
    _, scanned, start = _read(launch)
    argv, system = list(launch.argv), injection.system
    at = prompt_at(launch)
    if injection.user and at is None and not by_input:
        system = merged(system, injection.user)
    elif injection.user and at is not None:
        argv[at] = f"{injection.user}\n\n{argv[at]}"
    if system:
        theirs = scanned.value(APPENDED)
        for where in [where for name, _, where in reversed(scanned.options) if name == APPENDED]:
            del argv[start + where : start + where + (1 if "=" in argv[start + where] else 2)]
        argv[start:start] = [APPENDED, merged(theirs or "", system)]
    if not fits(argv):
        return launch, (TOO_LONG,)
    return Launch(tuple(argv), launch.environ, launch.cwd), ()


def _text(content: object) -> str:
    if isinstance(content, str):
        return text_in(content)
    parts = [table_in(each) for each in list_in(content)]
    texts = [text_in(part.get("text")) for part in parts if part.get("type") == "text"]
    return "\n".join(text for text in texts if text)
