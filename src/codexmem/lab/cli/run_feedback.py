"""`codexmem run feedback`: saying what came of a run."""

import math
from collections.abc import Sequence
from typing import Any

import click

from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import one_line
from codexmem.kernel.model.errors import NotFound
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import LabApi, lab_api
from codexmem.lab.wire.feedback import FeedbackSaved, LabProduct, OneFeedback, RunFeedback
from codexmem.lab.wire.fields import LabPage

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
             measured: Sequence[str], replace: bool, **where: Any) -> None:  # fmt: skip
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
