"""Claude Code and Qwen Code: their command line, and the two-way form of their `stream-json`.

Memory goes in by `--append-system-prompt` (joined to one that is there), or before the prompt. One way, with
`--output-format stream-json` or plain text, tools are held back by our hook (`claude_hook`). Two ways, with
`--input-format stream-json`, a person's program sends `user` messages and the agent asks about tools:

    {"type": "control_request", "request_id": …, "request": {"subtype": "can_use_tool", "tool_name": …, "input": …}}
    {"type": "control_response", "response": {"subtype": "success", "request_id": …,
                                              "response": {"behavior": "deny", "message": …}}}

The message reaches the model, which goes on. Claude Code asks on this line only with `--permission-prompt-tool stdio`;
Qwen Code only after a control request `initialize`, without which it waits for ever: if the person's program sends
none, we do.
"""

from __future__ import annotations

from codexmem.codecli.agents import claude_hook
from codexmem.codecli.agents.calls import Calls
from codexmem.codecli.agents.claude_stream import StreamReader, StreamWatcher
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
from codexmem.codecli.agents.json_lines import Value, line_of, list_in, table_in, text_in, value_of
from codexmem.codecli.agents.protocol import Injection, Launch, LineEffects, PreparedAgent, UserPrompt, Wiring
from codexmem.codecli.agents.requests import request_of
from codexmem.codecli.agents.text import NOT_HELD
from codexmem.kernel.model.tool_access import Verdict

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
        held = claude_hook.held(ready, agent, scanned, wiring) if wiring.holds and not two_way else None
        if held is not None:
            ready = held
        elif wiring.holds and not two_way:
            notes = (*notes, NOT_HELD)
        if two_way:
            dialogue = ClaudeDialogue(agent, launch.cwd, injection, wiring)
            return PreparedAgent(ready, prompt or "", dialogue=dialogue, notes=notes)
        streams = STREAM in (scanned.value("--output-format"), scanned.value("-o"))
        watcher = StreamWatcher(agent, launch.cwd, hooked=held is not None) if streams else None
        return PreparedAgent(ready, prompt or "", stdout=watcher, notes=notes, in_launch=in_launch, by_input=by_input,
                        before_input=injection.user if by_input else "")  # fmt: skip


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
