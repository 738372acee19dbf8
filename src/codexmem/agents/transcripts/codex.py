"""Codex: a file of JSON lines for each conversation, in folders by day, and in another folder once it is archived.

Every line has a time, a type and a payload; the oldest versions wrote payloads alone. What happened is told twice: as
items of the model's conversation (`response_item`) and as events (`event_msg`), which know more about a call and come
first. In code mode the model writes a program, and only events tell what its calls were. A sub-agent has a file of its
own, which the answer to the call that began it names.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from codexmem.agents import text_in
from codexmem.agents.codex import AGENT, BLOCKED, UNFIT, refused
from codexmem.agents.transcripts import turns
from codexmem.agents.transcripts.files import (
    files,
    folder_of,
    head,
    items,
    loaded,
    opened,
    reading,
    records,
    stamped,
    table,
    text,
    time_ms,
)
from codexmem.agents.transcripts.model import TranscriptFile, TranscriptFlaws, TranscriptTurn
from codexmem.agents.transcripts.turns import TurnBuilder

_NAME = re.compile(r"rollout-.*?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl")
_DEPTH = 3  # year, month, day
_DEEPEST = 4  # sub-agents of sub-agents
_SHELLS = frozenset({"shell", "shell_command", "exec_command", "container.exec", "local_shell", "local_shell_call"})
# Calls that steer the conversation; of code mode and of running commands the events tell.
_STEERING = frozenset({"write_stdin", "update_plan", "request_user_input", "wait", "exec", "tool_search"})
_RUNS_ON = "Process running with session ID"
_OUTPUT = "\nOutput:\n"
_ENDS = frozenset({"task_complete", "turn_complete", "turn_aborted"})


class CodexTranscripts:
    """Codex keeps what it calls rollouts."""

    program = AGENT.name

    def find(self, home: Path, environ: Mapping[str, str], checkouts: Sequence[Path]) -> Iterator[TranscriptFile]:
        """Conversations with people; what sub-agents were told is left out."""
        folder = folder_of(home, environ, "CODEX_HOME", ".codex")
        for part, depth in (("sessions", _DEPTH), ("archived_sessions", _DEPTH)):
            for path in files(folder / part, ".jsonl", depth=depth):
                if (named := _NAME.fullmatch(path.name)) and (found := _described(path, named.group(1))):
                    yield found

    def turns(self, file: TranscriptFile, flaws: TranscriptFlaws | None = None) -> Iterator[TranscriptTurn]:
        """The turns of one file."""
        flaws = flaws if flaws is not None else TranscriptFlaws()
        reader = _Rollout(TurnBuilder(AGENT, flaws, once=True), file.path, flaws)
        with reading(file.path) as source:
            for record in records(source, flaws):
                if turn := reader.read(record):
                    yield turn
        if turn := reader.last():
            yield turn


def _described(path: Path, named: str) -> TranscriptFile | None:
    """From its first line, which may be missing or too long."""
    first = next(head(path), {})
    about = table(first, "payload") or first
    if "subagent" in table(about, "source") or about.get("thread_source") == "subagent":
        return None
    changed, size = stamped(path)
    session = text(about.get("session_id")) or text(about.get("id")) or named
    started = time_ms(about.get("timestamp")) or time_ms(first.get("timestamp"))
    return TranscriptFile(AGENT.name, path, session, text(about.get("cwd")), started, changed, size)


class _Rollout:
    """One file, record by record; a sub-agent's as a part of the turn in which it was sent."""

    def __init__(self, turn: TurnBuilder, path: Path, flaws: TranscriptFlaws, *agents: str) -> None:
        self._turn = turn
        self._path = path
        self._flaws = flaws
        self._agents = agents  # whose file it is, and those who sent it
        self._agent = agents[-1] if agents else ""
        self._left: dict[str, dict[str, object]] = {}  # answers of commands that were still running

    def read(self, record: dict[str, object]) -> TranscriptTurn | None:
        """The turn that ends with this record, if one does."""
        at_ms = time_ms(record.get("timestamp"))
        payload = record.get("payload")
        if not isinstance(payload, dict):
            return self._item(record, at_ms)
        match record.get("type"):
            case "response_item":
                return self._item(payload, at_ms)
            case "event_msg":
                return self._event(payload, at_ms)
        return None

    def last(self) -> TranscriptTurn | None:
        """What the file ends with."""
        self._settle()
        return self._turn.end()

    def _say(self, said: str, at_ms: int) -> None:
        if not self._agent:
            self._turn.say(said, at_ms)

    def _begin(self, said: str, at_ms: int) -> TranscriptTurn | None:
        """A prompt; one that is told twice begins one turn."""
        prompt = "" if self._agent else turns.prompt_in(said)
        if not prompt or (self._turn.prompt == prompt and self._turn.idle and not self._turn.ended):
            return None
        self._settle()
        return self._turn.begin(prompt, at_ms)

    def _item(self, item: dict[str, object], at_ms: int) -> TranscriptTurn | None:
        call = text(item.get("call_id")) or text(item.get("id"))
        match item.get("type"):
            case "message" if item.get("role") == "user":
                return self._begin(_typed(item), at_ms)
            case "message" if item.get("role") == "assistant":
                self._say(text_in(item.get("content")), at_ms)
            case "function_call":
                given = loaded(text(item.get("arguments")))
                self._call(call, item, given if given is not None else item.get("arguments"), at_ms)
            case "custom_tool_call":
                self._call(call, item, {"command": item.get("input")}, at_ms)
            case "local_shell_call":
                self._call(call, {"name": "local_shell"}, table(item, "action"), at_ms)
            case "function_call_output" | "custom_tool_call_output":
                self._answer(call, item.get("output"), at_ms)
        return None

    def _call(self, call: str, item: dict[str, object], given: Any, at_ms: int) -> None:
        name, space = text(item.get("name")), text(item.get("namespace"))
        if name in _SHELLS:
            fields = given if isinstance(given, dict) else {}
            self._turn.call(call, "Bash", {"command": _command(fields.get("cmd", fields.get("command")))}, at_ms)
        elif name and name not in _STEERING:
            self._turn.call(call, f"{space}__{name}" if space.startswith("mcp__") else name, given, at_ms)

    def _answer(self, call: str, output: Any, at_ms: int) -> None:
        waits = self._turn.waiting(call)
        if waits is None:
            return
        told = text_in(output) if not isinstance(output, str) else output
        if told.startswith(BLOCKED):
            self._turn.answer(call, {"tool_response": refused(told)}, at_ms, self._agent)
        elif waits[0] == "apply_patch" and told.startswith(UNFIT):
            self._turn.answer(call, {"tool_response": {"output": told, "success": False}}, at_ms, self._agent)
        elif waits[0] != "Bash":
            self._turn.answer(call, {"tool_response": told}, at_ms, self._agent)
            if waits[0] == "spawn_agent":
                self._delegated(text(table(loaded(told)).get("agent_id")))
        elif _RUNS_ON in told[:2000]:
            self._left[call] = {"tool_response": told.partition(_OUTPUT)[2]}
        else:
            self._turn.answer(call, {"tool_response": _shell_answer(told)}, at_ms, self._agent)

    def _settle(self) -> None:
        """Commands that nobody saw the end of have said something all the same."""
        for call, told in self._left.items():
            self._turn.answer(call, told, 0, self._agent)
        self._left.clear()

    def _delegated(self, agent: str) -> None:
        """What a sub-agent did, from its own file beside this one."""
        if not agent or agent in self._agents or len(self._agents) >= _DEEPEST:
            return
        beside = islice(files(self._path.parent, f"-{agent}.jsonl"), 1)
        with contextlib.suppress(OSError):
            for path in beside:
                reader = _Rollout(self._turn, path, self._flaws, *self._agents, agent)
                with opened(path) as source:
                    for record in records(source, self._flaws):
                        reader.read(record)

    def _event(self, event: dict[str, object], at_ms: int) -> TranscriptTurn | None:
        kind = text(event.get("type"))
        call = text(event.get("call_id"))
        match kind:
            case "user_message":
                return self._begin(text(event.get("message")), at_ms)
            case "agent_message":
                self._say(text(event.get("message")), at_ms)
            case "item_completed":
                return self._completed(table(event, "item"), time_ms(event.get("completed_at_ms")) or at_ms)
            case "exec_command_end":
                self._ran(call, event, at_ms)
            case "patch_apply_end":
                self._patched(call, event, at_ms)
            case "mcp_tool_call_end":
                result = table(event, "result")
                told = result.get("Ok", {"error": result.get("Err")} if "Err" in result else result)
                self._asked_server(call, table(event, "invocation"), told, at_ms)
        if kind in _ENDS:
            self._settle()
            self._say(text(event.get("last_agent_message")), at_ms)
            self._turn.ended = not self._agent
        return None

    def _completed(self, item: dict[str, object], at_ms: int) -> TranscriptTurn | None:
        call = text(item.get("id"))
        match item.get("type"):
            case "UserMessage":
                return self._begin(text_in(item.get("content")), at_ms)
            case "AgentMessage":
                self._say(text_in(item.get("content")), at_ms)
            case "CommandExecution":
                self._ran(call, item, at_ms)
            case "FileChange":
                self._patched(call, item, at_ms)
            case "McpToolCall":
                told = item.get("result")
                error = item.get("error")
                self._asked_server(call, item, {"error": error} if told is None and error else told, at_ms)
        return None

    def _ran(self, call: str, event: dict[str, object], at_ms: int) -> None:
        output = event.get("aggregated_output")
        if not isinstance(output, str):
            output = f"{text(event.get('stdout'))}{text(event.get('stderr'))}"
        declined = text(event.get("status")) == "declined"
        told = {"output": output, "declined": True} if declined else _with_code(output, event.get("exit_code"))
        given = {"command": _command(event.get("command"))}
        self._left.pop(call, None)
        self._use(call, "Bash", given, told, at_ms)

    def _patched(self, call: str, event: Mapping[str, object], at_ms: int) -> None:
        output = f"{text(event.get('stdout'))}{text(event.get('stderr'))}"
        failed = event.get("success") is False or text(event.get("status")) in {"failed", "declined"}
        if self._turn.waiting(call) and not failed:
            return  # the answer that follows is what hooks are told
        waits = self._turn.waiting(call)
        given = waits[1] if waits else {"command": _patch(event.get("changes"))}
        told: Any = {"output": output, "success": False} if failed else output
        if event.get("status") == "declined":
            told = {"output": output, "declined": True}
        self._turn.use(
            call, {"tool_name": "apply_patch", "tool_input": given, "tool_response": told}, at_ms, self._agent
        )

    def _asked_server(self, call: str, about: Mapping[str, object], told: Any, at_ms: int) -> None:
        name = f"mcp__{text(about.get('server'))}__{text(about.get('tool'))}"
        self._use(call, name, about.get("arguments"), told, at_ms)

    def _use(self, call: str, name: str, given: Any, response: Any, at_ms: int) -> None:
        told = {"tool_name": name, "tool_input": given, "tool_response": response}
        self._turn.use(call, told, at_ms, self._agent)


