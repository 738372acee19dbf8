"""`codexmem run`: single runs, what they answered and what they answered it from."""

from collections.abc import Sequence
from typing import Any

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import lab_api
from codexmem.lab.cli.batch import LIMIT, STATUS
from codexmem.lab.wire.fields import LabPage
from codexmem.lab.wire.library import EvidencePiece
from codexmem.lab.wire.runs import CancelRequested, LabRun, OneRun, OutputAnswer

run = Group(
    "run",
    key="run",
    no_args_is_help=True,
    lazy={
        "ls": "codexmem.lab.cli.run:ls",
        "show": "codexmem.lab.cli.run:show",
        "events": "codexmem.lab.cli.run_events:events",
        "output": "codexmem.lab.cli.run:output_of",
        "evidence": "codexmem.lab.cli.run:evidence",
        "feedback": "codexmem.lab.cli.run_feedback:feedback",
        "cancel": "codexmem.lab.cli.run:cancel",
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
    with lab_api(**where) as api:
        found = api.items(LabPage[LabRun], "runs", limit=limit, batch_id=batch, status=list(statuses))
    lab_text.tell_page(found, lab_text.listed([lab_text.run_row(each) for each in found.items]), "run.none")


@click.command("show", cls=Command, key="run.show")
@click.argument("run_id", metavar="RUN")
@tenant_option
@store_options
def show(run_id: str, **where: Any) -> None:
    """Show how a run stands."""
    with lab_api(**where) as api:
        told = api.get(OneRun, "runs", run_id)
    current().result(told.document(), lab_text.run_text(told.run))


@click.command("output", cls=Command, key="run.output")
@click.argument("run_id", metavar="RUN")
@tenant_option
@store_options
def output_of(run_id: str, **where: Any) -> None:
    """Show what a run has answered."""
    with lab_api(**where) as api:
        told = api.get(OutputAnswer, "runs", run_id, "output")
        empty = api.get(OneRun, "runs", run_id).run.library_empty
    output = current()
    output.result(told.document(), lab_text.document(told.recipes_json))
    if empty:
        output.note(say("run.library_empty"), good=False)
    for alias, ref in told.citations.items():
        output.note(f"[{one_line(alias)}] {one_line(ref)}")
    for mem_id in told.memory_ids:
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
    with lab_api(**where) as api:
        if alias is not None:
            piece = api.get(EvidencePiece, "runs", run_id, "evidence", alias.strip("[]"))
            head = f"[{piece.alias}] {one_line(piece.ref)}  {one_line(piece.source)}"
            output.result(piece.document(), f"{head}\n\n{printable(piece.content or '')}")
            return
        found = api.items(LabPage[EvidencePiece], "runs", run_id, "evidence", limit=limit)
    rows = [
        [each.alias, one_line(each.kb_namespace), cut(one_line(each.source), 50), one_line(each.ref)]
        for each in found.items
    ]
    lab_text.tell_page(found, lab_text.listed(rows), "run.no_evidence")


@click.command("cancel", cls=Command, key="run.cancel")
@click.argument("run_id", metavar="RUN")
@option("--reason", metavar="TEXT", key="lab.reason")
@tenant_option
@store_options
def cancel(run_id: str, reason: str | None, **where: Any) -> None:
    """Cancel a run."""
    with lab_api(**where) as api:
        told = api.send(CancelRequested, "POST", "runs", run_id, "cancel", reason=reason)
    output = current()
    output.result(told.document(), told.cancel_id)
    output.note(say("lab.cancel_requested", id=one_line(run_id)), good=True)
