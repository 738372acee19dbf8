"""`codexmem run events`: the trace of a run, as it is or as it grows."""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.store import store_options, tenant_option
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import PAGE, LabApi, lab_api
from codexmem.lab.cli.waiting import LOOK_S
from codexmem.lab.wire.runs import EventsPage, LabEvent, OneRun


@click.command("events", cls=Command, key="run.events")
@click.argument("run_id", metavar="RUN")
@option("-f", "--follow", is_flag=True, key="run.follow")
@option("--type", "types", multiple=True, metavar="TYPE", key="run.type")
@option("--payload", is_flag=True, key="run.payload")
@tenant_option
@store_options
def events(run_id: str, follow: bool, types: Sequence[str], payload: bool, **where: Any) -> None:
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
