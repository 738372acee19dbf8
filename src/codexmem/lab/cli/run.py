"""`codexmem run`: single runs, what they answered and what they answered it from.

`codexmem run events`: the trace of a run, as it is or as it grows.

`codexmem run feedback`: saying what came of a run.
"""

import json
import math
import time
from collections.abc import Iterator, Sequence
from typing import Unpack

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import StoreFlags, store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.kernel.model.errors import NotFound
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import LOOK_S, PAGE, LabApi, lab_api
from codexmem.lab.cli.batch import LIMIT, STATUS
from codexmem.lab.wire.feedback import FeedbackSaved, LabProduct, OneFeedback, RunFeedback
from codexmem.lab.wire.fields import LabPage
from codexmem.lab.wire.library import EvidencePiece
from codexmem.lab.wire.runs import CancelRequested, EventsPage, LabEvent, LabRun, OneRun, OutputAnswer

_KEPT = {"score", "pros", "cons", "other", "schema_version", "extra"}


@click.command("feedback", cls=Command, key="run.feedback")
@click.argument("run_id", metavar="RUN")
@option("--score", type=float, metavar="N", key="run.score")
@option("--pros", metavar="TEXT", key="run.pros")
@option("--cons", metavar="TEXT", key="run.cons")
@option("--other", metavar="TEXT", key="run.other")
@option("--product", "measured", multiple=True, metavar="NAME=VALUE", key="run.product")
@option("--replace", is_flag=True, key="run.replace")
@tenant_option
@store_options
def feedback(run_id: str, score: float | None, pros: str | None, cons: str | None, other: str | None,
             measured: Sequence[str], replace: bool, **where: Unpack[StoreFlags]) -> None:  # fmt: skip
    """Show what was said about a run, or say it."""
    output = current()
    given = {"score": score, "pros": pros, "cons": cons, "other": other}
    wanted = {name: value for name, value in given.items() if value is not None}
    values = [_measured(each) for each in measured]
    with lab_api(**where) as api:
        if not wanted and not values and not replace:
            shown = api.get(OneFeedback, "runs", run_id, "feedback")
            output.result(shown.document(), lab_text.feedback_text(shown.feedback))
            return
        before = None if replace else _before(api, run_id)
        body = (before.model_dump(include=_KEPT) if before else {}) | wanted
        products = [{"product_id": product_id_of(api, name), "value": value} for name, value in values]
        kept = [each.model_dump(include={"product_id", "value"}) for each in before.products] if before else []
        told = api.send(FeedbackSaved, "PUT", "runs", run_id, "feedback", **body, products=products or kept)
    output.result(told.document(), lab_text.feedback_text(told.feedback))
    output.note(say("run.feedback_saved", id=one_line(run_id)), good=True)
    if told.feedback.products and not any(each.value for each in told.feedback.products):
        output.note(say("run.sum_zero"), good=False)
    if told.learning is not None:
        output.note(say("run.learning_queued", command=f"codexmem rb jobs {one_line(run_id)}"))


def _before(api: LabApi, run_id: str) -> RunFeedback | None:
    """What was said so far: only what is given anew changes."""
    try:
        return api.get(OneFeedback, "runs", run_id, "feedback").feedback
    except NotFound:
        return None


def _measured(text: str) -> tuple[str, float]:
    name, equals, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not equals or not name.strip() or not math.isfinite(number):
        command = click.get_current_context().command_path
        raise UsageProblem(
            say("run.bad_product", value=one_line(text)[:40]), hint=say("usage.see_help", command=command)
        )
    return name.strip(), number


def product_id_of(api: LabApi, name: str) -> str:
    """The id of a product that was given by name or by id."""
    found = api.get(LabPage[LabProduct], "products", name=name).items
    return found[0].product_id if found else name


