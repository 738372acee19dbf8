"""`codexmem qa`: questions with answers, for the people who look after them.

Agents hand in candidates and report on them through `/v1/qa` or `mem-codecli`; here a person searches, reviews and
decides, and can send the same reports by hand. What a server advises in paths is said here in commands.

What items say was written by agents and models, so none of it reaches a terminal as it stands (see `terminal_width`).
The status comes first in a line and is the only coloured part: green for proven, yellow for unproven, red for what is
not offered.
"""

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Unpack
from urllib.parse import quote

import click

from codexmem.console.backend import LONG_S, Backend, backend
from codexmem.console.command import Command, Group, current, option
from codexmem.console.dates import day_of
from codexmem.console.memory_lines import percent, strength
from codexmem.console.messages import say, say_note
from codexmem.console.output import UsageProblem, table
from codexmem.console.own_project import own_project
from codexmem.console.store import StoreFlags, store_options, tenant_option
from codexmem.console.terminal_width import cells, cut, one_line, printable
from codexmem.kernel.model.errors import CodexmemError, NotFound
from codexmem.qa import wire
from codexmem.qa.model.items import (
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
_LEAST = 20  # cells of a question, however narrow the terminal
_COLORS = {"validated": "green", "active": "green", "candidate": "yellow", "deprecated": "red", "expired": "red"}


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
def search(
    query: Sequence[str], project: str | None, limit: int, min_score: float, **where: Unpack[StoreFlags]
) -> None:
    """Find answers."""
    asked = project or own_project()
    fields = {"project_id": asked, "query": " ".join(query), "limit": limit, "min_score": min_score}
    with _reached(**where) as store:
        answer = wire.QASearchAnswer.model_validate(store.post("/v1/qa/search", fields))
    output = current()
    output.result(answer.document(), _found(answer.items, paint=output.paint))
    if not answer.items:
        output.note(say("qa.nothing", project=one_line(asked), score=min_score))
    for note in answer.degraded or ():
        output.note(say_note(note))


@qa.command("candidates", cls=Command, key="qa.candidates")
@option("--status", type=click.Choice([*_STATUSES, _ALL]), default="candidate", key="qa.status")
@option("--project", metavar="PROJECT", key="qa.only_project")
@option("--limit", type=click.IntRange(1, 100), default=20, metavar="N", key="qa.limit")
@option("--after", metavar="PLACE", key="qa.after")
@tenant_option
@store_options
def candidates(status: str, project: str | None, limit: int, after: str | None, **where: Unpack[StoreFlags]) -> None:
    """List what waits for a decision, or items of another status."""
    if after is not None and not _CURSOR.fullmatch(after):
        raise click.BadParameter(say("qa.bad_place"), param_hint="--after", param=_named("after"))
    with _reached(**where) as store:
        only = None if status == _ALL else status
        found = store.get("/v1/qa/items", status=only, project_id=project, limit=limit, cursor=after)
    page = wire.QAItemsAnswer.model_validate(found)
    output = current()
    output.result(page.document(), _lines(page.items, paint=output.paint))
    if not page.items:
        output.note(say("qa.none"))
    if page.next_cursor:
        output.note(say("qa.more", place=page.next_cursor))


@qa.command("show", cls=Command, key="qa.show")
@click.argument("qa_id", metavar="QA_ID")
@tenant_option
@store_options
def show(qa_id: str, **where: Unpack[StoreFlags]) -> None:
    """Show one item with everything that is known of it."""
    with _reached(**where) as store:
        item = _item(store, _id(qa_id))
    output = current()
    output.result(item.document(), _whole(item, paint=output.paint))


@qa.command("approve", cls=Command, key="qa.approve")
@click.argument("qa_ids", nargs=-1, required=True, metavar="QA_ID...")
@tenant_option
@store_options
def approve(qa_ids: Sequence[str], **where: Unpack[StoreFlags]) -> None:
    """Say that answers are right."""
    _decide("approve", qa_ids, where)


@qa.command("reject", cls=Command, key="qa.reject")
@click.argument("qa_ids", nargs=-1, required=True, metavar="QA_ID...")
@tenant_option
@store_options
def reject(qa_ids: Sequence[str], **where: Unpack[StoreFlags]) -> None:
    """Say that answers are wrong."""
    _decide("reject", qa_ids, where)


def _decide(verb: str, qa_ids: Sequence[str], where: StoreFlags) -> None:
    ids = list(dict.fromkeys(map(_id, qa_ids)))
    with _reached(**where) as store:
        for qa_id in ids:
            _item(store, qa_id)  # all of them or none
        decided = [store.post(f"{_path(qa_id)}/{verb}", {}) for qa_id in ids]
    items = [wire.QADecision.model_validate(each) for each in decided]
    output = current()
    documents = [item.document() for item in items]
    output.result({"items": documents, "count": len(items)}, "\n".join(item.qa_id for item in items))
    for item in items:
        output.note(say("qa.decided", id=item.qa_id, status=item.status), good=True)


@qa.command("hit", cls=Command, key="qa.hit")
@click.argument("qa_ids", nargs=-1, required=True, metavar="QA_ID...")
@option("--used", is_flag=True, key="qa.used")
@option("--message-id", metavar="ID", key="qa.message_id")
@tenant_option
@store_options
def hit(qa_ids: Sequence[str], used: bool, message_id: str | None, **where: Unpack[StoreFlags]) -> None:
    """Report that items were shown or used."""
    ids = list(dict.fromkeys(map(_id, qa_ids)))
    if len(ids) > MAX_REFERENCES:
        raise click.BadParameter(say("qa.too_many", most=MAX_REFERENCES), param=_named("qa_ids"))
    if message_id is not None and not 1 <= len(message_id) <= MAX_MESSAGE:
        raise click.BadParameter(say("qa.bad_message", most=MAX_MESSAGE), param=_named("message_id"))
    counted: list[wire.QAHitsAnswer] = []
    with _reached(**where) as store:
        for project, own in _by_project(store, ids).items():
            references = [{"qa_id": each, "shown": True, "used": used, "message_id": message_id} for each in own]
            answer = store.post("/v1/qa/hit", {"project_id": project, "references": references})
            counted.append(wire.QAHitsAnswer.model_validate(answer))
    total = wire.QAHitsAnswer(
        accepted=sum(each.accepted for each in counted),
        deduped=sum(each.deduped for each in counted),
        unknown=tuple(qa_id for each in counted for qa_id in each.unknown),
    )
    output = current()
    output.result(total.document(), str(total.accepted))
    output.note(say("qa.counted", count=total.accepted, again=total.deduped), good=True)


@qa.command("validate", cls=Command, key="qa.validate")
@click.argument("qa_id", metavar="QA_ID")
@option("--success/--failure", "success", default=None, key="qa.success")
@option("--strong", is_flag=True, key="qa.strong")
@option("--strength", type=click.FloatRange(0, 1), metavar="X", key="qa.strength")
@option("--note", metavar="TEXT", key="qa.note")
@tenant_option
@store_options
def validate(qa_id: str, success: bool | None, strong: bool, strength: float | None, note: str | None,
             **where: Unpack[StoreFlags]) -> None:  # fmt: skip
    """Report whether an answer worked."""
    named = _id(qa_id)
    if success is None:
        raise UsageProblem(say("usage.missing", name="--success / --failure"), hint=_see_help())
    fields = {
        "qa_id": named, "success": success, "strong_signal": True if strong else None, "signal_strength": strength,
        "context": note, "client": "codexmem qa",
    }  # fmt: skip
    with _reached(**where) as store:
        project = _item(store, named).project_id
        told = store.post("/v1/qa/validate", {"project_id": project, **fields})
    answer = wire.QAValidationAnswer.model_validate(told)
    output = current()
    output.result(answer.document(), answer.qa_id)
    output.note(say("qa.learned", id=answer.qa_id, status=answer.status,
                    confidence=percent(answer.confidence)), good=True)  # fmt: skip


@qa.command("expire", cls=Command, key="qa.expire")
@option("--batch-size", type=click.IntRange(1, MAX_BATCH), default=BATCH, metavar="N", key="qa.batch_size")
@tenant_option
@store_options
def expire(batch_size: int, **where: Unpack[StoreFlags]) -> None:
    """Let items expire that nobody speaks for any more."""
    with _reached(**where) as store:
        told = store.post("/v1/qa/expire", {"batch_size": batch_size}, timeout_s=LONG_S)
    answer = wire.QAExpireAnswer.model_validate(told)
    output = current()
    output.result(answer.document(), str(answer.expired))
    output.note(say("qa.expired", count=answer.expired), good=True)
    if answer.delta:
        output.note(say("memory.take_back", command=f"codexmem undo {answer.delta}"))
    if answer.remaining:
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


@contextmanager
def _reached(**where: Unpack[StoreFlags]) -> Iterator[Backend]:
    """The store that these flags name."""
    try:
        with backend(write=True, **where) as store:
            yield store
    except CodexmemError as error:
        raise _spoken(error) from None


def _path(qa_id: str) -> str:
    return f"/v1/qa/items/{quote(qa_id, safe='')}"


def _item(store: Backend, qa_id: str) -> wire.QAItemDetail:
    return wire.QAItemDetail.model_validate(store.get(_path(qa_id)))


def _by_project(store: Backend, ids: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for qa_id in ids:
        found.setdefault(_item(store, qa_id).project_id, []).append(qa_id)
    return found


def _spoken(error: CodexmemError) -> CodexmemError:
    """The same error with commands for paths."""
    if isinstance(error, NotFound) and error.hint is not None and "/v1/qa/" in error.hint:
        return NotFound(error.message, hint="codexmem qa search and codexmem qa candidates show ids")
    return error


def _found(items: Sequence[wire.QAItem], *, paint: bool) -> str:
    """The results of a search: a line for each, its answer below it."""
    parts = []
    for item in items:
        line = f"{item.status}  {strength(item.score or 0.0)}  {one_line(item.qa_id)}  {one_line(item.question)}"
        parts.append("\n".join([_painted(line, item, paint), *_answer(item), *_warnings(item)]))
    return "\n\n".join(parts)


def _lines(items: Sequence[wire.QAItem], *, paint: bool) -> str:
    """One line for each: status, confidence, id, day, project, what became of it, the question."""
    if not items:
        return ""
    heads = table([
        [item.status, percent(item.confidence), one_line(item.qa_id), day_of(item.created_at_ms),
         one_line(item.project_id) or "-", _became(item)]
        for item in items
    ]).splitlines()  # fmt: skip
    width = max(map(cells, heads))
    return "\n".join(
        _painted(f"{head}{' ' * (width - cells(head))}  {_fitting(one_line(item.question), width + 2)}", item, paint)
        for head, item in zip(heads, items, strict=True)
    )


def _whole(item: wire.QAItemDetail, *, paint: bool) -> str:
    """One item with everything that is known of it."""
    hits, tried = item.hits, item.validations
    rows = [
        [say("qa.confidence"), percent(item.confidence)],
        [say("qa.hits"), say("qa.hits_told", shown=hits.shown, used=hits.used)],
        [say("qa.trials"), say("qa.trials_told", success=tried.success, failure=tried.failure)],
        [say("qa.project_label"), one_line(item.project_id)],
        [say("qa.made"), day_of(item.created_at_ms)],
    ]
    labels = ((say("qa.author"), item.author), (say("qa.source"), item.source),
              (say("qa.tags"), ", ".join(item.tags)), (say("qa.merged_into"), item.merged_into))  # fmt: skip
    rows += [[label, one_line(text)] for label, text in labels if text]
    parts = [
        _painted(f"{item.status}  {one_line(item.qa_id)}", item, paint),
        table(rows),
        "",
        printable(item.question),
        *_answer(item),
    ]
    if item.phrasings:
        parts += ["", say("qa.phrasings"), *(f"  {one_line(each)}" for each in item.phrasings)]
    if item.alternatives:
        parts += ["", say("qa.alternatives"), *(f"  {one_line(each)}" for each in item.alternatives)]
    for head, others in (
        (say("qa.contradictions"), item.contradictions),
        (say("qa.similar"), item.similar),
    ):
        if others:
            parts += ["", head, *(f"  {_other(other, paint)}" for other in others)]
    return "\n".join(parts)


def _other(item: wire.QAItem, paint: bool) -> str:
    return _painted(f"{item.status}  {one_line(item.qa_id)}  {one_line(item.answer)}", item, paint)


def _answer(item: wire.QAItem) -> list[str]:
    return [f"  {line}" for line in printable(item.answer).splitlines()]


def _warnings(item: wire.QAItem) -> list[str]:
    told = [say("qa.unproven")] if item.unproven else []
    if item.contradicts:
        told.append(say("qa.contradicted", ids=", ".join(map(one_line, item.contradicts))))
    return [f"  ({each})" for each in told]


def _became(item: wire.QAItem) -> str:
    hits, tried = item.hits, item.validations
    return f"{hits.used}/{hits.shown} +{tried.success} -{tried.failure}"


def _painted(line: str, item: wire.QAItem, paint: bool) -> str:
    status = item.status
    if not paint:
        return line
    return click.style(status, fg=_COLORS.get(status)) + line.removeprefix(status)


def _fitting(text: str, used: int) -> str:
    if not sys.stdout.isatty():
        return text
    return cut(text, max(_LEAST, shutil.get_terminal_size().columns - used))
