"""`mem-codecli sessions`: the last turns that are kept of this project in this folder, to see what is kept."""

import click

from codexmem.codecli import project_context, surroundings
from codexmem.codecli.cli.configured import configured
from codexmem.codecli.turns import RecentTurn, RecentTurns
from codexmem.console.command import Command, Group, current, option
from codexmem.console.dates import moment_of
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.kernel.model.errors import NotFound

_ID = 8  # characters of a run's id that people type
_ASKED = 80  # cells


@click.group("sessions", cls=Group, key="codecli.sessions", no_args_is_help=True)
def sessions() -> None:
    """Turns that are kept."""


@sessions.command("ls", cls=Command, key="codecli.sessions.ls")
@option("--project-id", "project_id", metavar="ID", key="codecli.option.project_id")
def listing(project_id: str | None) -> None:
    """List them, newest first."""
    project, turns = _kept(project_id)
    document = [{"run_id": turn.run_id, "at_ms": turn.at_ms, "asked": turn.asked} for turn in turns]
    rows = [[turn.run_id[:_ID], moment_of(turn.at_ms), cut(one_line(turn.asked), _ASKED)] for turn in turns]
    current().result({"project_id": project, "turns": document}, table(rows) if rows else "")
    if not turns:
        current().note(say("codecli.sessions.ls.nothing", project=project))


@sessions.command("show", cls=Command, key="codecli.sessions.show")
@click.argument("run_id", metavar="RUN")
@option("--project-id", "project_id", metavar="ID", key="codecli.option.project_id")
def show(run_id: str, project_id: str | None) -> None:
    """Show the turns of a run, oldest first."""
    project, turns = _kept(project_id)
    found = [turn for turn in reversed(turns) if run_id and turn.run_id.startswith(run_id)]
    if not found:
        raise NotFound(
            f"no run that begins with {run_id[:40]} is kept here", hint="mem-codecli sessions ls lists them",
            details={"reason": "codecli_no_run", "id": run_id[:40]},
        )  # fmt: skip
    document = [{"run_id": turn.run_id, "at_ms": turn.at_ms, "asked": turn.asked, "said": turn.said} for turn in found]
    current().result({"project_id": project, "turns": document}, "\n\n".join(map(_whole, found)))


def _kept(project_id: str | None) -> tuple[str, list[RecentTurn]]:
    cwd = surroundings.cwd()
    project, _ = project_context.project(configured({"project_id": project_id}).config, cwd)
    # Nothing is written here, so nothing is masked here.
    return project, RecentTurns(surroundings.state_dir(), project, cwd, str).kept()


def _whole(turn: RecentTurn) -> str:
    asked, said = printable(turn.asked), printable(turn.said)
    return "\n".join(
        (
            f"{turn.run_id}  {moment_of(turn.at_ms)}",
            say("codecli.sessions.show.asked", text=asked),
            say("codecli.sessions.show.said", text=said),
        )
    )