@click.command("events", cls=Command, key="run.events")
@click.argument("run_id", metavar="RUN")
@option("-f", "--follow", is_flag=True, key="run.follow")
@option("--type", "types", multiple=True, metavar="TYPE", key="run.type")
@option("--payload", is_flag=True, key="run.payload")
@tenant_option
@store_options
def events(run_id: str, follow: bool, types: Sequence[str], payload: bool, **where: Unpack[StoreFlags]) -> None:
    """Print a trace; with --json one event a line."""
    output = current()
    with lab_api(**where) as api:
        if follow:
            with api.working():
                _print(_followed(api, run_id, types), payload)
        else:
            _print(_all(api, run_id, types), payload)
        status = api.get(OneRun, "runs", run_id).run.status
    if follow:
        output.note(say("run.is", id=run_id, status=status), good=status == "completed")


def _print(told: Iterator[LabEvent], payload: bool) -> None:
    output = current()
    for event in told:
        if output.as_json:
            click.echo(json.dumps(event.document(), ensure_ascii=False))
            continue
        click.echo(lab_text.event_line(event))
        if payload and event.payload:
            click.echo(_indented(lab_text.document(event.payload)))


def _all(api: LabApi, run_id: str, types: Sequence[str]) -> Iterator[LabEvent]:
    """Every event there is, page by page."""
    cursor = ""
    while True:
        told = _page(api, run_id, types, cursor)
        yield from told.items
        if told.next_cursor is None:
            return
        cursor = told.next_cursor


def _followed(api: LabApi, run_id: str, types: Sequence[str]) -> Iterator[LabEvent]:
    """Every event there is and will be, until the run has ended and all of them are told."""
    cursor = ""
    while True:
        # Asked before the page: what a run that has ended says is all there by then.
        ended = api.get(OneRun, "runs", run_id).run.status.ended
        told = _page(api, run_id, types, cursor)
        yield from told.items
        cursor = told.tail_cursor or cursor
        if told.has_more:
            continue
        if ended:
            return
        time.sleep(LOOK_S)


def _page(api: LabApi, run_id: str, types: Sequence[str], cursor: str) -> EventsPage:
    return api.get(
        EventsPage, "runs", run_id, "events", event_type=list(types), cursor=cursor, limit=PAGE,
        include_payload="true",
    )  # fmt: skip


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


run = Group(
    "run",
    key="run",
    no_args_is_help=True,
    lazy={
        "ls": "codexmem.lab.cli.run:ls",
        "show": "codexmem.lab.cli.run:show",
        "events": "codexmem.lab.cli.run:events",
        "output": "codexmem.lab.cli.run:output_of",
        "evidence": "codexmem.lab.cli.run:evidence",
        "feedback": "codexmem.lab.cli.run:feedback",
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
def ls(batch: str, statuses: Sequence[str], limit: int, **where: Unpack[StoreFlags]) -> None:
    """List runs."""
    with lab_api(**where) as api:
        found = api.items(LabPage[LabRun], "runs", limit=limit, batch_id=batch, status=list(statuses))
    lab_text.tell_page(found, lab_text.listed([lab_text.run_row(each) for each in found.items]), "run.none")


@click.command("show", cls=Command, key="run.show")
@click.argument("run_id", metavar="RUN")
@tenant_option
@store_options
def show(run_id: str, **where: Unpack[StoreFlags]) -> None:
    """Show how a run stands."""
    with lab_api(**where) as api:
        told = api.get(OneRun, "runs", run_id)
    current().result(told.document(), lab_text.run_text(told.run))


@click.command("output", cls=Command, key="run.output")
@click.argument("run_id", metavar="RUN")
@tenant_option
@store_options
def output_of(run_id: str, **where: Unpack[StoreFlags]) -> None:
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
def evidence(run_id: str, alias: str | None, limit: int, **where: Unpack[StoreFlags]) -> None:
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
def cancel(run_id: str, reason: str | None, **where: Unpack[StoreFlags]) -> None:
    """Cancel a run."""
    with lab_api(**where) as api:
        told = api.send(CancelRequested, "POST", "runs", run_id, "cancel", reason=reason)
    output = current()
    output.result(told.document(), told.cancel_id)
    output.note(say("lab.cancel_requested", id=one_line(run_id)), good=True)
