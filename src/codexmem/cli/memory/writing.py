"""`codexmem memory`, the commands that write: create, update, delete, alias."""

from typing import Any

import click

from codexmem.cli.asking import confirm
from codexmem.cli.cells import one_line
from codexmem.cli.frame import Command, current, option
from codexmem.cli.given import text_of
from codexmem.cli.messages import say
from codexmem.cli.output import UsageProblem
from codexmem.cli.own_project import own_project
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.tools import tools

_PRIORITY = click.IntRange(0, 10)


@click.command("create", cls=Command, key="memory.create")
@click.argument("uri", metavar="URI")
@click.argument("content", required=False, metavar="[CONTENT]")
@option("--file", metavar="FILE", key="given.file")
@option("--priority", type=_PRIORITY, default=5, metavar="N", key="memory.priority")
@option("--disclosure", metavar="TEXT", key="memory.disclosure_option")
@option("--project", metavar="PROJECT", key="memory.project")
@tenant_option
@store_options
def create(uri: str, content: str | None, file: str | None, priority: int, disclosure: str | None, project: str | None,
           **where: Any) -> None:  # fmt: skip
    """Keep something under an address."""
    text = text_of(content, file)
    with tools("notes", create=True, project=own_project() if project is None else project, **where) as called:
        made = called.call("create_memory", uri=uri, content=text, priority=priority, disclosure=disclosure)
    output = current()
    output.result(made, one_line(made["uri"]))
    output.note(say("memory.revived" if made["revived"] else "memory.created", uri=one_line(made["uri"])), good=True)


@click.command("update", cls=Command, key="memory.update")
@click.argument("uri", metavar="URI")
@click.argument("content", required=False, metavar="[CONTENT]")
@option("--file", metavar="FILE", key="given.file")
@option("--append", is_flag=True, key="memory.append")
@option("--old", metavar="TEXT", key="memory.old")
@option("--new", metavar="TEXT", key="memory.new")
@option("--priority", type=_PRIORITY, metavar="N", key="memory.priority")
@option("--disclosure", metavar="TEXT", key="memory.disclosure_option")
@option("--status", type=click.Choice(("active", "deprecated", "archived")), key="memory.status_option")
@tenant_option
@store_options
def update(uri: str, content: str | None, file: str | None, append: bool, old: str | None, new: str | None,
           priority: int | None, disclosure: str | None, status: str | None, **where: Any) -> None:  # fmt: skip
    """Change what a note says, or what is said about it."""
    if (old is None) != (new is None):
        raise UsageProblem(say("memory.old_and_new"), hint=_see_help())
    wants_text = content is not None or file is not None or append
    beside = any(each is not None for each in (old, priority, disclosure, status))
    text = text_of(content, file) if wants_text or not beside else None
    with tools("notes", **where) as called:
        made = called.call(
            "update_memory", uri=uri, content=text, old_string=old, new_string=new, append=append or None,
            priority=priority, disclosure=disclosure, status=status,
        )  # fmt: skip
    output = current()
    output.result(made, one_line(made["uri"]))
    back = f"codexmem memory rollback {one_line(made['uri'])} {made['previous_version']}"
    output.note(say("memory.updated", uri=one_line(made["uri"]), version=made["version"]), good=True)
    output.note(say("memory.take_back", command=back))


@click.command("delete", cls=Command, key="memory.delete")
@click.argument("uri", metavar="URI")
@option("--force", is_flag=True, key="memory.force")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def delete(uri: str, force: bool, yes: bool, **where: Any) -> None:
    """Hide a note, or erase it for good."""
    with tools("notes", **where) as called:
        if force and not yes:
            confirm(say("memory.confirm_erase", uri=one_line(uri)))
        gone = called.call("delete_memory", uri=uri, force=force or None)
    output = current()
    output.result(gone, one_line(gone["uri"]))
    if gone["erased"]:
        output.note(say("memory.erased", uri=one_line(gone["uri"])), good=True)
        return
    back = f"codexmem memory rollback {one_line(gone['uri'])} {gone['restorable_version']}"
    output.note(say("memory.deleted", uri=one_line(gone["uri"])), good=True)
    output.note(say("memory.take_back", command=back))


@click.command("alias", cls=Command, key="memory.alias")
@click.argument("target", metavar="URI")
@click.argument("alias_uri", metavar="ALIAS")
@tenant_option
@store_options
def alias(target: str, alias_uri: str, **where: Any) -> None:
    """Give a note one more address."""
    with tools("notes", **where) as called:
        made = called.call("add_alias", target_uri=target, alias_uri=alias_uri)
    output = current()
    output.result(made, one_line(made["alias_uri"]))
    output.note(say("memory.aliased", alias=one_line(made["alias_uri"]), uri=one_line(made["uri"])), good=True)


def _see_help() -> str:
    return say("usage.see_help", command=click.get_current_context().command_path)
