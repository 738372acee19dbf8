"""`codexmem kb`: the knowledge base, by the same verbs that agents have."""

import json
from collections.abc import Sequence
from typing import Any

import click

from codexmem.cli.asking import confirm
from codexmem.cli.cells import cut, one_line, printable
from codexmem.cli.frame import Command, Group, current, option
from codexmem.cli.given import text_of
from codexmem.cli.messages import say
from codexmem.cli.output import table
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.tools import tools

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
def add(content: str | None, file: str | None, summary: str, tags: Sequence[str], **where: Any) -> None:
    """Add an entry."""
    text = text_of(content, file)
    with tools("knowledge", create=True, **where) as called:
        made = called.call("memory_add", content=text, summary=summary, tags=list(tags))
    output = current()
    output.result(made, made["id"])
    output.note(say("kb.added", id=made["id"]), good=True)


@kb.command("query", cls=Command, key="kb.query")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@option("--top", type=click.IntRange(1, 100), default=3, metavar="N", key="kb.top")
@tenant_option
@store_options
def query(query: Sequence[str], top: int, **where: Any) -> None:
    """Show the entries that fit best."""
    with tools("knowledge", **where) as called:
        found = called.call("memory_query", query=" ".join(query), top_k=top)
    shown = [
        f"{entry['id']}  {one_line(entry['summary'])}\n{_indented(entry['content'])}" for entry in found["results"]
    ]
    output = current()
    output.result(found, "\n\n".join(shown))
    if not shown:
        output.note(say("kb.nothing"))


@kb.command("rm", cls=Command, key="kb.rm")
@click.argument("entry", metavar="ID")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def rm(entry: str, yes: bool, **where: Any) -> None:
    """Hide an entry; its history stays."""
    with tools("knowledge", **where) as called:
        if not yes:
            confirm(say("kb.confirm", id=one_line(entry)))
        gone = called.call("memory_delete", kb_id=entry)
    output = current()
    output.result(gone, gone["id"])
    output.note(say("kb.removed", id=gone["id"]), good=True)


@kb.command("ls", cls=Command, key="kb.ls")
@tenant_option
@store_options
def ls(**where: Any) -> None:
    """List the entries."""
    with tools("knowledge", **where) as called:
        told = called.call("memory_dump", level="kb")
    rows = [
        [name, cut(one_line(entry["summary"]), _LINE), ", ".join(map(one_line, entry["tags"]))]
        for name, entry in told["data"].items()
    ]
    _listed(told, table(rows) if rows else "")


@kb.command("dump", cls=Command, key="kb.dump")
@tenant_option
@store_options
def dump(**where: Any) -> None:
    """Show everything there is, as one document."""
    with tools("knowledge", **where) as called:
        told = called.call("memory_dump", level="kb")
    _listed(told, json.dumps(told["data"], ensure_ascii=False, indent=2) if told["data"] else "")


def _listed(told: dict[str, Any], text: str) -> None:
    output = current()
    output.result(told, text)
    if not told["data"]:
        output.note(say("kb.empty"))
    if told.get("note"):
        output.note(told["note"], good=False)


def _indented(content: str) -> str:
    return "\n".join(f"  {line}" for line in printable(content).splitlines())
