"""`codexmem memory`, the commands that look: read, search, ls, tree, stats."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from codexmem.cli.cells import one_line, printable
from codexmem.cli.frame import Command, current, option
from codexmem.cli.memory import text as memory_text
from codexmem.cli.messages import say, say_note
from codexmem.cli.output import table
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.tools import tools

_PRIORITY = click.IntRange(0, 10)


def _narrowing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which notes; the options of every list."""
    for decorate in (
        option("--priority-max", type=_PRIORITY, metavar="N", key="memory.priority_max"),
        option("--priority-min", type=_PRIORITY, metavar="N", key="memory.priority_min"),
        option("--domain", metavar="DOMAIN", key="memory.domain"),
    ):
        command = decorate(command)
    return command


@click.command("read", cls=Command, key="memory.read")
@click.argument("uri", metavar="URI")
@option("--bare", is_flag=True, key="memory.bare")
@tenant_option
@store_options
def read(uri: str, bare: bool, **where: Any) -> None:
    """Show one note, or a view."""
    with tools("notes", **where) as called:
        found = called.call("read_memory", uri=uri)
    output = current()
    if "content" in found:
        # To the letter for a program that reads it; a terminal would act upon some letters.
        bare_text = printable(found["content"]) if sys.stdout.isatty() else found["content"]
        output.result(found, bare_text if bare else memory_text.whole(found), exact=bare)
        return
    output.result(found, memory_text.view(found))
    _told_more(found)


@click.command("search", cls=Command, key="memory.search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@_narrowing
@option("--limit", type=click.IntRange(1, 100), default=10, metavar="N", key="memory.limit")
@tenant_option
@store_options
def search(query: Sequence[str], domain: str | None, priority_min: int | None, priority_max: int | None, limit: int,
           **where: Any) -> None:  # fmt: skip
    """Find notes."""
    with tools("notes", **where) as called:
        found = called.call(
            "search_memory", query=" ".join(query), domain=domain, priority_min=priority_min,
            priority_max=priority_max, limit=limit,
        )  # fmt: skip
    output = current()
    output.result(found, memory_text.lines(found["memories"]))
    for note in found["notes"]:
        output.note(say_note(note))
    _told_more(found)


@click.command("ls", cls=Command, key="memory.ls")
@_narrowing
@option("--status", type=click.Choice(["active", "deprecated", "archived", "deleted"]), key="memory.status")
@option("--limit", type=click.IntRange(1, 200), default=20, metavar="N", key="memory.limit")
@tenant_option
@store_options
def ls(domain: str | None, priority_min: int | None, priority_max: int | None, status: str | None, limit: int,
       **where: Any) -> None:  # fmt: skip
    """List notes, the newest first."""
    with tools("notes", **where) as called:
        found = called.call(
            "list_memories", domain=domain, status=status, priority_min=priority_min, priority_max=priority_max,
            limit=limit,
        )  # fmt: skip
    current().result(found, memory_text.lines(found["memories"]))
    _told_more(found)


@click.command("tree", cls=Command, key="memory.tree")
@option("--domain", metavar="DOMAIN", key="memory.domain")
@tenant_option
@store_options
def tree(domain: str | None, **where: Any) -> None:
    """Draw the addresses as a tree."""
    named = (domain or "").strip().partition("://")[0]
    with tools("notes", **where) as called:
        found = called.call("read_memory", uri=f"system://index/{named}" if named else "system://index")
    current().result(found, memory_text.tree(found["memories"]))
    _told_more(found)


@click.command("stats", cls=Command, key="memory.stats")
@tenant_option
@store_options
def stats(**where: Any) -> None:
    """Count notes."""
    with tools("notes", **where) as called:
        found = called.call("get_memory_stats")
    rows = [[say("memory.total"), str(found["total"])]]
    rows += [[f"  {status}", str(count)] for status, count in sorted(found["by_status"].items())]
    rows += [[f"  {one_line(domain)}://", str(count)] for domain, count in found["by_domain"].items()]
    rows.append([say("memory.reads"), str(found["access"]["total"])])
    rows += [[f"  {one_line(each['uri'])}", str(each["access_count"])] for each in found["access"]["most_read"]]
    current().result(found, table(rows))


def _told_more(found: dict[str, Any]) -> None:
    output = current()
    if not found["memories"]:
        output.note(say("memory.none"))
    if found["more"]:
        output.note(say("memory.more", count=found["count"]))
