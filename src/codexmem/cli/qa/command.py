"""`codexmem qa`: questions with answers, for the people who look after them.

Agents hand in candidates and report on them through `/v1/qa` or `mem-codecli`; here a person searches, reviews and
decides, and can send the same reports by hand.
"""

import re
from collections.abc import Sequence
from typing import Any

import click

from codexmem.cli.cells import one_line
from codexmem.cli.frame import Command, Group, current, option
from codexmem.cli.memory_lines import percent
from codexmem.cli.messages import say, say_note
from codexmem.cli.output import UsageProblem
from codexmem.cli.own_project import own_project
from codexmem.cli.qa import text as qa_text
from codexmem.cli.qa.reach import own_projects, qa_of
from codexmem.cli.store import store_options, tenant_option
from codexmem.domain.qa.items import (
    BATCH,
    LIMIT,
    MAX_BATCH,
    MAX_LIMIT,
    MAX_MESSAGE,
    MAX_REFERENCES,
    MIN_SCORE,
    anchors_in,
)

_STATUSES = ("candidate", "active", "validated", "deprecated", "expired")
_ALL = "all"
_ID = re.compile(r"[^\s/?#%]{1,400}")
_CURSOR = re.compile(r"[0-9]{1,18}\.[0-9]{1,18}")


@click.group("qa", cls=Group, key="qa", no_args_is_help=True, also={"ls": "candidates", "list": "candidates"})
def qa() -> None:
    """Questions with answers."""


