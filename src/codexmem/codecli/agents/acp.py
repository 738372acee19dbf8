"""The Agent Client Protocol: JSON-RPC 2.0, one message a line (`qwen --acp`, `gemini --acp`, `opencode acp`).

`initialize`, `session/new`, then `session/prompt`, during which the agent sends `session/update` (text, tool calls) and
asks `session/request_permission`; the answer to the prompt ends the turn. A person's program may speak it through us,
or we speak it ourselves for one prompt. There is no place for instructions in it, so memory stands before the prompt.

A refusal carries no reason. Some agents tell their model that it was refused and go on (Gemini CLI); others end the
turn (Qwen Code 0.24, OpenCode, codex-acp). Where nothing follows a refusal, the reasons are sent as another prompt, and
the turn that the person's program waits for ends when that one does. An agent that was told to ask nothing is held by
our hook, if it has hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from codexmem import agents
from codexmem.agents import CodingAgent
from codexmem.codecli.agents import claude_json, policy_hooks, protocol
from codexmem.codecli.agents.command_line import Grammar, program_of, scan
from codexmem.codecli.agents.json_lines import Value, line_of, list_in, table_in, text_in, value_of
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    Injection,
    Launch,
    LineEffects,
    PreparedAgent,
    TurnEnded,
    UserPrompt,
    Wiring,
)
from codexmem.codecli.agents.requests import Calls, request_of
from codexmem.kernel.model.tool_access import Risk, ToolDecision, ToolRequest, Verdict

# What a kind of tool can do at worst. "other" and what is new say nothing.
_RISKS = {
    **dict.fromkeys(("read", "search", "think"), Risk.READ),
    **dict.fromkeys(("edit", "delete", "move"), Risk.WRITE),
    "fetch": Risk.NETWORK,
    "execute": Risk.EXECUTE,
}
_TOOLS = {"read": "read_file", "edit": "edit", "delete": "delete", "move": "move", "search": "search",
          "execute": "Bash", "fetch": "web_fetch"}  # fmt: skip
_GRANTS, _REFUSES = ("allow_once",), ("reject_once", "reject_always")


def tool_call_of(call: Value, *, agent: str, cwd: str, known: Value | None = None) -> ToolRequest:
    """The request that a tool call is; `known` is what was told of it before it was asked about."""
    asked, known = known is not None, known or {}
    kind = text_in(call.get("kind")) or text_in(known.get("kind"))
    title = text_in(call.get("title")) or text_in(known.get("title"))
    meta = {**table_in(known.get("_meta")), **table_in(call.get("_meta"))}
    tool = text_in(meta.get("toolName")) or _TOOLS.get(kind) or title or "tool"
    arguments: Any = call.get("rawInput") or known.get("rawInput")
    if not arguments and asked:
        # Some agents put the command in the title of the question and nowhere else.
        arguments = {"command": title} if kind == "execute" else {"title": title}
    places = [*list_in(known.get("locations")), *list_in(call.get("locations"))]
    paths = tuple(path for each in places if (path := text_in(table_in(each).get("path"))))
    return request_of(tool, arguments, agent=agent, call_id=text_in(call.get("toolCallId")), cwd=cwd,
                      risk=_RISKS.get(kind), also_paths=paths)  # fmt: skip


def outcome(options: Any, *, granted: bool) -> tuple[Value, bool]:
    """The answer, and whether it grants."""
    offered = [table_in(each) for each in list_in(options)]
    for kind in _GRANTS if granted else ():
        for option in offered:
            if option.get("kind") == kind:
                return _selected(option), True
    for kind in _REFUSES:
        for option in offered:
            if option.get("kind") == kind:
                return _selected(option), False
    return {"outcome": {"outcome": "cancelled"}}, False


def _selected(option: Value) -> Value:
    return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}


VERSION = 1
_SWITCH = "--acp"  # of most agents
SWITCHES = frozenset({_SWITCH, "--experimental-acp", "acp"})
_FOLLOW_UPS = 3  # prompts of ours in a row; an agent that is refused again and again is left to end
_CALLS = 1_000  # remembered at once
_NOT_OFFERED = {"code": -32601, "message": "mem-codecli does not offer this"}
_IN_PROMPT = "this protocol has no place for instructions: memory was put before the prompt"
_UNASKED = "the agent was told not to ask (%s): its tools cannot be held back"
_NOBODY = "nobody can be asked here; use --audit prompt or --audit auto"

Follow = Callable[[Value], LineEffects]


class Acp:
    """The adapter for agents that speak the protocol."""

    name = "acp"

    def prompt_of(self, launch: Launch) -> str | None:
        """The prompt, where we lead; a program that speaks the protocol sends its own."""
        if SWITCHES & set(launch.argv[1:]):
            return None
        at = claude_json.prompt_at(launch)
        return None if at is None else launch.argv[at]

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """Stand inside the protocol, or lead it where a prompt is given instead of a switch for the protocol."""
        program = program_of(launch.argv).name
        agent = agents.started_by(program)
        prompt, argv = self.prompt_of(launch), launch.argv
        if prompt is not None:
            argv = (*_without_prompt(launch), agent.acp or _SWITCH)
        ready = Launch(argv, launch.environ, launch.cwd)
        ready, notes = _asking(ready, agent, wiring) if wiring.holds else (ready, ())
        if injection.system:
            notes = (*notes, _IN_PROMPT)
        dialogue = AcpDialogue(program, launch.cwd, injection, wiring)
        return PreparedAgent(ready, prompt or "", dialogue=dialogue, leads=prompt is not None, notes=notes,
                        ends_with_input=agent.ends_with_input)  # fmt: skip


@dataclass
class _Turn:
    """A prompt that is being answered."""

    session: str
    answers: Value | None  # the person's request; None if the prompt is ours
    refused: list[str] = field(default_factory=list)  # what was refused since the agent last did anything
    cancelled: bool = False
    followed: int = 0


class AcpDialogue:
    """The dialogue."""

    def __init__(self, agent: str, cwd: str, injection: Injection, wiring: Wiring) -> None:
        self._agent, self._cwd, self._injection, self._wiring = agent, cwd, injection, wiring
        self._prompt: str | None = None
        self._asked = 0
        self._awaited: dict[str, Follow] = {}  # our own requests, by id
        self._turns: dict[str, _Turn] = {}  # by the id of the prompt's request, as JSON says it
        self._told: dict[str, Value] = {}  # of tool calls, by their ids
        self._calls = Calls()

    def open(self, prompt: str | None) -> LineEffects:
        """Begin the conversation if it is ours."""
        if prompt is None:
            return LineEffects()
        self._prompt = prompt
        nothing = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        client = {"name": "mem-codecli", "title": "mem-codecli", "version": "1"}
        params = {"protocolVersion": VERSION, "clientInfo": client, "clientCapabilities": nothing}
        moves = self._ask("initialize", params, self._initialized)
        return LineEffects(moves.to_agent, happenings=(UserPrompt(prompt),))

    def _initialized(self, _: Value) -> LineEffects:
        return self._ask("session/new", {"cwd": self._cwd, "mcpServers": []}, self._created)

    def _created(self, result: Value) -> LineEffects:
        session = text_in(result.get("sessionId"))
        told = _told(self._injection)
        texts: list[Value] = [*told, {"type": "text", "text": self._prompt or ""}]
        return self._send_prompt(_Turn(session, None), texts)

    def from_person(self, line: bytes) -> LineEffects:
        """Pass it on, a prompt with memory before it."""
        message = value_of(line)
        if message is None:
            return LineEffects(to_agent=(line,))
        params = table_in(message.get("params"))
        session = text_in(params.get("sessionId"))
        if message.get("method") == "session/cancel":
            for turn in self._turns.values():
                turn.cancelled = turn.cancelled or turn.session == session
        if message.get("method") != "session/prompt" or "id" not in message:
            return LineEffects(to_agent=(line,))
        asked = _text(params.get("prompt"))
        told = _told(self._wiring.recall(asked)) if asked else []
        if told:
            changed = {**params, "prompt": [*told, *list_in(params.get("prompt"))]}
            line = line_of({**message, "params": changed}) or line
        self._turns[repr(message["id"])] = _Turn(session, message)
        return LineEffects(to_agent=(line,), happenings=(UserPrompt(asked),) if asked else ())

    def from_agent(self, line: bytes) -> LineEffects:
        """Answer it, read it, pass it on."""
        message = value_of(line)
        if message is None:
            return self._pass(line)
        method, params = text_in(message.get("method")), table_in(message.get("params"))
        if method and "id" in message:
            return self._question(message, method, params, line)
        if method == "session/update":
            happenings, shown = self._update(text_in(params.get("sessionId")), table_in(params.get("update")))
            return LineEffects(to_person=self._pass(line).to_person or shown, happenings=happenings)
        key = message.get("id")
        if not method and isinstance(key, str) and key in self._awaited:
            return self._awaited.pop(key)(message)
        if not method and (turn := self._turns.pop(repr(key), None)) is not None:
            return self._turn_ended(turn, message, line)
        return self._pass(line)

    def _question(self, message: Value, method: str, params: Value, line: bytes) -> LineEffects:
        if method != "session/request_permission":
            if self._prompt is None:
                return self._pass(line)
            return LineEffects(to_agent=(_line({"id": message["id"], "error": _NOT_OFFERED}),))
        if not self._wiring.holds and self._prompt is None:
            return self._pass(line)
        call = table_in(params.get("toolCall"))
        known = self._told.get(text_in(call.get("toolCallId")), {})
        request = tool_call_of(call, agent=self._agent, cwd=self._cwd, known=known)
        decision = self._wiring.decide(request) if self._wiring.holds else ToolDecision(Verdict.DENY, _NOBODY)
        result, granted = outcome(params.get("options"), granted=decision.verdict is Verdict.ALLOW)
        answer = (_line({"id": message["id"], "result": result}),)
        if not granted:
            session = text_in(params.get("sessionId"))
            for turn in self._turns.values():
                if turn.session == session:
                    turn.refused.append(protocol.told(request, decision))
        return LineEffects(answer, happenings=self._calls.decided(request, decision) if self._wiring.holds else ())

    def _update(self, session: str, update: Value) -> tuple[tuple[Happening, ...], tuple[bytes, ...]]:
        key = text_in(update.get("toolCallId"))
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                text = text_in(table_in(update.get("content")).get("text"))
                if text:
                    self._goes_on(session)
                return ((AgentMessage(text),) if text else ()), self._shown(text)
            case "tool_call" | "tool_call_update" as what:
                known = self._told.pop(key, None)
                told = {**(known or {}), **{name: value for name, value in update.items() if value}}
                if what == "tool_call":
                    self._goes_on(session)
                # Arguments may follow when a call is known already, as long as it is not at work.
                if what == "tool_call" or update.get("rawInput"):
                    self._announce(told, anew=what == "tool_call")
                if update.get("status") in ("completed", "failed"):
                    return self._calls.ended(key, update["status"] == "completed"), ()
                while len(self._told) >= _CALLS:
                    del self._told[next(iter(self._told))]
                self._told[key] = told
        return (), ()

    def _announce(self, told: Value, *, anew: bool) -> None:
        request = tool_call_of(told, agent=self._agent, cwd=self._cwd)
        if anew or self._calls.awaits(request.call_id):
            self._calls.announced(request)

    def _goes_on(self, session: str) -> None:
        """The agent does something: it was told of a refusal and has not stopped at it."""
        for turn in self._turns.values():
            if turn.session == session:
                turn.refused.clear()

    def _turn_ended(self, turn: _Turn, message: Value, line: bytes) -> LineEffects:
        failed = "result" not in message
        if turn.refused and not turn.cancelled and not failed and turn.followed < _FOLLOW_UPS:
            told = protocol.go_on(turn.refused)
            turn.refused, turn.followed = [], turn.followed + 1
            return self._send_prompt(turn, [{"type": "text", "text": told}])
        why = text_in(table_in(message.get("error")).get("message"))
        ended = (*self._calls.left(), TurnEnded(not failed and not turn.cancelled, why))
        if self._prompt is not None:
            return LineEffects(to_person=(b"\n",), happenings=ended, done=True)
        if turn.followed and turn.answers is not None:
            line = line_of({**message, "id": turn.answers.get("id")}) or line
        return LineEffects(to_person=(line,), happenings=ended)

    def _send_prompt(self, turn: _Turn, texts: list[Value]) -> LineEffects:
        moves = self._ask("session/prompt", {"sessionId": turn.session, "prompt": texts}, lambda _: LineEffects())
        key = f"mem-codecli-{self._asked}"
        del self._awaited[key]
        self._turns[repr(key)] = turn
        return moves

    def _ask(self, method: str, params: Value, follow: Follow) -> LineEffects:
        """A request of our own; one that fails ends a conversation that is ours."""
        self._asked += 1
        key = f"mem-codecli-{self._asked}"

        def answered(message: Value) -> LineEffects:
            if "result" in message:
                return follow(table_in(message["result"]))
            why = text_in(table_in(message.get("error")).get("message")) or "the request failed"
            return LineEffects(happenings=(TurnEnded(False, f"{method}: {why}"),), done=self._prompt is not None)

        self._awaited[key] = answered
        return LineEffects(to_agent=(_line({"id": key, "method": method, "params": params}),))

    def _pass(self, line: bytes) -> LineEffects:
        return LineEffects() if self._prompt is not None else LineEffects(to_person=(line,))

    def _shown(self, text: str) -> tuple[bytes, ...]:
        return (text.encode(),) if self._prompt is not None and text else ()


def _without_prompt(launch: Launch) -> tuple[str, ...]:
    at = claude_json.prompt_at(launch)
    if at is None:
        return launch.argv
    return (*launch.argv[: at - (launch.argv[at - 1] in claude_json.PROMPTS)], *launch.argv[at + 1 :])


def _asking(launch: Launch, agent: CodingAgent, wiring: Wiring) -> tuple[Launch, tuple[str, ...]]:
    """The launch in the mode in which an agent asks. One that a person chose otherwise is kept; then our hook asks."""
    option = agent.approval_option
    if not option:
        return launch, ()
    argv = launch.argv
    silent = [word for word in argv if word in {"--yolo", "-y"}]
    chosen = [at for at, word in enumerate(argv) if word.partition("=")[0] == option]
    for at in chosen:
        mode = argv[at].partition("=")[2] or "".join(argv[at + 1 : at + 2])
        silent += [f"{option} {mode}"] if mode != "default" else []
    if silent:
        scanned = scan(argv[1:], Grammar())
        hooked = agent.adapter == claude_json.ClaudeJson.name
        held = policy_hooks.held(launch, agent.program, scanned, wiring) if hooked else None
        return (held, ()) if held is not None else (launch, (_UNASKED % ", ".join(silent),))
    return launch if chosen else Launch((*argv, option, "default"), launch.environ, launch.cwd), ()


def _told(injection: Injection) -> list[Value]:
    text = "\n\n".join(text for text in (injection.system, injection.user) if text)
    return [{"type": "text", "text": text}] if text else []


def _text(blocks: object) -> str:
    texts = [text_in(table_in(each).get("text")) for each in list_in(blocks)]
    return "\n".join(text for text in texts if text)


def _line(value: Value) -> bytes:
    return line_of({"jsonrpc": "2.0", **value}) or b""
