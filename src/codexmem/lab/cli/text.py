"""How the lab's answers look in a terminal: one line each in lists, labelled lines for one thing."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from codexmem.console.command import current
from codexmem.console.dates import moment_of
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.lab.wire.bank import LabLesson
from codexmem.lab.wire.feedback import RunFeedback
from codexmem.lab.wire.fields import LabPage
from codexmem.lab.wire.runs import LabBatch, LabEvent, LabRun

LINE = 90  # cells of a text in a list
_TOLD = 160  # cells of what an event says


def at(seconds: float | None) -> str:
    """A moment; a dash where there is none."""
    return "-" if seconds is None else moment_of(round(seconds * 1000))


def tell_page(page: LabPage[Any], text: str, none: str) -> None:
    """Print a list, and say if it is empty or goes on; `none` is the message of an empty one."""
    output = current()
    output.result(page.model_dump(mode="json", exclude_unset=True, exclude={"next_cursor"}), text)
    if not page.items:
        output.note(say(none))
    elif page.has_more:
        output.note(say("lab.more"))


def listed(rows: Sequence[Sequence[str]]) -> str:
    """Rows that line up; nothing for none."""
    return table(rows) if rows else ""


def labelled(pairs: Sequence[tuple[str, str]]) -> str:
    """What is known of one thing, without what is empty."""
    return table([[name, value] for name, value in pairs if value])


def batch_row(batch: LabBatch) -> list[str]:
    """A batch in a list."""
    ended = batch.ended_runs.total
    return [
        batch.batch_id, batch.status, f"{ended}/{batch.n_runs}", at(batch.created_at),
        cut(one_line(batch.user_request), LINE),
    ]  # fmt: skip


def run_row(run: LabRun) -> list[str]:
    """A run in a list."""
    return [run.run_id, str(run.run_index), _status(run), at(run.started_at), at(run.ended_at),
            cut(one_line(run.error or ""), LINE)]  # fmt: skip


def _status(run: LabRun) -> str:
    return f"{run.status} ({say('lab.library_empty')})" if run.library_empty else str(run.status)


def batch_text(batch: LabBatch, runs: Sequence[LabRun]) -> str:
    """One batch with its runs."""
    head = labelled([
        (say("lab.batch"), batch.batch_id),
        (say("lab.status"), batch.status + (f" ({say('lab.dry_run')})" if batch.dry_run else "")),
        (say("lab.created"), at(batch.created_at)),
        (say("lab.ended"), at(batch.ended_at)),
        (say("lab.error"), one_line(batch.error or "")),
        (say("lab.canceled_for"), one_line(batch.cancel_reason or "")),
        (say("lab.request"), one_line(batch.user_request)),
    ])  # fmt: skip
    return "\n\n".join(part for part in (head, listed([run_row(run) for run in runs])) if part)


def run_text(run: LabRun) -> str:
    """One run."""
    return labelled([
        (say("lab.run"), run.run_id),
        (say("lab.batch"), f"{run.batch_id} #{run.run_index}"),
        (say("lab.status"), _status(run)),
        (say("lab.created"), at(run.created_at)),
        (say("lab.started"), at(run.started_at)),
        (say("lab.ended"), at(run.ended_at)),
        (say("lab.error"), printable(run.error or "")),
        (say("lab.canceled_for"), one_line(run.cancel_reason or "")),
    ])  # fmt: skip


def event_line(event: LabEvent) -> str:
    """One event of a trace, and the gist of what it says."""
    stamp = f"{at(event.created_at)}.{round(event.created_at * 1000) % 1000:03d}"
    return f"{stamp}  {event.event_type:<20}  {gist(event.payload or {})}".rstrip()


def gist(payload: Mapping[str, object]) -> str:
    """What an event says, as far as it fits into a line: short values first by their names, lists by their length."""
    parts = []
    for name, value in payload.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, list | dict):
            parts.append(f"{name}[{len(value)}]")
        else:
            parts.append(f"{name}={cut(one_line(str(value)), 60)}")
    return cut(" ".join(parts), _TOLD)


def document(value: Any) -> str:
    """JSON for a person to read."""
    return printable(json.dumps(value, ensure_ascii=False, indent=2))


def lesson_row(lesson: LabLesson) -> list[str]:
    """A lesson in a list."""
    return [
        f"mem:{lesson.mem_id}", lesson.role, lesson.type, lesson.status,
        cut(one_line(lesson.content), LINE),
    ]  # fmt: skip


def lesson_text(lesson: LabLesson) -> str:
    """One lesson."""
    head = labelled([
        (say("lab.lesson"), f"mem:{lesson.mem_id}"),
        (say("lab.status"), lesson.status),
        (say("lab.role"), lesson.role),
        (say("lab.type"), lesson.type),
        (say("lab.learned_from"), ", ".join(lesson.run_ids)),
        (say("lab.created"), at(lesson.created_at)),
        (say("lab.updated"), at(lesson.updated_at)),
    ])  # fmt: skip
    return f"{head}\n\n{printable(lesson.content)}"


def feedback_text(feedback: RunFeedback) -> str:
    """What was said about a run."""
    score = feedback.score
    head = labelled([
        (say("lab.run"), feedback.run_id),
        (say("lab.score"), "" if score is None else f"{score:g}"),
        (say("lab.pros"), one_line(feedback.pros)),
        (say("lab.cons"), one_line(feedback.cons)),
        (say("lab.other"), one_line(feedback.other)),
        (say("lab.updated"), at(feedback.updated_at)),
    ])  # fmt: skip
    rows = [[one_line(each.product_name), f"{each.value:g}", f"{each.fraction:.1%}"] for each in feedback.products]
    return "\n\n".join(part for part in (head, listed(rows)) if part)
