"""`codexmem rb`, the commands on learning: learn, jobs, deltas, rollback."""

from collections.abc import Mapping
from typing import Any

import click

from codexmem.cli.asking import confirm
from codexmem.cli.cells import cut, one_line
from codexmem.cli.frame import Command, current, option
from codexmem.cli.lab import text as lab_text
from codexmem.cli.lab.door import lab_door
from codexmem.cli.messages import say
from codexmem.cli.output import FAILURE
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.waiting import until_learned


@click.command("learn", cls=Command, key="rb.learn")
@click.argument("run_id", metavar="RUN")
@option("--wait", is_flag=True, key="rb.wait")
@tenant_option
@store_options
def learn(run_id: str, wait: bool, **where: Any) -> int:
    """Learn from a run and its feedback."""
    output = current()
    with lab_door(**where) as door:
        told = door.send("POST", "runs", run_id, "reasoningbank", "learn")
        if not wait:
            output.result(told, told["job_id"])
            output.note(say("rb.queued", command=f"codexmem rb jobs {one_line(run_id)}"), good=True)
            return 0
        with door.working():
            job = until_learned(door, run_id, told["job_id"])
    output.result(job, _job_line(job))
    learned = job["status"] == "completed"
    if learned and job["reason"]:
        output.note(_reason(job), good=False)
    elif learned:
        output.note(say("rb.learned", count=job["n_ops"], delta=job["delta_id"]), good=True)
    return 0 if learned else FAILURE


@click.command("jobs", cls=Command, key="rb.jobs")
@click.argument("run_id", metavar="RUN")
@option("--limit", type=click.IntRange(1, 200), default=20, metavar="N", key="lab.limit")
@tenant_option
@store_options
def jobs(run_id: str, limit: int, **where: Any) -> None:
    """List the learnings of a run."""
    with lab_door(**where) as door:
        told = door.get("runs", run_id, "reasoningbank", "jobs", limit=limit)
    output = current()
    output.result(told, "\n".join(map(_job_line, told["jobs"])))
    if not told["jobs"]:
        output.note(say("rb.no_jobs"))


@click.command("deltas", cls=Command, key="rb.deltas")
@click.argument("run_id", metavar="RUN")
@option("--limit", type=click.IntRange(1, 200), default=20, metavar="N", key="lab.limit")
@option("--all", "everything", is_flag=True, key="rb.all")
@tenant_option
@store_options
def deltas(run_id: str, limit: int, everything: bool, **where: Any) -> None:
    """List what the learnings of a run changed."""
    with lab_door(**where) as door:
        found, more = door.items(
            "runs", run_id, "reasoningbank", "deltas", limit=limit, cause="all" if everything else "learn"
        )
    output = current()
    blocks = []
    for delta in found:
        head = f"{delta['delta_id']}  {delta['cause']}  {delta['status']}  {lab_text.at(delta['created_at'])}"
        blocks.append("\n".join([head, *(f"  {_op_line(op, 'after')}" for op in delta["ops"])]))
    output.result({"items": found, "has_more": more}, "\n".join(blocks))
    if not found:
        output.note(say("rb.no_deltas"))
    elif more:
        output.note(say("lab.more"))


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
             yes: bool, **where: Any) -> None:  # fmt: skip
    """Take a learning back: every lesson it touched is as it was before."""
    output = current()
    mode = "safe" if safe else "strict"
    with lab_door(**where) as door:
        seen = door.get("runs", run_id, "reasoningbank", "rollback", "preview", delta_id=delta, mode=mode)
        if only_shown:
            output.result(seen, _preview(seen))
            _warn(seen)
            return
        if not yes:
            output.note(_preview(seen))
            _warn(seen)
            confirm(say("rb.confirm", delta=seen["delta_id"]))
        done = door.send(
            "POST", "runs", run_id, "reasoningbank", "rollback", delta_id=seen["delta_id"], mode=mode,
            relearn=relearn, reason=reason,
        )  # fmt: skip
    output.result(done, done["delta_id"])
    output.note(say("rb.rolled_back", delta=done["delta_id"], count=len(done["restored_mem_ids"])), good=True)
    if done["left_mem_ids"]:
        left = ", ".join(f"mem:{each}" for each in done["left_mem_ids"])
        output.note(say("rb.left", lessons=left), good=False)
    if done["learning"] is not None:
        output.note(say("rb.queued", command=f"codexmem rb jobs {one_line(run_id)}"))


def _warn(seen: Mapping[str, Any]) -> None:
    if seen["overwritten_mem_ids"]:
        lessons = ", ".join(f"mem:{each}" for each in seen["overwritten_mem_ids"])
        current().note(say("rb.overwrites", lessons=lessons), good=False)


def _preview(seen: Mapping[str, Any]) -> str:
    lines = [_op_line(each, "now" if each["op"] == "remove" else "then") for each in seen["changes"]]
    return "\n".join(lines) or say("rb.nothing_changes")


def _op_line(op: Mapping[str, Any], side: str) -> str:
    state = op[side] or {}
    return f"{op['op']:<8}mem:{op['mem_id']}  {cut(one_line(str(state.get('content', ''))), lab_text.LINE)}".rstrip()


_REASONS = {"dry_run": "rb.reason_dry_run"}


def _reason(job: Mapping[str, Any]) -> str:
    """Why nothing was learned, in words; empty if something was."""
    reason = str(job.get("reason") or "")
    return say(_REASONS[reason]) if reason in _REASONS else reason


def _job_line(job: Mapping[str, Any]) -> str:
    parts = [job["rb_job_id"], job["status"], lab_text.at(job.get("created_at")), job.get("delta_id") or "",
             cut(one_line(job.get("error") or ""), lab_text.LINE),
             _reason(job)]  # fmt: skip
    return "  ".join(part for part in parts if part)