def _typed(item: Mapping[str, object]) -> str:
    """What a message under the person's name says that is theirs; newer versions tell the kind of each part."""
    parts = items(item.get("content"))
    kinds = items(table(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds"))
    if len(kinds) == len(parts):
        parts = [part for part, kind in zip(parts, kinds, strict=True) if str(kind).startswith(("user.", "unknown"))]
    return "\n".join(filter(None, (turns.prompt_in(text_in(part)) for part in parts)))


def _command(command: Any) -> str:
    """A command line as the model wrote it, not the shell around it."""
    if not isinstance(command, list):
        return text(command)
    typed = [str(word) for word in command]
    if len(typed) == 3 and typed[1] in {"-lc", "-c", "-Command"}:
        return typed[2]
    return shlex.join(typed)


def _shell_answer(told: str) -> Any:
    """What a command printed, from what the model was shown of it: a head with the exit code, or JSON."""
    fields = loaded(told) if told.startswith("{") else None
    if isinstance(fields, dict) and isinstance(fields.get("output"), str):
        return _with_code(fields["output"], table(fields, "metadata").get("exit_code"))
    top, found, output = told.partition(_OUTPUT)
    code = re.search(r"^(?:Process exited with code|Exit code:) (-?\d{1,5})$", top, re.MULTILINE) if found else None
    return _with_code(output, int(code.group(1))) if code else told


def _with_code(output: str, code: Any) -> Any:
    """As our hook reports it."""
    if isinstance(code, int) and not isinstance(code, bool):
        return {"output": output, "exit_code": code}
    return output


def _patch(changes: Any) -> str:
    """Changes of files in the form of a patch, as the model would have written it."""
    lines = ["*** Begin Patch"]
    for path, change in changes.items() if isinstance(changes, dict) else ():
        about = change if isinstance(change, dict) else {}
        match about.get("type"):
            case "add":
                lines += [f"*** Add File: {path}", *(f"+{line}" for line in text(about.get("content")).splitlines())]
            case "delete":
                lines.append(f"*** Delete File: {path}")
            case _:
                lines.append(f"*** Update File: {path}")
                if moved := text(about.get("move_path")):
                    lines.append(f"*** Move to: {moved}")
                diff = text(about.get("unified_diff")).splitlines()
                lines += [line for line in diff if not line.startswith(("--- ", "+++ ", "\\ No newline"))]
    return "\n".join([*lines, "*** End Patch"])
