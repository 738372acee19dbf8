"""`codexmem memory`, the commands on the past of a note: versions, diff, rollback."""

from typing import Any

import click

from codexmem.cli.asking import confirm
from codexmem.cli.cells import one_line
from codexmem.cli.frame import Command, current, option
from codexmem.cli.memory import text as memory_text
from codexmem.cli.messages import say
from codexmem.cli.store import store_options, tenant_option
from codexmem.cli.tools import Tools, tools

_VERSION = click.IntRange(1, 2**31 - 1)


@click.command("versions", cls=Command, key="memory.versions")
@click.argument("uri", metavar="URI")
@option("--limit", type=click.IntRange(1, 100), default=10, metavar="N", key="memory.limit")
@tenant_option
@store_options
def versions(uri: str, limit: int, **where: Any) -> None:
    """List the versions of a note, the newest first."""
    with tools("notes", **where) as called:
        found = called.call("get_memory_versions", uri=uri, limit=limit)
    output = current()
    output.result(found, memory_text.versions(found["versions"]))
    if found["status"] == "deleted":
        output.note(say("memory.is_deleted", uri=one_line(found["uri"])), good=False)


@click.command("diff", cls=Command, key="memory.diff")
@click.argument("uri", metavar="URI")
@click.argument("before", type=_VERSION, required=False, metavar="[VERSION]")
@click.argument("after", type=_VERSION, required=False, metavar="[VERSION]")
@tenant_option
@store_options
def diff(uri: str, before: int | None, after: int | None, **where: Any) -> None:
    """Compare two versions: by default the last two, with one version it and the present one."""
    with tools("notes", **where) as called:
        if before is None or after is None:
            after = _current(called, uri)
            before = before if before is not None else max(1, after - 1)
        found = called.call("diff_versions", uri=uri, version1=before, version2=after)
    output = current()
    output.result(found, memory_text.diff(found["diff"], paint=output.paint))
    for change in _beside(found):
        output.note(change)
    if not found["changes"]:
        output.note(say("memory.same", before=before, after=after))


@click.command("rollback", cls=Command, key="memory.rollback")
@click.argument("uri", metavar="URI")
@click.argument("version", type=_VERSION, metavar="VERSION")
@option("--dry-run", is_flag=True, key="memory.dry_run")
@option("--yes", is_flag=True, key="option.yes")
@tenant_option
@store_options
def rollback(uri: str, version: int, dry_run: bool, yes: bool, **where: Any) -> None:
    """Let a note say again what it said in an earlier version."""
    output = current()
    with tools("notes", **where) as called:
        now = _current(called, uri)
        shown = called.call("diff_versions", uri=uri, version1=now, version2=version)
        if dry_run:
            output.result({"dry_run": True, **shown}, memory_text.diff(shown["diff"], paint=output.paint))
            for change in _beside(shown):
                output.note(change)
            return
        if not yes:
            for change in (memory_text.diff(shown["diff"], paint=output.color), *_beside(shown)):
                output.note(change)
            confirm(say("memory.confirm_rollback", uri=one_line(uri), version=version))
        made = called.call("rollback_memory", uri=uri, version=version)
    output.result(made, one_line(made["uri"]))
    told = {"uri": one_line(made["uri"]), "version": version, "now": made["version"]}
    output.note(say("memory.rolled_back", **told), good=True)
    back = f"codexmem memory rollback {one_line(made['uri'])} {made['previous_version']}"
    output.note(say("memory.take_back", command=back))


def _current(called: Tools, uri: str) -> int:
    number: int = called.call("get_memory_versions", uri=uri, limit=1)["current_version"]
    return number


def _beside(shown: dict[str, Any]) -> list[str]:
    """What differs beside the content, which the diff shows."""
    return [one_line(change) for change in shown["changes"] if not change.startswith("content:")]
