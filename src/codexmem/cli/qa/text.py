"""Questions with answers as people read them in a terminal: a search, a list, one in full.

What they say was written by agents and models, so none of it reaches a terminal as it stands (see `cells`). The status
comes first in a line and is the only coloured part: green for proven, yellow for unproven, red for what is not offered.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from codexmem.cli.cells import cells, cut, one_line, printable
from codexmem.cli.dates import day_of
from codexmem.cli.memory_lines import percent
from codexmem.cli.messages import say
from codexmem.cli.output import table

Item = Mapping[str, Any]
_LEAST = 20  # cells of a question, however narrow the terminal
_COLORS = {"validated": "green", "active": "green", "candidate": "yellow", "deprecated": "red", "expired": "red"}


def found(items: Sequence[Item], *, paint: bool) -> str:
    """The results of a search: a line for each, its answer below it."""
    parts = []
    for item in items:
        line = f"{item['status']}  {percent(item['score'])}  {one_line(item['qa_id'])}  {one_line(item['question'])}"
        parts.append("\n".join([_painted(line, item, paint), *_answer(item), *_warnings(item)]))
    return "\n\n".join(parts)


def lines(items: Sequence[Item], *, paint: bool) -> str:
    """One line for each: status, confidence, id, day, project, what became of it, the question."""
    if not items:
        return ""
    heads = table([
        [item["status"], percent(item["confidence"]), one_line(item["qa_id"]), day_of(item["created_at_ms"]),
         one_line(item["project_id"]) or "-", _became(item)]
        for item in items
    ]).splitlines()  # fmt: skip
    width = max(map(cells, heads))
    return "\n".join(
        _painted(f"{head}{' ' * (width - cells(head))}  {_fitting(one_line(item['question']), width + 2)}", item, paint)
        for head, item in zip(heads, items, strict=True)
    )


def whole(item: Item, *, paint: bool) -> str:
    """One item with everything that is known of it."""
    hits, tried = item["hits"], item["validations"]
    rows = [
        [say("qa.confidence"), percent(item["confidence"])],
        [say("qa.hits"), say("qa.hits_told", shown=hits["shown"], used=hits["used"])],
        [say("qa.trials"), say("qa.trials_told", success=tried["success"], failure=tried["failure"])],
        [say("qa.project_label"), one_line(item["project_id"])],
        [say("qa.made"), day_of(item["created_at_ms"])],
    ]
    labels = ((say("qa.author"), item["author"]), (say("qa.source"), item["source"]),
              (say("qa.tags"), ", ".join(item["tags"])), (say("qa.merged_into"), item["merged_into"]))  # fmt: skip
    rows += [[label, one_line(text)] for label, text in labels if text]
    parts = [
        _painted(f"{item['status']}  {one_line(item['qa_id'])}", item, paint),
        table(rows),
        "",
        printable(item["question"]),
        *_answer(item),
    ]
    if item["phrasings"]:
        parts += ["", say("qa.phrasings"), *(f"  {one_line(each)}" for each in item["phrasings"])]
    if item["alternatives"]:
        parts += ["", say("qa.alternatives"), *(f"  {one_line(each)}" for each in item["alternatives"])]
    for head, others in (
        (say("qa.contradictions"), item["contradictions"]),
        (say("qa.similar"), item["similar"]),
    ):
        if others:
            parts += ["", head, *(f"  {_other(other, paint)}" for other in others)]
    return "\n".join(parts)


def _other(item: Item, paint: bool) -> str:
    return _painted(f"{item['status']}  {one_line(item['qa_id'])}  {one_line(item['answer'])}", item, paint)


def _answer(item: Item) -> list[str]:
    return [f"  {line}" for line in printable(item["answer"]).splitlines()]


def _warnings(item: Item) -> list[str]:
    told = [say("qa.unproven")] if item["unproven"] else []
    if item["contradicts"]:
        told.append(say("qa.contradicted", ids=", ".join(map(one_line, item["contradicts"]))))
    return [f"  ({each})" for each in told]


def _became(item: Item) -> str:
    hits, tried = item["hits"], item["validations"]
    return f"{hits['used']}/{hits['shown']} +{tried['success']} -{tried['failure']}"


def _painted(line: str, item: Item, paint: bool) -> str:
    status = item["status"]
    if not paint:
        return line
    return click.style(status, fg=_COLORS.get(status)) + line.removeprefix(status)


def _fitting(text: str, used: int) -> str:
    if not sys.stdout.isatty():
        return text
    return cut(text, max(_LEAST, shutil.get_terminal_size().columns - used))
