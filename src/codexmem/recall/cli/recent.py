"""`codexmem recent`: what was remembered last."""

from typing import Any

import click

from codexmem.console import memory_lines
from codexmem.console.backend import Answer, Backend, backend
from codexmem.console.command import Command, current, option
from codexmem.console.dates import moment_of
from codexmem.console.messages import say
from codexmem.console.scope import Scope, scope_options
from codexmem.console.store import store_options, tenant_option

_KINDS = ("observation", "summary", "prompt", "note", "qa", "knowledge", "lesson")
_WRITTEN = tuple(kind for kind in _KINDS if kind != "prompt")  # what somebody asked is not what is known


@click.command("recent", cls=Command, key="recent")
@scope_options
@option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), key="recent.kind")
@option("-n", "--limit", type=click.IntRange(1, 200), default=10, metavar="N", key="recent.limit")
@tenant_option
@store_options
def recent(project: str | None, all_projects: bool, kinds: tuple[str, ...], limit: int, **where: Any) -> None:
    """List the newest memories."""
    scope = Scope(project, all_projects=all_projects)
    with backend(**where) as store:
        rows, more = _newest(store, scope, list(kinds or _WRITTEN), limit)
        barren = [] if rows else scope.nothing(store)
    document = {"projects": scope.projects, "kinds": list(kinds or _WRITTEN), "memories": rows, "more": more}
    output = current()
    output.result(document, "\n".join(line for row in rows for line in _lines(row)))
    for note in barren if not rows else [say("recent.in_project", project=scope.own)] if scope.own else []:
        output.note(note)
    if not rows and not barren:
        output.note(say("search.nothing"))
    if more:
        output.note(say("recent.more", limit=limit))


def _newest(store: Backend, scope: Scope, kinds: list[str], limit: int) -> tuple[list[Answer], bool]:
    wanted = [{"shared": True} if not each else {"project": each} for each in scope.projects] or [{}]
    pages = [store.get("/api/memories/timeline", kind=kinds, limit=limit, **each) for each in wanted]
    rows = sorted((row for page in pages for row in page["items"]), key=lambda row: (-row["created_ms"], -row["seq"]))
    return rows[:limit], len(rows) > limit or any(page["older"] for page in pages)


def _lines(row: Answer) -> list[str]:
    entry = {**row, "label": row["ref"], "content": row["snippet"]}
    kind, _, project = memory_lines.facts_of(entry)
    return memory_lines.listed("", entry, kind, moment_of(row["created_ms"]), project)
