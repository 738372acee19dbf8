"""`codexmem init`: from nothing to a running memory; asks before it goes on to the agents."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import click

from codexmem.console import writer
from codexmem.console.command import Command, current, option, setting_option
from codexmem.console.dates import day_of
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.own_project import own_project
from codexmem.console.store import chosen
from codexmem.hook.surroundings import text_of
from codexmem.kernel.model.errors import CodexmemError
from codexmem.kernel.model.project import working_tree
from codexmem.operations.cli.config import write_user_file
from codexmem.operations.cli.install.service import require_port, started
from codexmem.operations.cli.install.text import commands_of, detected, person
from codexmem.operations.cli.install.writer import asked
from codexmem.settings import user_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codexmem.agents.transcripts.model import TranscriptOverview
    from codexmem.client.supervisors import Supervisor
    from codexmem.settings import Settings

_ROOM = 8 << 20  # bytes of a new store with its log
_BYTES_PER_S = 500_000  # of transcripts, on a slow machine


@click.command("init", cls=Command, key="init")
@option("--service", type=click.Choice(["auto", "none"]), default="auto", key="init.service")
@option("--dry-run", is_flag=True, key="init.dry_run")
@setting_option("provider", metavar="WHO")
@setting_option("port", metavar="PORT")
@setting_option("data_dir", metavar="DIR")
def init(service: str, dry_run: bool, provider: str | None, port: str | None, data_dir: str | None) -> None:
    """Make the store, keep the server running, and say what comes next."""
    settings = chosen(port=port, data_dir=data_dir, provider=provider)
    if settings.url or settings.on_postgres:
        raise UsageProblem(say("init.elsewhere"), hint=say("init.elsewhere_hint"))
    flags = (("port", port), ("data_dir", data_dir), ("provider", provider))
    given = {name: str(getattr(settings, name)) for name, flag in flags if flag}
    supervisor = _supervisor() if service == "auto" else None
    output, kept = current(), _kept()
    document: dict[str, object] = {
        "dry_run": dry_run, "data_dir": str(settings.data_dir), "settings_file": str(user_file()) if given else None,
        "service": supervisor.name if supervisor else None, "unit": str(supervisor.unit()) if supervisor else None,
        "url": None, "writer": None, "agents": [agent.name for agent in detected()],
        "transcripts": [asdict(each) for each in kept],
    }  # fmt: skip
    if dry_run:
        output.result(document, _plan_text(settings, given, supervisor))
        return
    _require_folder(settings.data_dir)
    if (said := asked(settings)) is not None:
        given["provider"] = said
        settings = chosen(port=port, data_dir=data_dir, provider=said)
    _make_room(settings.data_dir)
    if given:
        write_user_file({name: int(value) if name == "port" else value for name, value in given.items()})
        output.note(say("init.saved", path=user_file()))
    require_port(settings)
    if supervisor is not None:
        _enable(supervisor, settings)
    output.note(say("init.starting"))
    running, _ = started(settings)
    who = writer.seen(settings)
    document |= {"url": running.url, "writer": who.document()}
    output.result(document, say("init.ready", url=running.url, path=settings.data_dir))
    output.note(say("status.kept_by", who=supervisor.name if supervisor else say("status.by_hook")))
    output.note(who.text())
    if who.writer.sends:
        output.note(say("init.model_off"))
    _go_on(settings)
    _offer_import(settings, kept)


def _require_folder(folder: Path) -> None:
    """Refuse a data directory that is a file, or would be in one."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir():
        raise UsageProblem(say("init.no_folder", path=there), hint=say("init.no_folder_hint"))


def _make_room(folder: Path) -> None:
    """Make the data directory, and try whether a new store has room in it: the server could say so only in its log."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with TemporaryFile(dir=folder) as trial:
            trial.write(bytes(_ROOM))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


def _supervisor() -> Supervisor | None:
    from codexmem.client import supervisors

    whose = person()
    return supervisors.working(whose.environ, whose.home)


def _enable(supervisor: Supervisor, settings: Settings) -> None:
    from codexmem.client import background, supervisors

    command = commands_of(settings).serve("--data-dir", str(settings.data_dir), "--port", str(settings.port))
    supervisors.write_unit(supervisor, command, settings.data_dir / background.LOG)
    if problem := supervisor.enable():
        current().note(say("start.unit_failed", who=supervisor.name, problem=problem), good=False)


def _plan_text(settings: Settings, given: dict[str, str], supervisor: Supervisor | None) -> str:
    lines = [say("init.would_make", path=settings.data_dir)]
    if given:
        said = ", ".join(f"{name} = {value}" for name, value in given.items())
        lines.append(say("init.would_save", path=user_file(), what=said))
    if supervisor is not None:
        lines.append(say("init.would_unit", path=supervisor.unit()))
    return "\n".join(lines)


def _go_on(settings: Settings) -> None:
    output, found = current(), detected()
    if not found:
        output.note(say("init.no_agents"))
        return
    titles = ", ".join(agent.title for agent in found)
    if output.confirmed(say("init.offer", agents=titles)):
        from codexmem.operations.cli.install.install import install_into

        install_into(settings, found)
        return
    output.note(say("init.next", agents=titles))


def _offer_import(settings: Settings, kept: Sequence[TranscriptOverview]) -> None:
    """Show what was there before us, and ask."""
    output = current()
    if kept:
        output.note(say("init.kept"))
        for each in kept:
            output.note(say(
                "init.kept_by", program=each.program, count=f"{each.sessions:,}", first=day_of(each.first_ms),
                last=day_of(each.last_ms), size=f"{max(1, each.bytes >> 20):,}",
            ))  # fmt: skip
        seconds = sum(each.bytes for each in kept) // _BYTES_PER_S
        if output.confirmed(_question(seconds)):
            _import(settings, "transcripts")
        else:
            output.note(say("init.import_next"))
    if working_tree(str(Path.cwd()), text_of) is not None:
        offer = say("init.repository_offer", project=own_project())
        if output.confirmed(offer):
            for name in ("git", "agent-files"):
                _import(settings, name)
        else:
            output.note(say("init.repository_next"))


def _import(settings: Settings, what: str) -> None:
    """`codexmem import` of this, into the store that was made."""
    context = click.get_current_context()
    command = context.find_root().command
    for name in ("import", what):
        assert isinstance(command, click.Group)
        found = command.get_command(context, name)
        assert found is not None
        command = found
    try:
        context.invoke(command, data_dir=str(settings.data_dir))
    except CodexmemError as problem:  # the memory is ready without it
        current().note(problem.message, good=False)


def _question(seconds: int) -> str:
    return say("init.import_offer", minutes=f"{max(1, round(seconds / 60)):,}")


def _kept() -> list[TranscriptOverview]:
    from codexmem.agents.transcripts.finding import overview

    whose = person()
    return overview(whose.home, whose.environ, [Path.cwd()])
