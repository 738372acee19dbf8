"""`mem-codecli run`: the agent, with what is switched on for it. Its exit code is the agent's.

Where nothing is switched on the process becomes the agent. Options of ours stand before the first word that is none of
them, or before `--`; everything after that is the agent's, to the letter.
"""

import difflib

import click

from codexmem.codecli import exec_through, project_context, surroundings
from codexmem.codecli.child.spawning import NOT_FOUND, NotStarted
from codexmem.codecli.cli.configured import configured
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.kernel.model.errors import NotFound

_NEAR = 0.85
_NO_INPUT = "codecli.no_input"  # a question goes to the terminal itself, whatever the standard streams are


class _RunCommand(Command):
    """A command whose own options end where the agent's arguments begin."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split first: what is the agent's must not be read as ours, however it looks."""
        ours, theirs = exec_through.split(args)
        if theirs and args[len(ours) : len(ours) + 1] != ["--"]:
            self._resembles(theirs[0])
        ctx.meta[_NO_INPUT] = "--no-input" in ours
        return super().parse_args(ctx, [*ours, "--", *theirs])

    def _resembles(self, word: str) -> None:
        """A slip in one of our options is not passed on in silence."""
        name = word.partition("=")[0]
        if not name.startswith("--"):
            return
        near = difflib.get_close_matches(name, (*exec_through.VALUED, *exec_through.FLAGS), n=1, cutoff=_NEAR)
        if near:
            raise UsageProblem(
                say("codecli.run.resembles", name=name[:40], near=near[0]),
                hint=say("codecli.run.dashes", name=name[:40]),
            )


@click.command("run", cls=_RunCommand, key="codecli.run")
@option("--project-id", metavar="ID", key="codecli.option.project_id")
@option("--memory-url", metavar="URL", key="codecli.option.memory_url")
@option("--memory-on/--memory-off", "memory_on", default=None, key="codecli.run.memory_on")
@option("--inject-mode", type=click.Choice(["system", "user", "both"]), key="codecli.run.inject_mode")
@option("--gatekeeper", type=click.Choice(["off", "soft", "hard"]), key="codecli.run.gatekeeper")
@option("--audit", type=click.Choice(["off", "prompt", "auto"]), key="codecli.run.audit")
@option("--redact", type=click.Choice(["off", "basic", "strict"]), key="codecli.run.redact")
@option("--stream-format", type=click.Choice(["auto", "text", "jsonl", "sse"]), key="codecli.run.stream_format")
@option("--tui", is_flag=True, key="codecli.run.tui")
@option("--trace-json", metavar="FILE", default="", key="codecli.run.trace_json")
@option("--record", metavar="FILE", default="", key="codecli.run.record")
@option("--explain", "explains", is_flag=True, key="codecli.run.explain")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[AGENT ARGUMENTS]...")
def run(
    project_id: str | None, memory_url: str | None, memory_on: bool | None, inject_mode: str | None,
    gatekeeper: str | None, audit: str | None, redact: str | None, stream_format: str | None, tui: bool,
    trace_json: str, record: str, explains: bool, arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Run the agent."""
    flags: dict[str, object] = {
        "project_id": project_id, "memory.base_url": memory_url, "memory.on": memory_on, "inject.mode": inject_mode,
        "gatekeeper.mode": gatekeeper, "audit.mode": audit, "redact.level": redact,
        "codecli.stream_format": stream_format,
    }  # fmt: skip
    config, output = configured(flags).config, current()

    def note(text: str) -> None:
        output.note(f"mem-codecli: {text}", good=False)

    try:
        command = (*project_context.agent(config), *arguments)
    except NotFound as error:
        output.failure(error)
        return NOT_FOUND
    if not (explains or tui or trace_json or record or config.memory.on or config.audit.mode != "off"):
        exec_through.become(command, surroundings.environ())
    from codexmem.codecli.child.process import die_alike
    from codexmem.codecli.cli.assembly import Wishes, assembled

    wishes = Wishes(tui=tui, trace=trace_json, record=record, may_ask=not click.get_current_context().meta[_NO_INPUT])
    if explains:
        from codexmem.codecli.cli.explaining import explained

        return explained(config, command, wishes)
    try:
        with assembled(config, command, wishes, note) as made:
            ending = made.go()
    except NotStarted as error:
        output.failure(error)
        return error.exit_code
    die_alike(ending)
    return ending.code
