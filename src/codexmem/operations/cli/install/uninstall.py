"""`codexmem uninstall`: every file as it was before us; memories stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from codexmem.console.command import Command, current, option, setting_option
from codexmem.console.input_text import confirm
from codexmem.console.messages import say
from codexmem.console.store import chosen, place_of
from codexmem.operations.cli.install.text import UNTOUCHED, changes_text, installer_of, named, person, refused_text

if TYPE_CHECKING:
    from codexmem.agents import InstallableAgent
    from codexmem.agents.install.installing import FileChange, Installer
    from codexmem.settings import Settings


@click.command("uninstall", cls=Command, key="uninstall")
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@option("--dry-run", is_flag=True, key="install.dry_run")
@option("--yes", is_flag=True, key="option.yes")
@setting_option("data_dir", metavar="DIR")
def uninstall(agents: Sequence[str], dry_run: bool, yes: bool, data_dir: str | None) -> None:
    """Take our entries out of the named agents, or out of all and with them the background service."""
    from codexmem.client import background

    settings = chosen(data_dir=data_dir)
    installer = installer_of(settings)
    plans = [_planned(installer, agent) for agent in (named(agents) if agents else _everyone())]
    plans = [plan for plan in plans if plan[2] or plan[1]] if agents else [plan for plan in plans if _concerns(plan)]
    output = current()
    unit = None if agents else _unit()
    shown = "\n\n".join(changes_text(agent.title, changes, refused) for agent, changes, refused in plans)
    shown = "\n\n".join(filter(None, (shown, say("uninstall.unit", path=unit) if unit else "")))
    touched = unit is not None or any(change.fate != UNTOUCHED for plan in plans for change in plan[1])
    if dry_run or not touched:
        output.result(_document(plans, unit, dry_run=dry_run), shown or say("uninstall.nothing"))
        _leave(plans)
        return
    output.note(shown)
    if not yes:
        confirm(say("install.confirm"))
    done = [_removed(installer, agent, refused) for agent, _, refused in plans]
    if unit:
        _remove_service(settings)
    output.result(_document(done, unit, dry_run=False), "\n".join(_outcome(plan) for plan in done))
    output.note(say("uninstall.kept", path=settings.data_dir))
    if not agents and background.look(place_of(settings)) is not None:
        output.note(say("uninstall.runs"))
    _leave(done)


Plan = tuple["InstallableAgent", "list[FileChange]", str]


def _everyone() -> list[InstallableAgent]:
    from codexmem.agents import installable

    return [*installable().values()]


def _concerns(plan: Plan) -> bool:
    return bool(plan[2]) or any(change.fate != UNTOUCHED for change in plan[1])


def _planned(installer: Installer, agent: InstallableAgent) -> Plan:
    from codexmem.agents.install.installing import InstallRefused

    try:
        return agent, installer.plan_removal(agent), ""
    except InstallRefused as refusal:
        return agent, [], refused_text(refusal.path, refusal.problem)


def _removed(installer: Installer, agent: InstallableAgent, refused: str) -> Plan:
    from codexmem.agents.install.installing import InstallRefused
    from codexmem.client.files import StaleFile

    if refused:
        return agent, [], refused
    try:
        return agent, installer.uninstall(agent), ""
    except StaleFile as changed:
        return agent, [], say("install.changed", path=changed)
    except InstallRefused as refusal:
        return agent, [], refused_text(refusal.path, refusal.problem)


def _unit() -> str | None:
    from codexmem.client import supervisors

    whose = person()
    found = [each.unit() for each in supervisors.known(whose.environ, whose.home) if each.unit().is_file()]
    return str(found[0]) if found else None


def _remove_service(settings: Settings) -> None:
    from codexmem.client import background, supervisors

    whose = person()
    for each in supervisors.known(whose.environ, whose.home):
        if each.unit().is_file():
            if each.works():
                each.disable()
            each.unit().unlink(missing_ok=True)
    if running := background.look(place_of(settings)):
        background.stop(running)


def _document(plans: Sequence[Plan], unit: str | None, *, dry_run: bool) -> dict[str, object]:
    agents = [
        {
            "agent": agent.name,
            "files": [
                {"path": str(c.path), "change": c.fate, "changed_since": c.since, "diff": c.diff()} for c in changes
            ],
            "refused": refused or None,
        }
        for agent, changes, refused in plans
    ]
    return {"dry_run": dry_run, "agents": agents, "service": unit}


def _outcome(plan: Plan) -> str:
    agent, changes, refused = plan
    if refused:
        return f"{agent.title}: {refused}"
    since = [say("uninstall.since", path=change.path) for change in changes if change.since]
    return "\n".join([say("uninstall.done", agent=agent.title), *since])


def _leave(plans: Sequence[Plan]) -> None:
    if any(refused for _, _, refused in plans):
        click.get_current_context().exit(1)
