"""`codexmem kb` and `codexmem workspace`: knowledge and the folders of tasks, by the same verbs that agents have."""

import json
from collections.abc import Sequence
from typing import Unpack

import click

from codexmem.console.command import Command, Group, current, option
from codexmem.console.input_text import confirm, text_of
from codexmem.console.messages import say
from codexmem.console.output import table
from codexmem.console.store import StoreFlags, store_options, tenant_option
from codexmem.console.terminal_width import cut, one_line, printable
from codexmem.console.tools import tools
from codexmem.knowledge import wire

_LINE = 100  # cells


@click.group("kb", cls=Group, key="kb", no_args_is_help=True, also={"list": "ls", "delete": "rm"})
def kb() -> None:
    """The knowledge base."""


@kb.command("add", cls=Command, key="kb.add")
@click.argument("content", required=False, metavar="[CONTENT]")
@option("--file", metavar="FILE", key="given.file")
@option("--summary", required=True, metavar="TEXT", key="kb.summary")
@option("--tag", "tags", multiple=True, metavar="TAG", key="kb.tag")
@tenant_option
@store_options
def add(content: str | None, file: str | None, summary: str, tags: Sequence[str], **where: Unpack[StoreFlags]) -> None:
    """Add an entry."""
    text = text_of(content, file)
    with tools("knowledge", create=True, **where) as called:
        told = called.call("memory_add", content=text, summary=summary, tags=list(tags))
    added = wire.EntryAdded.model_validate(told)
    output = current()
    output.result(added.document(), added.id)
    output.note(say("kb.added", id=added.id), good=True)


@kb.command("query", cls=Command, key="kb.query")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@option("--top", type=click.IntRange(1, 100), default=3, metavar="N", key="kb.top")
@tenant_option
@store_options
def query(query: Sequence[str], top: int, **where: Unpack[StoreFlags]) -> None:
    """Show the entries that fit best."""
    with tools("knowledge", **where) as called:
        found = wire.FittingEntries.model_validate(called.call("memory_query", query=" ".join(query), top_k=top))
    shown = [f"{entry.id}  {one_line(entry.summary)}\n{_indented(entry.content)}" for entry in found.results]
    output = current()
    output.result(found.document(), "\n\n".join(shown))
    if not shown:
        output.note(say("kb.nothing"))


@kb.command("rm", cls=Command, key="kb.rm")
@click.argument("entry", metavar="ID")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def rm(entry: str, yes: bool, **where: Unpack[StoreFlags]) -> None:
    """Hide an entry; its history stays."""
    with tools("knowledge", **where) as called:
        if not yes:
            confirm(say("kb.confirm", id=one_line(entry)))
        gone = wire.EntryDeleted.model_validate(called.call("memory_delete", kb_id=entry))
    output = current()
    output.result(gone.document(), gone.id)
    output.note(say("kb.removed", id=gone.id), good=True)


@kb.command("ls", cls=Command, key="kb.ls")
@tenant_option
@store_options
def ls(**where: Unpack[StoreFlags]) -> None:
    """List the entries."""
    with tools("knowledge", **where) as called:
        dumped = wire.EntriesDump.model_validate(called.call("memory_dump", level="kb"))
    rows = [
        [name, cut(one_line(entry.summary), _LINE), ", ".join(map(one_line, entry.tags))]
        for name, entry in dumped.data.items()
    ]
    _listed(dumped, table(rows) if rows else "")


@kb.command("dump", cls=Command, key="kb.dump")
@tenant_option
@store_options
def dump(**where: Unpack[StoreFlags]) -> None:
    """Show everything there is, as one document."""
    with tools("knowledge", **where) as called:
        dumped = wire.EntriesDump.model_validate(called.call("memory_dump", level="kb"))
    entries = dumped.document()["data"]
    _listed(dumped, json.dumps(entries, ensure_ascii=False, indent=2) if entries else "")


@click.group("workspace", cls=Group, key="workspace", no_args_is_help=True, also={"cleanup": "rm", "list": "ls"})
def workspace() -> None:
    """Folders of tasks."""


@workspace.command("init", cls=Command, key="workspace.init")
@click.argument("task", metavar="TASK")
@tenant_option
@store_options
def init(task: str, **where: Unpack[StoreFlags]) -> None:
    """Make an empty folder for a task."""
    with tools("knowledge", create=True, **where) as called:
        made = wire.WorkspaceMade.model_validate(called.call("memory_init_workspace", task_id=task))
    output = current()
    output.result(made.document(), made.path)
    output.note(say("workspace.made", command=f"codexmem workspace rm {task}"), good=True)


@workspace.command("rm", cls=Command, key="workspace.rm")
@click.argument("task", metavar="TASK")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def remove(task: str, yes: bool, **where: Unpack[StoreFlags]) -> None:
    """Remove a task's folder for good."""
    with tools("knowledge", **where) as called:
        if not yes:
            confirm(say("workspace.confirm", task=one_line(task)))
        gone = wire.WorkspaceRemoved.model_validate(called.call("memory_cleanup", task_id=task))
    output = current()
    output.result(gone.document(), gone.path)
    output.note(say("workspace.removed", task=task), good=True)


@workspace.command("ls", cls=Command, key="workspace.ls")
@tenant_option
@store_options
def list_tasks(**where: Unpack[StoreFlags]) -> None:
    """List tasks' folders with how many files each holds."""
    with tools("knowledge", **where) as called:
        dumped = wire.WorkspacesDump.model_validate(called.call("memory_dump", level="workspace"))
    tasks = [{"task": task, "path": each.path, "files": len(each.files)} for task, each in sorted(dumped.data.items())]
    output = current()
    rows = [
        [task, say("workspace.files", count=len(each.files)), one_line(each.path)]
        for task, each in sorted(dumped.data.items())
    ]
    output.result({"workspaces": tasks, "note": dumped.note}, table(rows) if rows else "")
    if not rows:
        output.note(say("workspace.none"))
    if dumped.note:
        output.note(dumped.note, good=False)


def _listed(dumped: wire.EntriesDump, text: str) -> None:
    output = current()
    output.result(dumped.document(), text)
    if not dumped.data:
        output.note(say("kb.empty"))
    if dumped.note:
        output.note(dumped.note, good=False)


def _indented(content: str) -> str:
    return "\n".join(f"  {line}" for line in printable(content).splitlines())
