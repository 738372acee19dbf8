"""`codexmem run`: single runs, what they answered and what they answered it from."""

from collections.abc import Sequence
from typing import Any

import click

from codexmem.cli.cells import cut, one_line, printable
from codexmem.cli.frame import Command, Group, current, option
from codexmem.cli.lab import text as lab_text
from codexmem.cli.lab.batch import LIMIT, STATUS
from codexmem.cli.lab.door import lab_door
from codexmem.cli.messages import say
from codexmem.cli.store import store_options, tenant_option

run = Group(
    "run",
    key="run",
    no_args_is_help=True,
    lazy={
        "ls": "codexmem.cli.lab.run:ls",
        "show": "codexmem.cli.lab.run:show",
        "events": "codexmem.cli.lab.run_events:events",
        "output": "codexmem.cli.lab.run:output_of",
        "evidence": "codexmem.cli.lab.run:evidence",
        "feedback": "codexmem.cli.lab.run_feedback:feedback",
        "cancel": "codexmem.cli.lab.run:cancel",
    },
    also={"list": "ls", "trace": "events"},
)


@click.command("ls", cls=Command, key="run.ls")
@option("--batch", default="", metavar="BATCH", key="run.batch")
@option("--status", "statuses", type=STATUS, multiple=True, metavar="STATUS", key="batch.status")
@option("--limit", type=LIMIT, default=20, metavar="N", key="lab.limit")
@tenant_option
@store_options
def ls(batch: str, statuses: Sequence[str], limit: int, **where: Any) -> None:
    """List runs."""
    with lab_door(**where) as door:
        found, more = door.items("runs", limit=limit, batch_id=batch, status=list(statuses))
    output = current()
    output.result({"items": found, "has_more": more}, lab_text.listed([lab_text.run_row(each) for each in found]))
    if not found:
        output.note(say("run.none"))
    elif more:
        output.note(say("lab.more"))


@click.command("show", cls=Command, key="run.show")
@click.argument("run_id", metavar="RUN")
@tenant_option
@store_options
def show(run_id: str, **where: Any) -> None:
    """Show how a run stands."""
    with lab_door(**where) as door:
        told = door.get("runs", run_id)["run"]
    current().result({"run": told}, lab_text.run_text(told))


@click.command("output", cls=Command, key="run.output")
@click.argument("run_id", metavar="RUN")
@tenant_option
@store_options
def output_of(run_id: str, **where: Any) -> None:
    """Show what a run has answered."""
    with lab_door(**where) as door:
        told = door.get("runs", run_id, "output")
        empty = door.get("runs", run_id)["run"]["library_empty"]
    output = current()
    output.result(told, lab_text.document(told["recipes_json"]))
    if empty:
        output.note(say("run.library_empty"), good=False)
    for alias, ref in told["citations"].items():
        output.note(f"[{one_line(alias)}] {one_line(ref)}")
    for mem_id in told["memory_ids"]:
        output.note(f"mem:{one_line(mem_id)}")


@click.command("evidence", cls=Command, key="run.evidence")
@click.argument("run_id", metavar="RUN")
@click.argument("alias", required=False, metavar="[ALIAS]")
@option("--limit", type=LIMIT, default=200, metavar="N", key="lab.limit")
@tenant_option
@store_options
def evidence(run_id: str, alias: str | None, limit: int, **where: Any) -> None:
    """Show what a run was shown, or one piece of it whole."""
    output = current()
    with lab_door(**where) as door:
        if alias is not None:
            piece = door.get("runs", run_id, "evidence", alias.strip("[]"))
            head = f"[{piece['alias']}] {one_line(piece['ref'])}  {one_line(piece['source'])}"
            output.result(piece, f"{head}\n\n{printable(piece['content'])}")
            return
        found, more = door.items("runs", run_id, "evidence", limit=limit)
    rows = [
        [each["alias"], one_line(each["kb_namespace"]), cut(one_line(each["source"]), 50), one_line(each["ref"])]
        for each in found
    ]
    output.result({"items": found, "has_more": more}, lab_text.listed(rows))
    if not found:
        output.note(say("run.no_evidence"))
    elif more:
        output.note(say("lab.more"))


@click.command("cancel", cls=Command, key="run.cancel")
@click.argument("run_id", metavar="RUN")
@option("--reason", metavar="TEXT", key="lab.reason")
@tenant_option
@store_options
def cancel(run_id: str, reason: str | None, **where: Any) -> None:
    """Cancel a run."""
    with lab_door(**where) as door:
        told = door.send("POST", "runs", run_id, "cancel", reason=reason)
    output = current()
    output.result(told, told["cancel_id"])
    output.note(say("lab.cancel_requested", id=one_line(run_id)), good=True)
