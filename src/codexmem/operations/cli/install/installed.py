"""What `init`, `install` and `uninstall` share: whose files, which agents, where the server is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.hook.surroundings import environment
from codexmem.settings import PREFIX, Settings

if TYPE_CHECKING:
    from codexmem.agents import InstallableAgent
    from codexmem.agents.install.commands import ProgramCommands
    from codexmem.agents.install.installing import Installer
    from codexmem.agents.install.targets import UserHome

_FOR_THIS_CALL = ("flag", "environment")


def person() -> UserHome:
    """Whoever runs the command."""
    from codexmem.agents.install.targets import UserHome

    return UserHome(Path.home(), dict(environment()))


def commands_of(settings: Settings, tools: str = "memory") -> ProgramCommands:
    """Our programs, told what an agent's environment would not tell them."""
    from codexmem.agents.install.commands import find

    given = {
        f"{PREFIX}{name.upper()}": str(getattr(settings, name))
        for name in ("url", "port")
        if settings.origins[name].startswith(_FOR_THIS_CALL) and getattr(settings, name)
    }
    return find(environment(), settings.data_dir, given, toolset="" if tools == "all" else "recall")


def installer_of(settings: Settings, tools: str = "memory") -> Installer:
    """What installs for this person."""
    from codexmem.agents.install.installing import Installer

    return Installer(person(), commands_of(settings, tools), settings.data_dir)


def named(names: Sequence[str]) -> list[InstallableAgent]:
    """The agents of these names, each once."""
    from codexmem.agents import ALIASES, installable

    known = installable()
    found: dict[str, InstallableAgent] = {}
    for given in names:
        name = ALIASES.get(given.lower(), given.lower())
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, [*known, *ALIASES], n=1)
            hint = say("usage.did_you_mean", name=near[0]) if near else say("install.known", names=", ".join(known))
            raise UsageProblem(say("install.no_agent", name=given[:40]), hint=hint)
        found[name] = known[name]
    return list(found.values())


def detected() -> list[InstallableAgent]:
    """The agents that are on this machine."""
    from codexmem.agents import installable

    whose = person()
    return [agent for agent in installable().values() if agent.found(whose)]


def see_help() -> str:
    """Where to read more about the running command."""
    return say("usage.see_help", command=click.get_current_context().command_path)
