"""Which call a hook was asked about is which call that the agent's output tells of.

Codex numbers calls for its hooks (`call_…`) and, in the output of `codex exec`, for whoever reads it (`item_…`), and
says nowhere which belongs to which. A call that begins is the oldest one that was let through for the same thing.
"""

from __future__ import annotations

import shlex
import threading
from collections import OrderedDict
from dataclasses import replace

from codexmem.codecli.agents.protocol import AgentMessage, Happening, ToolEnded, ToolStarted
from codexmem.kernel.model.tool_access import ToolRequest

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
