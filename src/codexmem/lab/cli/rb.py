"""`codexmem rb`, the commands on learning: learn, jobs, deltas, rollback.

`codexmem rb`: the ReasoningBank, lessons that later runs read and cite.
"""

from collections.abc import Sequence
from typing import Unpack

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.input_text import confirm, text_of
from codexmem.console.messages import say
from codexmem.console.output import FAILURE
from codexmem.console.store import StoreFlags, store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import lab_api, until_learned
from codexmem.lab.cli.batch import LIMIT
from codexmem.lab.wire.bank import (
    LabDelta,
    LabLesson,
    LearningJob,
    LearningQueued,
    LessonState,
    OneLesson,
    RollbackDone,
    RollbackPreview,
    RunLearnings,
)
from codexmem.lab.wire.fields import LabPage


@click.command("learn", cls=Command, key="rb.learn")
@click.argument("run_id", metavar="RUN")
@option("--wait", is_flag=True, key="rb.wait")
@tenant_option
@store_options
def learn(run_id: str, wait: bool, **where: Unpack[StoreFlags]) -> int:
    """Learn from a run and its feedback."""
    output = current()
    with lab_api(**where) as api:
        told = api.send(LearningQueued, "POST", "runs", run_id, "reasoningbank", "learn")
        if not wait:
            output.result(told.document(), told.job_id)
            output.note(say("rb.queued", command=f"codexmem rb jobs {one_line(run_id)}"), good=True)
            return 0
        with api.working():
            job = until_learned(api, run_id, told.job_id)
    if job is None:
        output.result({"rb_job_id": told.job_id, "status": "unknown"}, f"{told.job_id}  unknown  -")
        return FAILURE
    output.result(job.document(), _job_line(job))
    learned = job.status == "completed"
    if learned and job.reason:
        output.note(say("rb.reason_dry_run"), good=False)
    elif learned:
        output.note(say("rb.learned", count=job.n_ops, delta=job.delta_id), good=True)
    return 0 if learned else FAILURE


@click.command("jobs", cls=Command, key="rb.jobs")
@click.argument("run_id", metavar="RUN")
@option("--limit", type=click.IntRange(1, 200), default=20, metavar="N", key="lab.limit")
@tenant_option
@store_options
def jobs(run_id: str, limit: int, **where: Unpack[StoreFlags]) -> None:
    """List the learnings of a run."""
    with lab_api(**where) as api:
        told = api.get(RunLearnings, "runs", run_id, "reasoningbank", "jobs", limit=limit)
    output = current()
    output.result(told.document(), "\n".join(map(_job_line, told.jobs)))
    if not told.jobs:
        output.note(say("rb.no_jobs"))


@click.command("deltas", cls=Command, key="rb.deltas")
@click.argument("run_id", metavar="RUN")
@option("--limit", type=click.IntRange(1, 200), default=20, metavar="N", key="lab.limit")
@option("--all", "everything", is_flag=True, key="rb.all")
@tenant_option
@store_options
def deltas(run_id: str, limit: int, everything: bool, **where: Unpack[StoreFlags]) -> None:
    """List what the learnings of a run changed."""
    with lab_api(**where) as api:
        cause = "all" if everything else "learn"
        found = api.items(LabPage[LabDelta], "runs", run_id, "reasoningbank", "deltas", limit=limit, cause=cause)
    lines = []
    for delta in found.items:
        lines.append(f"{delta.delta_id}  {delta.cause}  {delta.status}  {lab_text.at(delta.created_at)}")
        lines += [f"  {_op_line(each.op, each.mem_id, each.after)}" for each in delta.ops]
    lab_text.tell_page(found, "\n".join(lines), "rb.no_deltas")


@click.command("rollback", cls=Command, key="rb.rollback")
@click.argument("run_id", metavar="RUN")
@option("--delta", metavar="DELTA", key="rb.delta")
@option("--safe", is_flag=True, key="rb.safe")
@option("--relearn", is_flag=True, key="rb.relearn")
@option("--reason", metavar="TEXT", key="lab.reason")
@option("--preview", "--dry-run", "only_shown", is_flag=True, key="rb.preview")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def rollback(run_id: str, delta: str | None, safe: bool, relearn: bool, reason: str | None, only_shown: bool,
             yes: bool, **where: Unpack[StoreFlags]) -> None:  # fmt: skip
    """Take a learning back: every lesson it touched is as it was before."""
    output = current()
    mode = "safe" if safe else "strict"
    with lab_api(**where) as api:
        seen = api.get(
            RollbackPreview, "runs", run_id, "reasoningbank", "rollback", "preview", delta_id=delta, mode=mode
        )
        if only_shown:
            output.result(seen.document(), _preview(seen))
            _warn(seen)
            return
        if not yes:
            output.note(_preview(seen))
            _warn(seen)
            confirm(say("rb.confirm", delta=seen.delta_id))
        done = api.send(
            RollbackDone, "POST", "runs", run_id, "reasoningbank", "rollback", delta_id=seen.delta_id, mode=mode,
            relearn=relearn, reason=reason,
        )  # fmt: skip
    output.result(done.document(), done.delta_id)
    output.note(say("rb.rolled_back", delta=done.delta_id, count=len(done.restored_mem_ids)), good=True)
    if done.left_mem_ids:
        left = ", ".join(f"mem:{each}" for each in done.left_mem_ids)
        output.note(say("rb.left", lessons=left), good=False)
    if done.learning is not None:
        output.note(say("rb.queued", command=f"codexmem rb jobs {one_line(run_id)}"))


