"""What an agent says of a tool call, as a request that policy can judge.

Agents name the same things differently; here command, files and addresses are picked out of a call's arguments by the
names that agents use for them. Nothing is made canonical and nothing is left out: that is policy's part.

Tool calls between their announcement and their end, for protocols that announce a call before they ask about it.

A call that was announced is not a tool at work: it may still be refused, here or by a hook. So it is told of when it
was let through, or, if nobody asked, with its end; one that was refused is told of as refused and as nothing else.
"""

from __future__ import annotations

import re
import shlex
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, TypedDict

from codexmem.codecli.agents.json_lines import text_in
from codexmem.codecli.agents.protocol import Happening, ToolDecided, ToolEnded, ToolStarted
from codexmem.kernel.model.tool_access import Risk, ToolDecision, ToolRequest, Verdict

_COMMANDS = {"command", "cmd", "script", "shell_command"}
_PATHS = {
    *("path", "paths", "file", "files", "file_path", "filePath", "file_paths", "filename", "notebook_path"),
    *("absolute_path", "dir_path", "directory", "dir", "folder", "target_file", "old_path", "new_path", "source_path"),
    *("destination", "workdir", "cwd"),
}
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s\"'<>`]+")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_PATCH_BEGINS = "*** Begin Patch"


class ToolContext(TypedDict):
    """What an adapter knows of a call besides its tool and arguments."""

    agent: str
    call_id: str
    cwd: str


def request_of(
    tool: str,
    arguments: Any,
    *,
    agent: str,
    call_id: str = "",
    cwd: str = "",
    server: str = "",
    risk: Risk | None = None,
    from_text: bool = False,
    also_paths: tuple[str, ...] = (),
) -> ToolRequest:
    """The request for a call of `tool` with these arguments, a JSON value."""
    commands: list[str] = []
    paths, urls = list(also_paths), list[str]()
    for name, value in _named_texts(arguments):
        if name in _COMMANDS and value.lstrip().startswith(_PATCH_BEGINS):
            paths += _PATCHED.findall(value)
        elif name in _COMMANDS:
            commands.append(value)
        elif name in _PATHS and "://" not in value:
            paths.append(value)
        elif value.startswith(_PATCH_BEGINS):
            paths += _PATCHED.findall(value)
        urls += _URL.findall(value)
    named = tool.split("__")
    if not server and len(named) > 2 and named[0] == "mcp":
        server = named[1]
    return ToolRequest(
        tool=tool, server=server, risk=risk, command="\n".join(commands), paths=tuple(dict.fromkeys(paths)),
        urls=tuple(dict.fromkeys(urls)), arguments=arguments, cwd=cwd, call_id=call_id, agent=agent,
        from_text=from_text,
    )  # fmt: skip


def _named_texts(arguments: Any) -> Iterator[tuple[str, str]]:
    """Every text among the arguments, with the name that it, or the list it stands in, has."""
    waiting: list[tuple[str, Any]] = [("", arguments)]
    while waiting:
        name, value = waiting.pop()
        match value:
            case dict():
                waiting += [(str(key), each) for key, each in reversed(value.items())]
            case list() if name in _COMMANDS and value and all(isinstance(each, str) for each in value):
                yield name, text_in(shlex.join(value))
            case list():
                waiting += [(name, each) for each in reversed(value)]
            case str():
                yield name, text_in(value)


_KEPT = 1_000


class Calls:
    """The calls of one conversation. Bounded."""

    def __init__(self) -> None:
        self._announced: OrderedDict[str, ToolRequest] = OrderedDict()
        self._refused: OrderedDict[str, None] = OrderedDict()

    def announced(self, request: ToolRequest) -> None:
        """The agent wants to use a tool."""
        self._announced[request.call_id] = request
        if len(self._announced) > _KEPT:
            self._announced.popitem(last=False)

    def awaits(self, call_id: str) -> bool:
        """Whether it was announced, and nothing more is known."""
        return call_id in self._announced

    def decided(self, request: ToolRequest, decision: ToolDecision) -> tuple[Happening, ...]:
        """What is to be told of a decision."""
        self._announced.pop(request.call_id, None)
        if decision.verdict is Verdict.ALLOW:
            # A question says more than an announcement.
            return ToolDecided(request, decision), ToolStarted(request)
        self._refused[request.call_id] = None
        if len(self._refused) > _KEPT:
            self._refused.popitem(last=False)
        return (ToolDecided(request, decision),)

    def ended(self, call_id: str, ok: bool, took_ms: int | None = None) -> tuple[Happening, ...]:
        """What is to be told of an end."""
        if call_id in self._refused:
            del self._refused[call_id]
            return ()
        begun = self._announced.pop(call_id, None)
        end = ToolEnded(call_id, ok, took_ms)
        return (end,) if begun is None else (ToolStarted(begun), end)

    def dropped(self, call_id: str) -> None:
        """It came to nothing, and nothing is to be told."""
        self._announced.pop(call_id, None)
        self._refused.pop(call_id, None)

    def left(self) -> tuple[Happening, ...]:
        """What is still at work when a turn is over."""
        found = tuple(ToolStarted(request) for request in self._announced.values())
        self._announced.clear()
        self._refused.clear()
        return found
