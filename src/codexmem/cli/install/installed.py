"""What `init`, `install` and `uninstall` share: whose files, which agents, where the server is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codexmem.cli.messages import say
from codexmem.cli.output import UsageProblem
from codexmem.clients.hook.surroundings import environment
from codexmem.settings import PREFIX, Settings

if TYPE_CHECKING:
    from codexmem.clients.install.agent import Agent, Person
    from codexmem.clients.install.commands import Commands
    from codexmem.clients.install.installing import Installer

_FOR_THIS_CALL = ("flag", "environment")


def person() -> Person:
    """Whoever runs the command."""
    from codexmem.clients.install.agent import Person

    return Person(Path.home(), dict(environment()))


def commands_of(settings: Settings) -> Commands:
    """Our programs, told what an agent's environment would not tell them."""
    from codexmem.clients.install.commands import find

    given = {
        f"{PREFIX}{name.upper()}": str(getattr(settings, name))
        for name in ("url", "port")
        if settings.origins[name].startswith(_FOR_THIS_CALL) and getattr(settings, name)
    }
    return find(environment(), settings.data_dir, given)


def installer_of(settings: Settings) -> Installer:
    """What installs for this person."""
    from codexmem.clients.install.installing import Installer

    return Installer(person(), commands_of(settings), settings.data_dir)


def named(names: Sequence[str]) -> list[Agent]:
    """The agents of these names, each once."""
    from codexmem.clients.install.agents.table import ALIASES, BY_NAME

    found: dict[str, Agent] = {}
    for given in names:
        name = ALIASES.get(given.lower(), given.lower())
        if name not in BY_NAME:
            import difflib

            near = difflib.get_close_matches(name, [*BY_NAME, *ALIASES], n=1)
            hint = say("usage.did_you_mean", name=near[0]) if near else say("install.known", names=", ".join(BY_NAME))
            raise UsageProblem(say("install.no_agent", name=given[:40]), hint=hint)
        found[name] = BY_NAME[name]
    return list(found.values())


def detected() -> list[Agent]:
    """The agents that are on this machine."""
    from codexmem.clients.install.agent import found
    from codexmem.clients.install.agents.table import AGENTS

    whose = person()
    return [agent for agent in AGENTS if found(agent, whose)]


def see_help() -> str:
    """Where to read more about the running command."""
    return say("usage.see_help", command=click.get_current_context().command_path)