def _warn(seen: RollbackPreview) -> None:
    if seen.overwritten_mem_ids:
        lessons = ", ".join(f"mem:{each}" for each in seen.overwritten_mem_ids)
        current().note(say("rb.overwrites", lessons=lessons), good=False)


def _preview(seen: RollbackPreview) -> str:
    lines = [_op_line(each.op, each.mem_id, each.now if each.op == "remove" else each.then) for each in seen.changes]
    return "\n".join(lines) or say("rb.nothing_changes")


def _op_line(op: str, mem_id: str, state: LessonState) -> str:
    return f"{op:<8}mem:{mem_id}  {cut(one_line(state.content), lab_text.LINE)}".rstrip()


def _job_line(job: LearningJob) -> str:
    parts = [job.rb_job_id, job.status, lab_text.at(job.created_at), job.delta_id or "",
             cut(one_line(job.error or ""), lab_text.LINE),
             say("rb.reason_dry_run") if job.reason else ""]  # fmt: skip
    return "  ".join(part for part in parts if part)


_STATUS = click.Choice(["active", "archived"])
_TYPE = click.Choice(["reasoningbank_item", "manual_note"])

rb = Group(
    "rb",
    key="rb",
    no_args_is_help=True,
    lazy={
        "ls": "codexmem.lab.cli.rb:ls",
        "show": "codexmem.lab.cli.rb:show",
        "add": "codexmem.lab.cli.rb:add",
        "edit": "codexmem.lab.cli.rb:edit",
        "archive": "codexmem.lab.cli.rb:archive",
        "learn": "codexmem.lab.cli.rb:learn",
        "jobs": "codexmem.lab.cli.rb:jobs",
        "deltas": "codexmem.lab.cli.rb:deltas",
        "rollback": "codexmem.lab.cli.rb:rollback",
    },
    also={"list": "ls", "search": "ls"},
)


@click.command("ls", cls=Command, key="rb.ls")
@click.argument("query", nargs=-1, metavar="[QUERY...]")
@option("--role", default="", metavar="ROLE", key="rb.role")
@option("--type", "kind", type=_TYPE, metavar="TYPE", key="rb.type")
@option("--status", type=_STATUS, metavar="STATUS", key="rb.status")
@option("--limit", type=LIMIT, default=20, metavar="N", key="lab.limit")
@tenant_option
@store_options
def ls(
    query: Sequence[str], role: str, kind: str | None, status: str | None, limit: int, **where: Unpack[StoreFlags]
) -> None:
    """List lessons, the newest first, or those that fit a query best."""
    with lab_api(**where) as api:
        found = api.items(
            LabPage[LabLesson], "memories", limit=limit, query=" ".join(query), role=role, type=kind, status=status
        )
    lab_text.tell_page(found, lab_text.listed([lab_text.lesson_row(each) for each in found.items]), "rb.none")


@click.command("show", cls=Command, key="rb.show")
@click.argument("lesson", metavar="MEM")
@tenant_option
@store_options
def show(lesson: str, **where: Unpack[StoreFlags]) -> None:
    """Show one lesson."""
    with lab_api(**where) as api:
        told = api.get(OneLesson, "memories", bare(lesson))
    current().result(told.document(), lab_text.lesson_text(told.memory))


@click.command("add", cls=Command, key="rb.add")
@click.argument("content", required=False, metavar="[CONTENT]")
@option("--file", metavar="FILE", key="given.file")
@option("--role", metavar="ROLE", key="rb.role")
@option("--run", "run_id", metavar="RUN", key="rb.run")
@tenant_option
@store_options
def add(
    content: str | None, file: str | None, role: str | None, run_id: str | None, **where: Unpack[StoreFlags]
) -> None:
    """Write a lesson by hand."""
    text = text_of(content, file)
    with lab_api(create=True, **where) as api:
        told = api.send(OneLesson, "POST", "memories", content=text, role=role, source_run_id=run_id)
    _written(told, "rb.added")


@click.command("edit", cls=Command, key="rb.edit")
@click.argument("lesson", metavar="MEM")
@click.argument("content", required=False, metavar="[CONTENT]")
@option("--file", metavar="FILE", key="given.file")
@option("--role", metavar="ROLE", key="rb.role")
@option("--status", type=_STATUS, metavar="STATUS", key="rb.status")
@tenant_option
@store_options
def edit(lesson: str, content: str | None, file: str | None, role: str | None, status: str | None,
         **where: Unpack[StoreFlags]) -> None:  # fmt: skip
    """Change a lesson."""
    beside = role is not None or status is not None
    text = text_of(content, file) if content is not None or file is not None or not beside else None
    with lab_api(**where) as api:
        told = api.send(OneLesson, "PATCH", "memories", bare(lesson), content=text, role=role, status=status)
    _written(told, "rb.edited")


@click.command("archive", cls=Command, key="rb.archive")
@click.argument("lesson", metavar="MEM")
@tenant_option
@store_options
def archive(lesson: str, **where: Unpack[StoreFlags]) -> None:
    """Take a lesson out of use."""
    with lab_api(**where) as api:
        told = api.send(OneLesson, "POST", "memories", bare(lesson), "archive")
    _written(told, "rb.archived")


def bare(lesson: str) -> str:
    """The id, however it was written: as it is cited, too."""
    return lesson.strip("[]").removeprefix("mem:")


def _written(told: OneLesson, key: str) -> None:
    output = current()
    name = f"mem:{told.memory.mem_id}"
    output.result(told.document(), name)
    output.note(say(key, id=name), good=True)
