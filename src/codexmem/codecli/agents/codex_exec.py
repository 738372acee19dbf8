"""`codex`, run with a prompt (`codex exec`) or as an interactive screen.

Memory goes in as developer instructions (`-c developer_instructions=…`, joined to those that are configured) or before
the prompt. Tools are held back by our hook (`codex_hook`); a refusal's reason is the answer that the model gets, and it
goes on. With `--json` each line of output is an event:

- `item.started` and `item.completed` with an item of type `agent_message`, `command_execution`, `file_change`,
  `mcp_tool_call`, `web_search`, …; there are no deltas;
- an item of type `error` is a warning, found in every second run; only `turn.failed` is a failure;
- a command that a hook refused leaves no item at all: the hook is what knows of it;
- with its model away, Codex says `error` "Reconnecting…" for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codexmem.codecli.agents import codex_options, policy_hooks
from codexmem.codecli.agents.codex_options import CommandLine
from codexmem.codecli.agents.command_line import TOO_LONG, fits, merged
from codexmem.codecli.agents.json_lines import Lines, Value, list_in, table_in, text_in, value_of
from codexmem.codecli.agents.protocol import (
    AgentMessage,
    Happening,
    Injection,
    Launch,
    OutputWatcher,
    PreparedAgent,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    Wiring,
)
from codexmem.codecli.agents.requests import ToolContext, request_of
from codexmem.kernel.model.tool_access import Risk, ToolRequest

AGENT = "codex"
_AWAY_AFTER = 10  # complaints about the model in a row
_OPEN_ITEMS = 1_000
_UNHELD_NOTE = "without a policy hook, tools of Codex cannot be held back here"


class CodexExec:
    """The adapter for `codex` and `codex exec`."""

    name = "codex"

    def prompt_of(self, launch: Launch) -> str | None:
        """The prompt on the command line."""
        return CommandLine.read(launch.argv).prompt(launch.argv)

    def prepare(self, launch: Launch, injection: Injection, wiring: Wiring) -> PreparedAgent:
        """Put the injection, and the hook, on the command line."""
        line = CommandLine.read(launch.argv)
        prompt = line.prompt(launch.argv)
        notes: list[str] = []
        argv, system, before_input = launch.argv, injection.system, ""
        if injection.user and line.by_input:
            before_input = injection.user
        elif injection.user and prompt is None:
            system = merged(system, injection.user)
        elif injection.user and line.prompt_at is not None:
            argv = (*argv[: line.prompt_at], f"{injection.user}\n\n{prompt}", *argv[line.prompt_at + 1 :])
        options: tuple[str, ...] = ()
        if system:
            theirs = codex_options.instructions(line, launch, wiring.text_of)
            options = codex_options.option(codex_options.INSTRUCTIONS, merged(theirs, system))
        if not fits((*argv, *options)):
            argv, options = launch.argv, ()
            notes.append(TOO_LONG)
        in_launch = bool(options) or argv != launch.argv
        check = None
        if wiring.holds and wiring.hook_command:
            hook = policy_hooks.options(line, wiring.hook_command)
            check = policy_hooks.check(launch, line, hook, wiring.hook_command)
            options += hook
        elif wiring.holds:
            notes.append(_UNHELD_NOTE)
        ready = Launch(line.with_options(argv, options), launch.environ, launch.cwd)
        return PreparedAgent(ready, prompt or "", stdout=_watcher(line, launch), notes=tuple(notes), check=check,
                        in_launch=in_launch, by_input=line.by_input,
                        before_input=before_input)  # fmt: skip


class ExecWatcher:
    """Reads the events of `codex exec --json`."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._lines = Lines()
        self._open: dict[str, None] = {}  # ids of items that were told as begun
        self._complaints = 0

    def feed(self, piece: bytes) -> Iterable[Happening]:
        """What these bytes tell."""
        return [each for line in self._lines.feed(piece) for each in self._event(line)]

    def close(self) -> Iterable[Happening]:
        """What an unfinished line tells."""
        return [each for line in self._lines.close() for each in self._event(line)]

    def _event(self, line: bytes) -> Iterator[Happening]:
        event = value_of(line) or {}
        kind = text_in(event.get("type"))
        self._complaints = self._complaints + 1 if kind == "error" else 0
        if kind == "error" and self._complaints == _AWAY_AFTER:
            yield TurnEnded(False, f"Codex does not reach its model: {text_in(event.get('message'))}")
        elif kind in {"item.started", "item.updated", "item.completed"}:
            yield from self._item(table_in(event.get("item")), ended=kind == "item.completed")
        elif kind == "turn.completed":
            yield TurnEnded(True)
        elif kind == "turn.failed":
            yield TurnEnded(False, text_in(table_in(event.get("error")).get("message")))

    def _item(self, item: Value, *, ended: bool) -> Iterator[Happening]:
        if item.get("type") == "agent_message":
            if ended and (text := text_in(item.get("text"))):
                yield AgentMessage(text + "\n")
            return
        request = tool_of(item, self._cwd)
        if request is None:
            return
        if request.call_id not in self._open:
            if len(self._open) >= _OPEN_ITEMS:
                del self._open[next(iter(self._open))]
            self._open[request.call_id] = None
            yield ToolStarted(request)
        if ended:
            del self._open[request.call_id]
            yield ToolEnded(request.call_id, went_well(item))


def tool_of(item: Value, cwd: str) -> ToolRequest | None:
    """The tool that an item of Codex is about; it spells types as `one_word` here and `oneWord` there."""
    named: ToolContext = {"agent": AGENT, "call_id": text_in(item.get("id")), "cwd": text_in(item.get("cwd")) or cwd}
    match text_in(item.get("type")).lower().replace("_", ""):
        case "commandexecution":
            return request_of("Bash", {"command": item.get("command")}, **named)
        case "filechange":
            changes = [table_in(each) for each in list_in(item.get("changes"))]
            arguments = {"changes": [{"path": each.get("path"), "kind": each.get("kind")} for each in changes]}
            return request_of("apply_patch", arguments, risk=Risk.WRITE, **named)
        case "mcptoolcall":
            server, tool = text_in(item.get("server")), text_in(item.get("tool"))
            return request_of(f"mcp__{server}__{tool}", item.get("arguments"), server=server, **named)
        case "websearch":
            return request_of("web_search", {"query": item.get("query")}, risk=Risk.NETWORK, **named)
        case "dynamictoolcall" | "collabtoolcall" | "collabagenttoolcall":
            return request_of(text_in(item.get("tool")) or "tool", item.get("arguments"), **named)
    return None


def went_well(item: Value) -> bool:
    """Whether a tool did what it should."""
    exit_code = item.get("exit_code", item.get("exitCode"))
    return item.get("status") in ("completed", None) and exit_code in (0, None) and not item.get("error")


def _watcher(line: CommandLine, launch: Launch) -> OutputWatcher | None:
    if line.subcommand == "exec" and line.scanned.has("--json", "--experimental-json"):
        return ExecWatcher(line.scanned.value("-C", "--cd") or launch.cwd)
    return None  # words for people, or a screen
