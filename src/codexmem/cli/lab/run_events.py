"""`codexmem run events`: the trace of a run, as it is or as it grows."""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from codexmem.cli.backend import Answer
from codexmem.cli.frame import Command, current, option
from codexmem.cli.lab import text as lab_text
from codexmem.cli.lab.door import PAGE, LabDoor, lab_door
from codexmem.cli.messages import say
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.waiting import LOOK_S

_ENDED = {"completed", "failed", "canceled"}


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
    with lab_door(**where) as door:
        if follow:
            with door.working():
                _print(_followed(door, run_id, types), payload)
        else:
            _print(_all(door, run_id, types), payload)
        status = door.get("runs", run_id)["run"]["status"]
    if follow:
        output.note(say("run.is", id=run_id, status=status), good=status == "completed")


def _print(told: Iterator[Answer], payload: bool) -> None:
    output = current()
    for event in told:
        if output.as_json:
            click.echo(json.dumps(event, ensure_ascii=False))
            continue
        click.echo(lab_text.event_line(event))
        if payload and event["payload"]:
            click.echo(_indented(lab_text.document(event["payload"])))


def _all(door: LabDoor, run_id: str, types: Sequence[str]) -> Iterator[Answer]:
    """Every event there is, page by page."""
    cursor = ""
    while True:
        told = _page(door, run_id, types, cursor)
        yield from told["items"]
        if not told["has_more"]:
            return
        cursor = told["next_cursor"]


def _followed(door: LabDoor, run_id: str, types: Sequence[str]) -> Iterator[Answer]:
    """Every event there is and will be, until the run has ended and all of them are told."""
    cursor = ""
    while True:
        # Asked before the page: what a run that has ended says is all there by then.
        ended = door.get("runs", run_id)["run"]["status"] in _ENDED
        told = _page(door, run_id, types, cursor)
        yield from told["items"]
        cursor = told["tail_cursor"] or cursor
        if told["has_more"]:
            continue
        if ended:
            return
        time.sleep(LOOK_S)


def _page(door: LabDoor, run_id: str, types: Sequence[str], cursor: str) -> Answer:
    return door.get(
        "runs", run_id, "events", event_type=list(types), cursor=cursor, limit=PAGE, include_payload="true"
    )  # fmt: skip


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
