"""`codex app-server`: JSON-RPC without the `jsonrpc` field, one message a line, both sides ask and answer.

A person's program may speak it through us, or we speak it ourselves for one prompt (`leads`):

- `initialize`, `initialized`, then `thread/start` with `developerInstructions` (which displace those of the person's
  configuration, so both are given) and the approval policy `untrusted`, which asks about every command that is not
  known to be harmless; then `turn/start`, deltas, `turn/completed`;
- a question about a tool is answered here. A refusal carries no reason, so the reason is sent as
  `turn/steer` before it: then both are in the same request to the model;
- in a conversation that another program leads, memory for a prompt is put before it by `thread/inject_items` as a
  developer message, or in the prompt itself;
- tools of MCP servers that Codex approves by itself are not asked about; our hook decides those.

What the Codex app-server asks before it acts, as requests for policy, and the answers it understands.

A command asks by `item/commandExecution/requestApproval`, a patch by `item/fileChange/requestApproval` (its files stand
in the item that began just before), more rights by `item/permissions/requestApproval`; a tool of an MCP server asks by
an elicitation that names the server, and its item names the tool. Older servers ask by `execCommandApproval` and
`applyPatchApproval`. Granting is always for this one time.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codexmem.codecli.agents import codex_options, policy_hooks, protocol
from codexmem.codecli.agents.codex_exec import AGENT, CodexExec, tool_of, went_well
from codexmem.codecli.agents.codex_options import CommandLine
from codexmem.codecli.agents.command_line import merged
from codexmem.codecli.agents.json_lines import Value, line_of, list_in, number_in, table_in, text_in, value_of
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
from codexmem.codecli.agents.requests import Calls, ToolContext, request_of
from codexmem.kernel.model.tool_access import Risk, ToolRequest, Verdict

ELICITATION = "mcpServer/elicitation/request"


@dataclass(frozen=True, slots=True)
class CodexQuestion:
    """One question of Codex about a tool."""

    request: ToolRequest
    yes: Value
    no: Value
    thread: str
    turn: str


def question_of(method: str, params: Value, items: Mapping[str, Value], cwd: str) -> CodexQuestion | None:
    """The question that a request of the app-server is; None if it is about something else."""
    item = items.get(text_in(params.get("itemId")), {})
    named: ToolContext = {
        "agent": AGENT,
        "call_id": text_in(params.get("itemId")) or text_in(params.get("callId")),
        "cwd": text_in(params.get("cwd")) or cwd,
    }
    yes: Value = {"decision": "accept"}
    no: Value = {"decision": "decline"}
    match method:
        case "item/commandExecution/requestApproval":
            request = _command(params, item, named)
        case "item/fileChange/requestApproval":
            changed = tool_of(item, cwd) if item else None
            root = text_in(params.get("grantRoot"))
            paths = (*(changed.paths if changed else ()), *((root,) if root else ()))
            request = request_of("apply_patch", changed.arguments if changed else params, risk=Risk.WRITE,
                                 also_paths=paths, **named)  # fmt: skip
        case "item/permissions/requestApproval":
            wanted = params.get("permissions")
            request = request_of("request_permissions", wanted, risk=Risk.EXECUTE, **named)
            yes, no = {"permissions": table_in(wanted), "scope": "turn"}, {"permissions": {}}
        case "execCommandApproval":
            command = shlex.join(text_in(word) for word in list_in(params.get("command")))
            request = request_of("Bash", {"command": command}, **named)
            yes, no = {"decision": "approved"}, {"decision": "denied"}
        case "applyPatchApproval":
            files = [text_in(name) for name in table_in(params.get("fileChanges"))]
            request = request_of("apply_patch", {"paths": files}, risk=Risk.WRITE, **named)
            yes, no = {"decision": "approved"}, {"decision": "denied"}
        case _ if method == ELICITATION and _is_tool(params):
            request = _mcp_tool(params, items, named)
            yes, no = {"action": "accept", "content": {}}, {"action": "decline", "content": None}
        case _:
            return None
    return CodexQuestion(request, yes, no, text_in(params.get("threadId")), text_in(params.get("turnId")))


def _command(params: Value, item: Value, named: ToolContext) -> ToolRequest:
    if params.get("kind") == "writeStdin":
        # Input for a shell that runs already can be any command.
        return request_of("write_stdin", {"command": params.get("command") or item.get("command")},
                          risk=Risk.EXECUTE, **named)  # fmt: skip
    network = table_in(params.get("networkApprovalContext"))
    arguments: Value = {"command": params.get("command") or item.get("command")}
    if network:
        host, scheme = text_in(network.get("host")), text_in(network.get("protocol")) or "https"
        arguments["url"] = f"{scheme}://{host}"
    return request_of("Bash", arguments, **named)


def _is_tool(params: Value) -> bool:
    return table_in(params.get("_meta")).get("codex_approval_kind") == "mcp_tool_call"


def _mcp_tool(params: Value, items: Mapping[str, Value], named: ToolContext) -> ToolRequest:
    server = text_in(params.get("serverName"))
    arguments = table_in(params.get("_meta")).get("tool_params")
    for key, item in reversed(list(items.items())):
        if item.get("type") == "mcpToolCall" and item.get("server") == server:
            named = {**named, "call_id": key}
            return request_of(f"mcp__{server}__{text_in(item.get('tool'))}", arguments or item.get("arguments"),
                              server=server, **named)  # fmt: skip
    return request_of(f"mcp__{server}__unknown", arguments, server=server, **named)


UNTRUSTED, NEVER = "untrusted", "never"
_ITEMS = 1_000  # remembered at once, to know what a question is about
_STARTS = {"thread/start", "thread/resume", "thread/fork"}
_NOT_OFFERED = {"code": -32601, "message": "mem-codecli does not offer this"}
_STDIN_NOTE = "the prompt comes by standard input, so Codex is run by `codex exec` and not by its app-server"
_DROPPED_NOTE = "options of `codex exec` that its app-server does not know were left out: "
_PASSED_ON = {"-c", "--config", "--enable", "--disable"}
_TAKEN = {"-C", "--cd", "-m", "--model", "-s", "--sandbox", "--json"}

Follow = Callable[[Value], LineEffects]
Failed = Callable[[str], LineEffects]


class CodexAppServer:
    """The adapter for `codex app-server`, and for `codex exec` where that is to be run by it."""

    name = "codex-app-server"

    def prompt_of(self, launch: Launch) -> str | None:
        """The prompt on the command line; a program that speaks the protocol sends its own."""
        return CodexExec().prompt_of(launch)

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """Stand inside the protocol, or lead it."""
        line = CommandLine.read(launch.argv)
        prompt = line.prompt(launch.argv)
        leads = line.subcommand != "app-server"
        if leads and prompt is None:
            otherwise = CodexExec().prepare(launch, injection, wiring)
            return _noted(otherwise, _STDIN_NOTE)
        hook: tuple[str, ...] = ()
        check = None
        if wiring.holds and wiring.hook_command:
            hook = policy_hooks.options(line, wiring.hook_command, policy_hooks.MCP_TOOLS)
            check = policy_hooks.check(launch, line, hook, wiring.hook_command)
        if leads:
            given = [(name, value) for name, value, _ in line.scanned.options]
            kept = tuple(word for name, value in given if name in _PASSED_ON for word in (name, value))
            argv = (*launch.argv[: line.words], "app-server", *kept, *hook)
            lost = [name for name, _ in given if name not in _PASSED_ON | _TAKEN]
            notes = (_DROPPED_NOTE + ", ".join(lost),) if lost else ()
        else:
            argv, notes = line.with_options(launch.argv, hook), ()
        theirs = codex_options.instructions(line, launch, wiring.text_of)
        dialogue = AppServer(_thread(line, launch), injection, wiring, theirs)
        return PreparedAgent(Launch(argv, launch.environ, launch.cwd), prompt or "", dialogue=dialogue, leads=leads,
                        notes=notes, check=check)  # fmt: skip


class AppServer:
    """The dialogue."""

    def __init__(self, thread: Value, injection: Injection, wiring: Wiring, theirs: str = "") -> None:
        self._thread = thread  # what a thread of ours is started with
        self._injection = injection
        self._wiring = wiring
        self._theirs = theirs
        self._cwd = text_in(thread.get("cwd"))
        self._prompt: str | None = None
        self._asked = 0
        self._awaited: dict[str, tuple[Follow, Failed]] = {}  # our own requests, by id
        self._items: dict[str, Value] = {}
        self._calls = Calls()
        self._said: set[str] = set()  # messages of which parts were told already

    def open(self, prompt: str | None) -> LineEffects:
        """Begin the conversation if it is ours."""
        if prompt is None:
            return LineEffects()
        self._prompt = prompt
        client = {"name": "mem_codecli", "title": "mem-codecli", "version": "1"}
        moves = self._ask("initialize", {"clientInfo": client}, self._initialized)
        return LineEffects(moves.to_agent, happenings=(UserPrompt(prompt),))

    def _initialized(self, _: Value) -> LineEffects:
        begun = self._ask("thread/start", self._started(self._thread), self._thread_started)
        return LineEffects((_line({"method": "initialized"}), *begun.to_agent))

    def _thread_started(self, result: Value) -> LineEffects:
        thread = text_in(table_in(result.get("thread")).get("id"))
        told = [self._injection.user] if self._injection.user else []
        texts = [{"type": "text", "text": text} for text in (*told, self._prompt or "")]
        return self._ask("turn/start", {"threadId": thread, "input": texts}, lambda _: LineEffects())

    def from_person(self, line: bytes) -> LineEffects:
        """Pass it on, with memory and with our approval policy."""
        message = value_of(line)
        params = table_in(message.get("params")) if message else {}
        method = text_in(message.get("method")) if message else ""
        if message is None or "id" not in message:
            return LineEffects(to_agent=(line,))
        if method in _STARTS:
            return LineEffects(to_agent=(self._said_anew(message, self._started(params), line),))
        if method == "turn/start":
            return self._turn(message, params, line)
        if method == "turn/steer":
            return LineEffects(to_agent=(line,), happenings=_asked(_prompt(params)))
        return LineEffects(to_agent=(line,))

    def _started(self, params: Value) -> Value:
        """How a thread is started: with memory, and so that Codex asks."""
        changed = dict(params)
        ours = self._injection.system
        if ours:
            theirs = text_in(params.get("developerInstructions")) or self._theirs
            changed["developerInstructions"] = merged(theirs, ours)
        if self._wiring.holds:
            changed["approvalPolicy"] = UNTRUSTED
        elif self._prompt is not None:
            changed["approvalPolicy"] = NEVER  # as in `codex exec`: there is nobody to ask
        return changed

    def _turn(self, message: Value, params: Value, line: bytes) -> LineEffects:
        prompt = _prompt(params)
        changed = dict(params)
        if self._wiring.holds and "approvalPolicy" in params:
            changed["approvalPolicy"] = UNTRUSTED
        recalled = self._wiring.recall(prompt) if prompt else Injection()
        if recalled.user:
            changed["input"] = [{"type": "text", "text": recalled.user}, *list_in(params.get("input"))]
        going = self._said_anew(message, changed, line)
        if not recalled.system:
            return LineEffects(to_agent=(going,), happenings=_asked(prompt))
        said = {"type": "input_text", "text": recalled.system}
        item = {"type": "message", "role": "developer", "content": [said]}
        texts = [{"type": "text", "text": recalled.system}, *list_in(changed.get("input"))]
        otherwise = self._said_anew(message, {**changed, "input": texts}, line)
        begun = self._ask(
            "thread/inject_items", {"threadId": params.get("threadId"), "items": [item]},
            lambda _: LineEffects(to_agent=(going,)), lambda _: LineEffects(to_agent=(otherwise,)),
        )  # fmt: skip
        return LineEffects(begun.to_agent, happenings=_asked(prompt))

    @staticmethod
    def _said_anew(message: Value, params: Value, line: bytes) -> bytes:
        if params == message.get("params"):
            return line
        return line_of({**message, "params": params}) or line

    def from_agent(self, line: bytes) -> LineEffects:
        """Answer it, read it, pass it on."""
        message = value_of(line)
        if message is None:
            return self._pass(line)
        method, params = text_in(message.get("method")), table_in(message.get("params"))
        if method and "id" in message:
            return self._question(message, method, params, line)
        if not method and isinstance(message.get("id"), str) and message["id"] in self._awaited:
            follow, otherwise = self._awaited.pop(message["id"])
            if "result" in message:
                return follow(table_in(message["result"]))
            return otherwise(text_in(table_in(message.get("error")).get("message")) or "the request failed")
        happenings, shown, done = self._notified(method, params)
        passed = self._pass(line)
        return LineEffects(to_person=passed.to_person or shown, happenings=happenings, done=done)

    def _question(self, message: Value, method: str, params: Value, line: bytes) -> LineEffects:
        question = question_of(method, params, self._items, self._cwd)
        if question is None or (not self._wiring.holds and self._prompt is None):
            # Nobody but the person's program can answer; alone, we say that nobody can.
            if self._prompt is None:
                return self._pass(line)
            return LineEffects(to_agent=(_line({"id": message["id"], "error": _NOT_OFFERED}),))
        if not self._wiring.holds:
            return LineEffects(to_agent=(_line({"id": message["id"], "result": question.no}),))
        if method == ELICITATION and self._wiring.hook_command:
            # Our hook has allowed it, else it would not be asked about.
            return LineEffects(to_agent=(_line({"id": message["id"], "result": question.yes}),))
        decision = self._wiring.decide(question.request)
        happened = self._calls.decided(question.request, decision)
        if decision.verdict is Verdict.ALLOW:
            return LineEffects((_line({"id": message["id"], "result": question.yes}),), happenings=happened)
        reason = [{"type": "text", "text": protocol.told(question.request, decision)}]
        steered: Value = {"threadId": question.thread, "expectedTurnId": question.turn, "input": reason}
        refused = LineEffects(to_agent=(_line({"id": message["id"], "result": question.no}),))
        # Codex deals with both at once, so the refusal waits until the reason has arrived.
        sent = self._ask("turn/steer", steered, lambda _: refused, lambda _: refused) if question.turn else refused
        return LineEffects(sent.to_agent, happenings=happened)

    def _notified(self, method: str, params: Value) -> tuple[tuple[Happening, ...], tuple[bytes, ...], bool]:
        item = table_in(params.get("item"))
        key = text_in(item.get("id"))
        match method:
            case "item/agentMessage/delta":
                text, key = text_in(params.get("delta")), text_in(params.get("itemId"))
                self._remember_said(key)
                return (AgentMessage(text),), self._shown(text), False
            case "item/started":
                while len(self._items) >= _ITEMS:
                    del self._items[next(iter(self._items))]
                self._items[key] = item
                if request := tool_of(item, self._cwd):
                    self._calls.announced(request)
                return (), (), False
            case "item/completed" if item.get("type") == "agentMessage":
                text = ("" if key in self._said else text_in(item.get("text"))) + "\n"
                self._said.discard(key)
                return (AgentMessage(text),), self._shown(text), False
            case "item/completed":
                self._items.pop(key, None)
                if tool_of(item, self._cwd) is None or item.get("status") == "declined":
                    self._calls.dropped(key)
                    return (), (), False
                return self._calls.ended(key, went_well(item), number_in(item.get("durationMs"))), (), False
            case "turn/completed":
                turn = table_in(params.get("turn"))
                why = text_in(table_in(turn.get("error")).get("message"))
                ended = TurnEnded(turn.get("status") == "completed", why)
                return (*self._calls.left(), ended), (), self._prompt is not None
        return (), (), False

    def _remember_said(self, key: str) -> None:
        if len(self._said) >= _ITEMS:
            self._said.clear()
        self._said.add(key)

    def _ask(self, method: str, params: Value, follow: Follow, otherwise: Failed | None = None) -> LineEffects:
        """A request of our own. Where we lead, one that fails ends the conversation."""

        def failed(why: str) -> LineEffects:
            if self._prompt is None:
                return LineEffects()
            return LineEffects(happenings=(TurnEnded(False, f"{method}: {why}"),), done=True)

        self._asked += 1
        key = f"mem-codecli-{self._asked}"
        self._awaited[key] = (follow, otherwise or failed)
        return LineEffects(to_agent=(_line({"id": key, "method": method, "params": params}),))

    def _pass(self, line: bytes) -> LineEffects:
        return LineEffects() if self._prompt is not None else LineEffects(to_person=(line,))

    def _shown(self, text: str) -> tuple[bytes, ...]:
        return (text.encode(),) if self._prompt is not None and text else ()


def _thread(line: CommandLine, launch: Launch) -> Value:
    thread: Value = {"cwd": line.scanned.value("-C", "--cd") or launch.cwd}
    model, sandbox = line.scanned.value("-m", "--model"), line.scanned.value("-s", "--sandbox")
    return thread | ({"model": model} if model else {}) | ({"sandbox": sandbox} if sandbox else {})


def _prompt(params: Value) -> str:
    texts = [text_in(table_in(each).get("text")) for each in list_in(params.get("input"))]
    return "\n".join(text for text in texts if text)


def _asked(prompt: str) -> tuple[Happening, ...]:
    return (UserPrompt(prompt),) if prompt else ()


def _line(value: Value) -> bytes:
    return line_of(value) or b""


def _noted(prepared: PreparedAgent, note: str) -> PreparedAgent:
    return PreparedAgent(prepared.launch, prepared.prompt, stdout=prepared.stdout, notes=(note, *prepared.notes),
                    check=prepared.check)  # fmt: skip
