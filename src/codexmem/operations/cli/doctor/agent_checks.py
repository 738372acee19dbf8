"""The checks of `doctor` about agents: what stands in their files, read from the disk; no agent is started.

That an event really arrives is for `doctor --canary` and `install` to prove.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codexmem.operations.cli.doctor.finding import Finding
from codexmem.operations.cli.install.installed import installer_of, person

if TYPE_CHECKING:
    from codexmem.agents import InstallableAgent
    from codexmem.agents.install.targets import UserHome
    from codexmem.settings import Settings


def agents(settings: Settings, *, served: bool) -> Iterator[Finding]:
    """Every agent that is here or that we were installed into: whether it is set up to record, or all that is wrong."""
    from codexmem.agents import installable

    whose, installed = person(), installer_of(settings).receipts.agents()
    here = [agent for agent in installable().values() if agent.name in installed or agent.found(whose)]
    if not here:
        yield Finding("agents", "ok", "doctor.agents_none")
    for agent in here:
        problems = list(_problems(agent, whose, installed=agent.name in installed))
        if not problems and not served and not settings.autostart:
            problems.append(Finding(_check(agent), "warning", "doctor.agent_waits", _named(agent)))
        yield from problems or [Finding(_check(agent), "ok", "doctor.agent", _named(agent))]


def hooked(whose: UserHome) -> list[tuple[InstallableAgent, str]]:
    """The agents whose files name our hook for prompts, and the command there."""
    from codexmem.agents import PROMPT, installable

    found = [(agent, agent.hook(whose, PROMPT)) for agent in installable().values()]
    return [(agent, command) for agent, command in found if command]


def _problems(agent: InstallableAgent, whose: UserHome, *, installed: bool) -> Iterator[Finding]:
    from codexmem.agents import CONTEXT, END, PROMPT, STOP, TOOL

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
    if count := agent.unmarked(whose):
        yield Finding(check, "failure", "doctor.agent_untrusted", named | {"count": count})
    if switches := agent.obstacles(whose):
        # A person has said so, which may be meant.
        yield Finding(check, "warning", "doctor.agent_off", named | {"setting": "; ".join(switches)})
    if server is None or _missing(shlex.join(server.command), whose):
        yield Finding(check, "warning", "doctor.agent_tools", named)


def _missing(command: str, whose: UserHome) -> str:
    """The program that a command names, if it is not there."""
    words = shlex.split(command)
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if "=" not in word]
    if not words:
        return command
    if Path(words[0]).is_absolute():
        return "" if Path(words[0]).is_file() else words[0]
    return "" if shutil.which(words[0], path=whose.environ.get("PATH", "")) else words[0]


def _check(agent: InstallableAgent) -> str:
    return f"agent:{agent.name}"


def _named(agent: InstallableAgent) -> dict[str, str]:
    return {"agent": agent.title, "name": agent.name}
