"""`codexmem run feedback`: saying what came of a run."""

import math
from collections.abc import Sequence
from typing import Any

import click

from codexmem.cli.backend import Answer
from codexmem.cli.cells import one_line
from codexmem.cli.frame import Command, current, option
from codexmem.cli.lab import text as lab_text
from codexmem.cli.lab.door import LabDoor, lab_door
from codexmem.cli.messages import say
from codexmem.cli.output import UsageProblem
from codexmem.cli.store import store_options, tenant_option
from codexmem.domain.errors import NotFound

_KEPT = ("score", "pros", "cons", "other", "schema_version", "extra")


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
             measured: Sequence[str], replace: bool, **where: Any) -> None:  # fmt: skip
    """Show what was said about a run, or say it."""
    output = current()
    given = {"score": score, "pros": pros, "cons": cons, "other": other}
    wanted = {name: value for name, value in given.items() if value is not None}
    values = [_measured(each) for each in measured]
    with lab_door(**where) as door:
        if not wanted and not values and not replace:
            told = door.get("runs", run_id, "feedback")
            output.result(told, lab_text.feedback_text(told["feedback"]))
            return
        before = {} if replace else _before(door, run_id)
        body = {name: before[name] for name in _KEPT if name in before} | wanted
        products = [{"product_id": product_id_of(door, name), "value": value} for name, value in values]
        kept = [{"product_id": each["product_id"], "value": each["value"]} for each in before.get("products", [])]
        told = door.send("PUT", "runs", run_id, "feedback", **body, products=products or kept)
    output.result(told, lab_text.feedback_text(told["feedback"]))
    output.note(say("run.feedback_saved", id=one_line(run_id)), good=True)
    if told["feedback"]["products"] and not any(each["value"] for each in told["feedback"]["products"]):
        output.note(say("run.sum_zero"), good=False)
    if told["learning"] is not None:
        output.note(say("run.learning_queued", command=f"codexmem rb jobs {one_line(run_id)}"))


def _before(door: LabDoor, run_id: str) -> Answer:
    """What was said so far: only what is given anew changes."""
    try:
        found: Answer = door.get("runs", run_id, "feedback")["feedback"]
    except NotFound:
        return {}
    return found


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


def product_id_of(door: LabDoor, name: str) -> str:
    """The id of a product that was given by name or by id."""
    found = door.get("products", name=name)["items"]
    return str(found[0]["product_id"]) if found else name
