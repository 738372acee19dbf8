"""Proving that an installation works: with the commands that stand in the agent's own files, not with those we meant.

A prompt is reported as the agent would report it, in an environment as bare as agents give, and looked for in the
server; then it is forgotten. The MCP server is started as the agent would start it and asked for its tools.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from codexmem.agents import PROMPT, InstallableAgent
from codexmem.agents.install.targets import McpServerEntry, UserHome
from codexmem.client import starting, transport
from codexmem.client.starting import ServerLocation
from codexmem.hook.surroundings import fresh_id
from codexmem.kernel.model.errors import CodexmemError

HOOK_S = 30.0
ARRIVES_WITHIN_S = 15.0
TOOLS_S = 60.0
PROJECT = "codexmem-installation-check"
TEXT = "codexmem checks whether this prompt arrives."
_BARE_PATH = "/usr/local/bin:/usr/bin:/bin"
_HANDED_ON = ("HOME", "USER", "LOGNAME", "LANG", "SHELL", "TMPDIR", "SYSTEMROOT")
_ASKS_S = 10.0

Name = Literal["entries", "switches", "trust", "server", "hook", "tools"]


@dataclass(frozen=True, slots=True)
class ProofStep:
    """One step: whether it went well, and if not what is wrong. `problem` is a word for it, empty if nothing is."""

    name: Name
    problem: str = ""
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problem


def prove(agent: InstallableAgent, person: UserHome, place: ServerLocation) -> list[ProofStep]:
    """Every step, each also where an earlier one failed, unless it cannot be tried then."""
    command, server = agent.hook(person, PROMPT), agent.server(person)
    checks = [_entries(agent, person, command, server), _switches(agent, person)]
    if agent.trusts_hooks:
        checks.append(_trust(agent, person))
    reached = _server(place)
    checks.append(reached)
    if command and reached.ok:
        checks.append(fire(agent, command, person, place))
    if server is not None and reached.ok:
        checks.append(_tools(server, person))
    return checks


def is_recording(checks: list[ProofStep]) -> bool:
    """Whether the agent's sessions are remembered; tools are another matter."""
    return all(check.ok for check in checks if check.name != "tools")


def _entries(agent: InstallableAgent, person: UserHome, command: str, server: McpServerEntry | None) -> ProofStep:
    for path, problem in agent.unread(person):
        return ProofStep("entries", "unread", {"agent": agent.title, "path": path, "problem": problem})
    return ProofStep("entries", "" if command and server else "unregistered")


def _switches(agent: InstallableAgent, person: UserHome) -> ProofStep:
    found = agent.obstacles(person)
    return ProofStep("switches", "switched_off", {"setting": "; ".join(found)}) if found else ProofStep("switches")


def _trust(agent: InstallableAgent, person: UserHome) -> ProofStep:
    untrusted = agent.untrusted(person)
    if untrusted is None:
        return ProofStep("trust", "trust_unknown")
    return ProofStep("trust", "untrusted", {"count": len(untrusted)}) if untrusted else ProofStep("trust")


def _server(place: ServerLocation) -> ProofStep:
    try:
        starting.ensure(place)
        starting.headers(place)  # refuses where the key would travel in the clear
    except CodexmemError as error:
        return ProofStep("server", "server_away", {"problem": error.message})
    return ProofStep("server")


def fire(agent: InstallableAgent, command: str, person: UserHome, place: ServerLocation) -> ProofStep:
    """Report a prompt by this command, look for it in the server that runs at the place, and forget it there."""
    session = f"codexmem-installation-{fresh_id()}"
    alone = {} if place.may_start else {"CODEXMEM_AUTOSTART": "0"}
    with tempfile.TemporaryDirectory(prefix="codexmem-") as folder:
        cwd = Path(folder) / PROJECT
        cwd.mkdir()
        payload = json.dumps(agent.payload(session, TEXT, str(cwd))).encode()
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", command], input=payload, env={**_bare(person), **alone}, cwd=cwd,
                capture_output=True, check=False, timeout=HOOK_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ProofStep("hook", "hook_slow", {"command": command, "seconds": int(HOOK_S)})
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-300:]
        return ProofStep("hook", "hook_failed", {"command": command, "code": done.returncode, "said": said or "-"})
    arrived = _waited(lambda: _has_arrived(place, session))
    _forget(place, {"session": session})
    return ProofStep("hook") if arrived else ProofStep("hook", "lost", {"seconds": int(ARRIVES_WITHIN_S)})


def _waited(asked: Callable[[], bool]) -> bool:
    until = time.monotonic() + ARRIVES_WITHIN_S
    while not (found := asked()) and time.monotonic() < until:
        time.sleep(0.1)
    return found


def _has_arrived(place: ServerLocation, session: str) -> bool:
    return bool(_forget(place, {"session": session, "preview": True}).get("found"))


def _forget(place: ServerLocation, wanted: Mapping[str, object]) -> dict[str, object]:
    """What the server says of it; nothing if it does not answer or refuses."""
    try:
        reply = transport.ask(
            starting.address(place), "POST", "/api/forget", transport.encoded(wanted), starting.headers(place),
            timeout_s=_ASKS_S,
        )  # fmt: skip
        return reply.document() if reply.status == 200 else {}
    except (OSError, ValueError):
        return {}


def _tools(server: McpServerEntry, person: UserHome) -> ProofStep:
    program = server.command[0]
    if shutil.which(program, path=person.environ.get("PATH", "")) is None:
        return ProofStep("tools", "no_program", {"command": program})
    try:
        names = _listed(server, person)
    except Exception as error:  # whatever a program that is not ours any more may do
        return ProofStep("tools", "no_tools", {"command": " ".join(server.command), "problem": _words(error)})
    if "search" not in names:
        return ProofStep("tools", "no_tools", {"command": " ".join(server.command), "problem": "no search"})
    return ProofStep("tools", values={"count": len(names)})


def _listed(server: McpServerEntry, person: UserHome) -> list[str]:
    """The names of its tools, by the client of the protocol's own makers."""
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program, *words = server.command
    started = StdioServerParameters(command=program, args=words, env={**_bare(person), **server.environ})

    async def ask() -> list[str]:
        with anyio.fail_after(TOOLS_S), Path(os.devnull).open("w", encoding="utf-8") as silence:
            async with stdio_client(started, errlog=silence) as streams, ClientSession(*streams) as session:
                await session.initialize()
                names = [tool.name for tool in (await session.list_tools()).tools]
                # The bridge lists tools without a server, and answers calls only with one.
                if (called := await session.call_tool("__IMPORTANT", {})).is_error:
                    raise RuntimeError(getattr(called.content[0], "text", "no answer"))
                return names

    return anyio.run(ask)


def _bare(person: UserHome) -> dict[str, str]:
    """What an agent that was started from a menu hands on."""
    kept = {name: person.environ[name] for name in _HANDED_ON if name in person.environ}
    return {**kept, "HOME": str(person.home), "PATH": _BARE_PATH}


def _words(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
