"""`codexmem workspace`: folders of tasks, made and removed by the same verbs that agents have."""

from typing import Any

import click

from codexmem.cli.asking import confirm
from codexmem.cli.cells import one_line
from codexmem.cli.frame import Command, Group, current, option
from codexmem.cli.messages import say
from codexmem.cli.output import table
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.tools import tools


@click.group("workspace", cls=Group, key="workspace", no_args_is_help=True, also={"cleanup": "rm", "list": "ls"})
def workspace() -> None:
    """Folders of tasks."""


@workspace.command("init", cls=Command, key="workspace.init")
@click.argument("task", metavar="TASK")
@tenant_option
@store_options
def init(task: str, **where: Any) -> None:
    """Make an empty folder for a task."""
    with tools("knowledge", create=True, **where) as called:
        made = called.call("memory_init_workspace", task_id=task)
    output = current()
    output.result(made, made["path"])
    output.note(say("workspace.made", command=f"codexmem workspace rm {task}"), good=True)


@workspace.command("rm", cls=Command, key="workspace.rm")
@click.argument("task", metavar="TASK")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def rm(task: str, yes: bool, **where: Any) -> None:
    """Remove a task's folder for good."""
    with tools("knowledge", **where) as called:
        if not yes:
            confirm(say("workspace.confirm", task=one_line(task)))
        gone = called.call("memory_cleanup", task_id=task)
    output = current()
    output.result(gone, gone["path"])
    output.note(say("workspace.removed", task=task), good=True)


@workspace.command("ls", cls=Command, key="workspace.ls")
@tenant_option
@store_options
def ls(**where: Any) -> None:
    """List tasks' folders with how many files each holds."""
    with tools("knowledge", **where) as called:
        told = called.call("memory_dump", level="workspace")
    tasks = [
        {"task": task, "path": each["path"], "files": len(each["files"])} for task, each in sorted(told["data"].items())
    ]
    output = current()
    document: dict[str, Any] = {"workspaces": tasks, "note": told.get("note")}
    rows = [[each["task"], say("workspace.files", count=each["files"]), one_line(each["path"])] for each in tasks]
    output.result(document, table(rows) if rows else "")
    if not rows:
        output.note(say("workspace.none"))
    if told.get("note"):
        output.note(told["note"], good=False)
