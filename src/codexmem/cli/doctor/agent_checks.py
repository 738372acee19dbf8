"""The checks of `doctor` about agents: what stands in their files, read from the disk; no agent is started.

That an event really arrives is for `doctor --canary` and `install` to prove.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem.cli.doctor.finding import Finding
from codexmem.cli.install.installed import installer_of, person

if TYPE_CHECKING:
    from codexmem.clients.install.agent import Agent, Person
    from codexmem.settings import Settings


def agents(settings: Settings, *, served: bool) -> Iterator[Finding]:
    """Every agent that is here or that we were installed into: whether it is set up to record, or all that is wrong."""
    from codexmem.clients.install.agent import found
    from codexmem.clients.install.agents.table import AGENTS

    whose, installed = person(), installer_of(settings).receipts.agents()
    here = [agent for agent in AGENTS if agent.name in installed or found(agent, whose)]
    if not here:
        yield Finding("agents", "ok", "doctor.agents_none")
    for agent in here:
        problems = list(_problems(agent, whose, installed=agent.name in installed))
        if not problems and not served and not settings.autostart:
            problems.append(Finding(_check(agent), "warning", "doctor.agent_waits", _named(agent)))
        yield from problems or [Finding(_check(agent), "ok", "doctor.agent", _named(agent))]


def hooked(whose: Person) -> list[tuple[Agent, str]]:
    """The agents whose files name our hook for prompts, and the command there."""
    from codexmem.clients.install.agent import PROMPT
    from codexmem.clients.install.agents.table import AGENTS

    found = [(agent, agent.hook(whose, PROMPT)) for agent in AGENTS]
    return [(agent, command) for agent, command in found if command]


def _problems(agent: Agent, whose: Person, *, installed: bool) -> Iterator[Finding]:
    from codexmem.clients.install.agent import CONTEXT, END, PROMPT, STOP, TOOL
    from codexmem.clients.install.agents.codex import Codex

    check, named = _check(agent), _named(agent)
    commands = {event: agent.hook(whose, event) for event in (CONTEXT, PROMPT, TOOL, STOP, END)}
    server = agent.server(whose)
    if not any(commands.values()) and server is None:
        if installed:
            yield Finding(check, "failure", "doctor.agent_lost", named)
        else:
            yield Finding(check, "skipped", "doctor.agent_new", named)
        return
    lacking = [event for event, command in commands.items() if not command]
    gone = {program for command in commands.values() if command and (program := _missing(command, whose))}
    if lacking:
        yield Finding(check, "failure", "doctor.agent_part", named | {"events": ", ".join(lacking)})
    if gone:
        yield Finding(check, "failure", "doctor.agent_moved", named | {"program": ", ".join(sorted(gone))})
    if isinstance(agent, Codex) and (count := agent.unmarked(whose)):
        yield Finding(check, "failure", "doctor.agent_untrusted", named | {"count": count})
    if switches := agent.obstacles(whose):
        # A person has said so, which may be meant.
        yield Finding(check, "warning", "doctor.agent_off", named | {"setting": "; ".join(switches)})
    if server is None or _missing(shlex.join(server.command), whose):
        yield Finding(check, "warning", "doctor.agent_tools", named)


def _missing(command: str, whose: Person) -> str:
    """The program that a command names, if it is not there."""
    words = shlex.split(command)
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if "=" not in word]
    if not words:
        return command
    if Path(words[0]).is_absolute():
        return "" if Path(words[0]).is_file() else words[0]
    return "" if shutil.which(words[0], path=whose.environ.get("PATH", "")) else words[0]


def _check(agent: Agent) -> str:
    return f"agent:{agent.name}"


def _named(agent: Agent) -> dict[str, str]:
    return {"agent": agent.title, "name": agent.name}
