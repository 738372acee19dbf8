"""`codexmem batch`: asking n runs for an answer to one request."""

from collections.abc import Sequence
from typing import Unpack

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.input_text import text_of
from codexmem.console.messages import say
from codexmem.console.output import FAILURE
from codexmem.console.store import StoreFlags, store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import lab_api, until_ended
from codexmem.lab.wire.fields import LabPage
from codexmem.lab.wire.runs import BatchCreated, CancelRequested, LabBatch, LabRun, OneBatch

STATUS = click.Choice(["queued", "running", "completed", "failed", "canceled"])
LIMIT = click.IntRange(1, 10_000)


@click.group("batch", cls=Group, key="batch", no_args_is_help=True, also={"list": "ls"})
def batch() -> None:
    """Batches of runs."""


@batch.command("new", cls=Command, key="batch.new")
@click.argument("request", required=False, metavar="[REQUEST]")
@option("--file", metavar="FILE", key="given.file")
@option("--runs", type=click.IntRange(1, 1000), default=1, metavar="N", key="batch.runs")
@option("--recipes", type=click.IntRange(1, 50), default=3, metavar="N", key="batch.recipes")
@option("--temperature", type=click.FloatRange(0, 2), default=0.7, metavar="T", key="batch.temperature")
@option("--dry-run", is_flag=True, key="batch.dry_run")
@option("--model", default="", metavar="NAME", key="batch.model")
@option("--api-base", default="", metavar="URL", key="batch.api_base")
@option("--kb-principles", default="", metavar="DIR", key="batch.kb_principles")
@option("--kb-modulation", default="", metavar="DIR", key="batch.kb_modulation")
@option("--wait", is_flag=True, key="batch.wait")
@tenant_option
@store_options
def new(request: str | None, file: str | None, runs: int, recipes: int, temperature: float, dry_run: bool, model: str,
        api_base: str, kb_principles: str, kb_modulation: str, wait: bool,
        **where: Unpack[StoreFlags]) -> int:  # fmt: skip
    """Ask."""
    text = text_of(request, file)
    output = current()
    overrides = {
        "kb_principles_dir": kb_principles, "kb_modulation_dir": kb_modulation, "llm_model": model,
        "openai_api_base": api_base,
    }  # fmt: skip
    with lab_api(create=True, **where) as api:
        made = api.send(
            BatchCreated, "POST", "batches", user_request=text, n_runs=runs, recipes_per_run=recipes,
            temperature=temperature, dry_run=dry_run, overrides=overrides,
        )  # fmt: skip
        batch_id = made.batch.batch_id
        if not wait:
            output.result(made.document(), batch_id)
            output.note(say("batch.made", count=runs, id=batch_id), good=True)
            return 0
        with api.working() as here:
            output.note(say("batch.works_here" if here else "batch.works_there", id=batch_id))
            ended = until_ended(api, batch_id, say("batch.bar"))
        found = api.items(LabPage[LabRun], "runs", batch_id=batch_id, limit=1000).items
    _show(ended, found)
    completed = ended.status == "completed"
    output.note(say("batch.ended", id=batch_id, status=ended.status), good=completed)
    if completed:
        output.note(say("batch.next", command=f"codexmem run output {found[0].run_id}"))
    return 0 if completed else FAILURE


@batch.command("ls", cls=Command, key="batch.ls")
@option("--status", "statuses", type=STATUS, multiple=True, metavar="STATUS", key="batch.status")
@option("--query", default="", metavar="TEXT", key="batch.query")
@option("--limit", type=LIMIT, default=20, metavar="N", key="lab.limit")
@tenant_option
@store_options
def ls(statuses: Sequence[str], query: str, limit: int, **where: Unpack[StoreFlags]) -> None:
    """List batches, the newest first."""
    with lab_api(**where) as api:
        found = api.items(LabPage[LabBatch], "batches", limit=limit, status=list(statuses), q=query)
    lab_text.tell_page(found, lab_text.listed([lab_text.batch_row(each) for each in found.items]), "batch.none")


@batch.command("show", cls=Command, key="batch.show")
@click.argument("batch_id", metavar="BATCH")
@tenant_option
@store_options
def show(batch_id: str, **where: Unpack[StoreFlags]) -> None:
    """Show a batch and its runs."""
    with lab_api(**where) as api:
        told = api.get(OneBatch, "batches", batch_id).batch
        found = api.items(LabPage[LabRun], "runs", batch_id=batch_id, limit=1000).items
    _show(told, found)


def _show(batch: LabBatch, runs: Sequence[LabRun]) -> None:
    told = BatchCreated(batch=batch, runs=tuple(runs))
    current().result(told.document(), lab_text.batch_text(batch, runs))


@batch.command("cancel", cls=Command, key="batch.cancel")
@click.argument("batch_id", metavar="BATCH")
@option("--reason", metavar="TEXT", key="lab.reason")
@tenant_option
@store_options
def cancel(batch_id: str, reason: str | None, **where: Unpack[StoreFlags]) -> None:
    """Cancel what has not ended."""
    with lab_api(**where) as api:
        told = api.send(CancelRequested, "POST", "batches", batch_id, "cancel", reason=reason)
    output = current()
    output.result(told.document(), told.cancel_id)
    output.note(say("lab.cancel_requested", id=one_line(batch_id)), good=True)
