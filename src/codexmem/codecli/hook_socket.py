"""Where the policy hooks of an agent are answered: a socket in a folder that only this user can enter.

Lives as long as a run. Each hook is a process of the agent's that connects, says what tool is wanted and waits; several
may wait at once, one for each tool that the agent wants at the same time. Whatever goes wrong is a refusal.

Which call a hook was asked about is which call that the agent's output tells of.

Codex numbers calls for its hooks (`call_…`) and, in the output of `codex exec`, for whoever reads it (`item_…`), and
says nowhere which belongs to which. A call that begins is the oldest one that was let through for the same thing.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from codexmem.codecli.agents.json_lines import table_in, text_in, value_of
from codexmem.codecli.agents.protocol import AgentMessage, Decide, Happening, ToolEnded, ToolStarted
from codexmem.codecli.agents.requests import request_of
from codexmem.codecli.policy_hook import INPUT_BYTES
from codexmem.kernel.model.tool_access import ToolDecision, ToolRequest, Verdict

_KEPT = 1_000
_SHELLS = {"sh", "bash", "zsh", "dash", "ksh"}
_RUNS = {"-c", "-lc", "-ic"}


class Matching:
    """Remembers what was decided and renames what happens; any thread may use it. Bounded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, ToolRequest] = OrderedDict()  # let through, not seen at work yet
        self._names: OrderedDict[str, str] = OrderedDict()  # the output's id → the hook's
        self._refused: OrderedDict[str, None] = OrderedDict()

    def allowed(self, request: ToolRequest) -> None:
        """A hook's request was let through."""
        if request.call_id:
            with self._lock:
                self._waiting[request.call_id] = request
                _bound(self._waiting)

    def refused(self, request: ToolRequest) -> None:
        """A hook's request was refused."""
        if request.call_id:
            with self._lock:
                self._refused[request.call_id] = None
                _bound(self._refused)

    def of(self, happening: Happening) -> Happening:
        """The happening, under the id by which its call was decided; nothing said, for a call that was refused."""
        with self._lock:
            match happening:
                case ToolStarted(ToolRequest(call_id=key)) | ToolEnded(key) if key in self._refused:
                    # The agent tells of it as of a tool that failed, but it never began.
                    return AgentMessage("")
                case ToolStarted(request) if request.call_id:
                    return ToolStarted(replace(request, call_id=self._begun(request)))
                case ToolEnded(call_id):
                    return replace(happening, call_id=self._names.pop(call_id, call_id))
        return happening

    def _begun(self, request: ToolRequest) -> str:
        if request.call_id in self._waiting:
            del self._waiting[request.call_id]
            return request.call_id
        found = next((key for key, each in self._waiting.items() if _same(each, request)), None)
        if found is None:
            return request.call_id
        del self._waiting[found]
        self._names[request.call_id] = found
        _bound(self._names)
        return found


def _same(decided: ToolRequest, seen: ToolRequest) -> bool:
    if decided.agent != seen.agent:
        return False
    if decided.command or seen.command:
        return _inner(decided.command) == _inner(seen.command)
    if decided.tool == seen.tool == "apply_patch":
        # One names files as the patch does, the other from the root.
        ends = sorted(path.rsplit("/", 1)[-1] for path in decided.paths)
        return ends == sorted(path.rsplit("/", 1)[-1] for path in seen.paths)
    return decided.tool == seen.tool and decided.server == seen.server


