"""`codexmem rb`: the ReasoningBank, lessons that later runs read and cite."""

from collections.abc import Sequence
from typing import Any

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.input_text import text_of
from codexmem.console.messages import say
from codexmem.console.store import store_options, tenant_option
from codexmem.lab.cli import text as lab_text
from codexmem.lab.cli.api import lab_api
from codexmem.lab.cli.batch import LIMIT
from codexmem.lab.wire.bank import LabLesson, OneLesson
from codexmem.lab.wire.fields import LabPage

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
        "learn": "codexmem.lab.cli.rb_learning:learn",
        "jobs": "codexmem.lab.cli.rb_learning:jobs",
        "deltas": "codexmem.lab.cli.rb_learning:deltas",
        "rollback": "codexmem.lab.cli.rb_learning:rollback",
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
def ls(query: Sequence[str], role: str, kind: str | None, status: str | None, limit: int, **where: Any) -> None:
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
def show(lesson: str, **where: Any) -> None:
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
def add(content: str | None, file: str | None, role: str | None, run_id: str | None, **where: Any) -> None:
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
         **where: Any) -> None:  # fmt: skip
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
def archive(lesson: str, **where: Any) -> None:
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