@qa.command("search", cls=Command, key="qa.search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@option("--project", metavar="PROJECT", key="qa.project")
@option("--limit", type=click.IntRange(1, MAX_LIMIT), default=LIMIT, metavar="N", key="qa.limit")
@option("--min-score", type=click.FloatRange(0, 1), default=MIN_SCORE, metavar="X", key="qa.min_score")
@tenant_option
@store_options
def search(query: Sequence[str], project: str | None, limit: int, min_score: float, **where: Any) -> None:
    """Find answers."""
    asked = project or own_project()
    fields = {"project_id": asked, "query": " ".join(query), "limit": limit, "min_score": min_score}
    with qa_of(**where) as door:
        answer = door.search(fields)
    output = current()
    output.result(answer, qa_text.found(answer["items"], paint=output.paint))
    if not answer["items"]:
        output.note(say("qa.nothing", project=one_line(asked), score=min_score))
    for note in answer.get("degraded", ()):
        output.note(say_note(note))


@qa.command("candidates", cls=Command, key="qa.candidates")
@option("--status", type=click.Choice([*_STATUSES, _ALL]), default="candidate", key="qa.status")
@option("--project", metavar="PROJECT", key="qa.only_project")
@option("--limit", type=click.IntRange(1, 100), default=20, metavar="N", key="qa.limit")
@option("--after", metavar="PLACE", key="qa.after")
@tenant_option
@store_options
def candidates(status: str, project: str | None, limit: int, after: str | None, **where: Any) -> None:
    """List what waits for a decision, or items of another status."""
    if after is not None and not _CURSOR.fullmatch(after):
        raise click.BadParameter(say("qa.bad_place"), param_hint="--after", param=_named("after"))
    with qa_of(**where) as door:
        page = door.page(status=None if status == _ALL else status, project=project, limit=limit, cursor=after)
    output = current()
    output.result(page, qa_text.lines(page["items"], paint=output.paint))
    if not page["items"]:
        output.note(say("qa.none"))
    if page["next_cursor"]:
        output.note(say("qa.more", place=page["next_cursor"]))


@qa.command("show", cls=Command, key="qa.show")
@click.argument("qa_id", metavar="QA_ID")
@tenant_option
@store_options
def show(qa_id: str, **where: Any) -> None:
    """Show one item with everything that is known of it."""
    with qa_of(**where) as door:
        found = door.look(_id(qa_id))
    output = current()
    output.result(found, qa_text.whole(found, paint=output.paint))


@qa.command("approve", cls=Command, key="qa.approve")
@click.argument("qa_ids", nargs=-1, required=True, metavar="QA_ID...")
@tenant_option
@store_options
def approve(qa_ids: Sequence[str], **where: Any) -> None:
    """Say that answers are right."""
    _decide("approve", qa_ids, where)


@qa.command("reject", cls=Command, key="qa.reject")
@click.argument("qa_ids", nargs=-1, required=True, metavar="QA_ID...")
@tenant_option
@store_options
def reject(qa_ids: Sequence[str], **where: Any) -> None:
    """Say that answers are wrong."""
    _decide("reject", qa_ids, where)


def _decide(verb: str, qa_ids: Sequence[str], where: dict[str, Any]) -> None:
    ids = list(dict.fromkeys(map(_id, qa_ids)))
    with qa_of(**where) as door:
        for qa_id in ids:
            door.look(qa_id)  # all of them or none
        items = [door.decide(qa_id, verb) for qa_id in ids]
    output = current()
    output.result({"items": items, "count": len(items)}, "\n".join(item["qa_id"] for item in items))
    for item in items:
        output.note(say("qa.decided", id=item["qa_id"], status=item["status"]), good=True)


@qa.command("hit", cls=Command, key="qa.hit")
@click.argument("qa_ids", nargs=-1, required=True, metavar="QA_ID...")
@option("--used", is_flag=True, key="qa.used")
@option("--message-id", metavar="ID", key="qa.message_id")
@tenant_option
@store_options
def hit(qa_ids: Sequence[str], used: bool, message_id: str | None, **where: Any) -> None:
    """Report that items were shown or used."""
    ids = list(dict.fromkeys(map(_id, qa_ids)))
    if len(ids) > MAX_REFERENCES:
        raise click.BadParameter(say("qa.too_many", most=MAX_REFERENCES), param=_named("qa_ids"))
    if message_id is not None and not 1 <= len(message_id) <= MAX_MESSAGE:
        raise click.BadParameter(say("qa.bad_message", most=MAX_MESSAGE), param=_named("message_id"))
    told: dict[str, Any] = {"accepted": 0, "deduped": 0, "unknown": []}
    with qa_of(**where) as door:
        for project, own in own_projects(door, ids).items():
            references = [{"qa_id": each, "shown": True, "used": used, "message_id": message_id} for each in own]
            answer = door.hit({"project_id": project, "references": references})
            told = {name: told[name] + answer[name] for name in told}
    output = current()
    output.result(told, str(told["accepted"]))
    output.note(say("qa.counted", count=told["accepted"], again=told["deduped"]), good=True)


@qa.command("validate", cls=Command, key="qa.validate")
@click.argument("qa_id", metavar="QA_ID")
@option("--success/--failure", "success", default=None, key="qa.success")
@option("--strong", is_flag=True, key="qa.strong")
@option("--strength", type=click.FloatRange(0, 1), metavar="X", key="qa.strength")
@option("--note", metavar="TEXT", key="qa.note")
@tenant_option
@store_options
def validate(qa_id: str, success: bool | None, strong: bool, strength: float | None, note: str | None,
             **where: Any) -> None:  # fmt: skip
    """Report whether an answer worked."""
    named = _id(qa_id)
    if success is None:
        raise UsageProblem(say("usage.missing", name="--success / --failure"), hint=_see_help())
    fields = {
        "qa_id": named, "success": success, "strong_signal": True if strong else None, "signal_strength": strength,
        "context": note, "client": "codexmem qa",
    }  # fmt: skip
    with qa_of(**where) as door:
        ((project, _),) = own_projects(door, [named]).items()
        answer = door.validate({"project_id": project, **fields})
    output = current()
    output.result(answer, answer["qa_id"])
    output.note(say("qa.learned", id=answer["qa_id"], status=answer["status"],
                    confidence=percent(answer["confidence"])), good=True)  # fmt: skip


@qa.command("expire", cls=Command, key="qa.expire")
@option("--batch-size", type=click.IntRange(1, MAX_BATCH), default=BATCH, metavar="N", key="qa.batch_size")
@tenant_option
@store_options
def expire(batch_size: int, **where: Any) -> None:
    """Let items expire that nobody speaks for any more."""
    with qa_of(**where) as door:
        answer = door.expire(batch_size)
    output = current()
    output.result(answer, str(answer["expired"]))
    output.note(say("qa.expired", count=answer["expired"]), good=True)
    if answer["delta"]:
        output.note(say("memory.take_back", command=f"codexmem undo {answer['delta']}"))
    if answer["remaining"]:
        output.note(say("qa.remaining"))


def _id(given: str) -> str:
    """The id that is meant; a mark such as [QA_REF qa-…] names one too."""
    marked = anchors_in(given)
    named = marked[0] if marked else given.strip()
    if not _ID.fullmatch(named):
        raise UsageProblem(say("qa.bad_id", id=one_line(given)[:40]), hint=_see_help())
    return named


def _see_help() -> str:
    return say("usage.see_help", command=click.get_current_context().command_path)


def _named(name: str) -> click.Parameter:
    return next(each for each in click.get_current_context().command.params if each.name == name)