def _inner(command: str) -> str:
    """What a shell is asked to run: the output tells of it with the shell around. No way to judge a command by."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command.strip()
    if len(words) == 3 and words[0].rsplit("/", 1)[-1] in _SHELLS and words[1] in _RUNS:
        return words[2].strip()
    return command.strip()


def _bound(kept: OrderedDict[str, str] | OrderedDict[str, ToolRequest] | OrderedDict[str, None]) -> None:
    while len(kept) > _KEPT:
        kept.popitem(last=False)


_MODULE = "codexmem.codecli.policy_hook"
_AT_ONCE = 64
_READ_S = 30.0  # for a hook to say what it wants
_SHORT = 90  # a socket's path may have about a hundred bytes
_GEMINI = "BeforeTool"
_UNREAD = ToolDecision(Verdict.DENY, "The agent's event could not be read, so the tool is refused.")
_BROKEN = ToolDecision(Verdict.DENY, "The policy could not be applied, so the tool is refused.")
_NOBODY = ToolDecision(Verdict.DENY, "Nobody decides about tools yet, so this one is refused.")


class HookSocket:
    """The wrapper's end of the socket."""

    def __init__(self, folder: Path, decide: Decide | None) -> None:
        self._folder = folder
        self._decide = decide
        self.matching = Matching()  # what happens is to be looked up here, to know what was decided about it
        self._places = threading.Semaphore(_AT_ONCE)
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = folder / "socket"
        self._listening.bind(str(path))
        path.chmod(0o600)
        self._listening.listen(_AT_ONCE)
        # Neither the folder that the agent works in nor its environment may say what Python loads.
        self.command: tuple[str, ...] = (sys.executable, "-E", "-P", "-m", _MODULE, str(path))
        self._thread = threading.Thread(target=self._serve, name="hook-socket", daemon=True)
        self._thread.start()

    def decides(self, decide: Decide) -> None:
        """Who decides from now on; before, everything is refused."""
        self._decide = decide

    def keep(self, name: str, text: str) -> str:
        """Write a file where only this user can read it, for as long as the run lasts; returns its path."""
        path = self._folder / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        return str(path)

    def close(self) -> None:
        """Answer nobody any more. A hook that still waits learns that we are gone."""
        with contextlib.suppress(OSError):
            # Closing alone would not wake a thread that waits for the next one.
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(1.0)

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return
            self._places.acquire()
            threading.Thread(target=self._answer, args=(caller,), name="hook", daemon=True).start()

    def _answer(self, caller: socket.socket) -> None:
        try:
            with caller, contextlib.suppress(OSError):
                caller.settimeout(_READ_S)
                agent, _, event = _read(caller).partition(b"\n")
                payload = value_of(event)
                decision = self._decided(agent.decode("utf-8", "replace"), payload)
                caller.sendall(answer_of(payload or {}, decision).encode() + b"\0")
        finally:
            self._places.release()

    def _decided(self, agent: str, payload: dict[str, object] | None) -> ToolDecision:
        request = request_in(agent, payload) if payload is not None else None
        if request is None:
            return _UNREAD
        try:
            decision = self._decide(request) if self._decide is not None else _NOBODY
        except Exception:  # whatever went wrong, nothing passes by it
            decision = _BROKEN
        if decision.verdict is Verdict.ALLOW:
            self.matching.allowed(request)
        else:
            self.matching.refused(request)
        return decision


@contextlib.contextmanager
def open_hook_socket(decide: Decide | None = None) -> Iterator[HookSocket]:
    """An interface for one run; it and its folder are gone afterwards."""
    base = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="mem-codecli-", dir=base if len(base) < _SHORT - 30 else "/tmp"))  # noqa: S108
    try:
        hook_socket = HookSocket(folder, decide)
        try:
            yield hook_socket
        finally:
            hook_socket.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def request_in(agent: str, payload: Mapping[str, object]) -> ToolRequest | None:
    """The request that a hook's event is about, in the dialects of Claude Code, Codex, Qwen Code and Gemini CLI."""
    tool = text_in(payload.get("tool_name"))
    if not tool:
        return None
    # Qwen gives a call one id for hooks and another one everywhere else.
    call_id = text_in(payload.get("tool_call_id")) or text_in(payload.get("tool_use_id"))
    context = table_in(payload.get("mcp_context"))
    return request_of(tool, payload.get("tool_input"), agent=agent, call_id=call_id, cwd=text_in(payload.get("cwd")),
                      server=text_in(context.get("server_name")))  # fmt: skip


def answer_of(payload: Mapping[str, object], decision: ToolDecision) -> str:
    """What the hook prints: a refusal with its reason, or nothing. Codex ignores a plain permission."""
    if decision.verdict is Verdict.ALLOW:
        return ""
    event = text_in(payload.get("hook_event_name")) or "PreToolUse"
    if event == _GEMINI:
        return json.dumps({"decision": "deny", "reason": decision.reason})
    said = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": decision.reason}
    return json.dumps({"hookSpecificOutput": said})


def _read(caller: socket.socket) -> bytes:
    said = bytearray()
    while len(said) <= INPUT_BYTES and (piece := caller.recv(1 << 16)):
        said += piece
    return bytes(said)
