"""`codexmem install`: hooks and tools into the agents' own configuration, and the proof that they work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from codexmem.console.command import Command, current, option, setting_option
from codexmem.console.input_text import confirm
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import chosen, place_of
from codexmem.kernel.model.errors import NotFound
from codexmem.operations.cli.install.text import (
    UNTOUCHED,
    changes_text,
    detected,
    installer_of,
    named,
    outcome_text,
    proven,
    refused_text,
    see_help,
)

if TYPE_CHECKING:
    from codexmem.agents import InstallableAgent
    from codexmem.agents.install.installing import FileChange, Installer
    from codexmem.agents.install.proof import ProofStep
    from codexmem.settings import Settings


_TOGETHER = 3


@dataclass(slots=True)
class Case:
    """One agent on its way."""

    agent: InstallableAgent
    changes: list[FileChange] = field(default_factory=list)
    refused: str = ""  # why nothing was changed
    checks: list[ProofStep] | None = None

    def document(self) -> dict[str, object]:
        """For programs."""
        files = [{"path": str(c.path), "change": c.fate, "diff": c.diff()} for c in self.changes]
        said = {"agent": self.agent.name, "title": self.agent.title, "files": files, "refused": self.refused or None}
        return said | (proven(self.checks) if self.checks is not None else {"recording": None, "checks": []})

    @property
    def is_well(self) -> bool:
        """Whether there is nothing to fix."""
        return not self.refused and all(check.ok for check in self.checks or ())


def _names() -> Sequence[str]:
    from codexmem.agents import installable

    return [*installable()]


@click.command("install", cls=Command, key="install", names=_names)
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@option("--detect", is_flag=True, key="install.detect")
@option("--all", "every", is_flag=True, key="install.every")
@option("--tools", type=click.Choice(["memory", "all"]), default="memory", key="install.tools")
@option("--dry-run", is_flag=True, key="install.dry_run")
@option("--yes", is_flag=True, key="option.yes")
@setting_option("port", metavar="PORT")
@setting_option("data_dir", metavar="DIR")
def install(agents: Sequence[str], detect: bool, every: bool, tools: str, dry_run: bool, yes: bool, port: str | None,
            data_dir: str | None) -> None:  # fmt: skip
    """Install into the named, the detected or all agents."""
    settings = chosen(port=port, data_dir=data_dir)
    install_into(settings, _wanted(agents, detect=detect, every=every), tools=tools, dry_run=dry_run, yes=yes)


def install_into(
    settings: Settings, agents: Sequence[InstallableAgent], *, tools: str = "memory", dry_run: bool = False,
    yes: bool = False,
) -> None:  # fmt: skip
    """Show, ask, change and prove; the command ends with 1 if an agent does not record afterwards."""
    installer = installer_of(settings, tools)
    cases = [_planned(installer, agent) for agent in agents]
    output = current()
    shown = "\n\n".join(changes_text(case.agent.title, case.changes, case.refused) for case in cases)
    if dry_run:
        output.result({"dry_run": True, "agents": [case.document() for case in cases]}, shown)
        _leave(cases)
        return
    from codexmem.console import writer

    output.note(shown)
    output.note(writer.line(settings))
    if any(change.fate != UNTOUCHED for case in cases for change in case.changes) and not yes:
        confirm(say("install.confirm"))
    for case in cases:
        if not case.refused:
            _install(installer, case)
    _prove([case for case in cases if not case.refused], installer, settings)
    document = {"dry_run": False, "agents": [case.document() for case in cases]}
    output.result(document, "\n".join(outcome_text(c.agent.title, c.refused, c.checks, output) for c in cases))
    output.note(say("install.next", command=f"codexmem uninstall {' '.join(case.agent.name for case in cases)}"))
    _leave(cases)


def _wanted(names: Sequence[str], *, detect: bool, every: bool) -> list[InstallableAgent]:
    if sum((bool(names), detect, every)) > 1:
        raise UsageProblem(say("install.one_way"), hint=see_help())
    if names:
        return named(names)
    from codexmem.agents import installable

    found = detected()
    if every:
        return [*installable().values()]
    listed = ", ".join(agent.name for agent in found)
    if not detect:
        hint = say("install.found", names=listed) if found else say("install.known", names=", ".join(_names()))
        raise UsageProblem(say("install.which"), hint=hint)
    if not found:
        raise _Nothing(say("install.none_found"), hint=say("install.known", names=", ".join(_names())))
    return found


class _Nothing(NotFound):
    """No agent is here; its text comes from the catalogue."""

    spoken = True


def _planned(installer: Installer, agent: InstallableAgent) -> Case:
    from codexmem.agents.install.installing import InstallRefused

    try:
        return Case(agent, installer.plan(agent))
    except InstallRefused as refusal:
        return Case(agent, refused=refused_text(refusal.path, refusal.problem))


def _install(installer: Installer, case: Case) -> None:
    from codexmem.agents.install.installing import InstallRefused
    from codexmem.client.files import StaleFile

    try:
        installer.install(case.agent, case.changes)
    except StaleFile as changed:
        case.refused = say("install.changed", path=changed)
    except InstallRefused as refusal:
        case.refused = refused_text(refusal.path, refusal.problem)
    except OSError as error:
        case.refused = refused_text(error.filename or "-", error.strerror or str(error))


def _prove(cases: Sequence[Case], installer: Installer, settings: Settings) -> None:
    """Some at a time: each waits for programs that it starts."""
    from concurrent.futures import ThreadPoolExecutor

    from codexmem.agents.install.proof import prove

    if not cases:
        return
    current().note(say("install.proving", agent=", ".join(case.agent.title for case in cases)))
    place = place_of(settings)
    with ThreadPoolExecutor(_TOGETHER) as pool:
        for case, checks in zip(cases, pool.map(lambda c: prove(c.agent, installer.person, place), cases), strict=True):
            case.checks = checks


def _leave(cases: Sequence[Case]) -> None:
    if not all(case.is_well for case in cases):
        click.get_current_context().exit(1)
