"""`codexmem why`: where a memory came from."""

from typing import Any

import click

from codexmem.console.backend import Answer, backend
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.reference import path_of, spelled
from codexmem.console.scope import SHARED, Scope
from codexmem.console.store import store_options, tenant_option
from codexmem.kernel.model.errors import NotFound
from codexmem.recall.cli import why_text


class _OtherProject(NotFound):
    """The memory is there, in another project; its text comes from the catalogue."""

    spoken = True


@click.command("why", cls=Command, key="why")
@click.argument("name", nargs=-1, required=True, metavar="REF")
@option("--versions", type=click.IntRange(1, 50), default=10, metavar="N", key="why.versions")
@option("--events", type=click.IntRange(1, 200), default=20, metavar="N", key="why.events")
@option("--all-projects", is_flag=True, key="scope.all_projects")
@tenant_option
@store_options
def why(name: tuple[str, ...], versions: int, events: int, all_projects: bool, **where: Any) -> None:
    """Say where a memory came from."""
    with backend(**where) as store:
        found: Answer = store.get(path_of("/api/provenance", name), versions=versions, events=events)
    scope = Scope(None, all_projects=all_projects)
    project = found["memory"]["project"]
    if scope.own and project not in {scope.own, SHARED}:
        raise _OtherProject(
            say("why.elsewhere", label=found["memory"]["label"], project=project, own=scope.own),
            hint=say("why.elsewhere_hint", command=f"codexmem why {spelled(name)} --all-projects"),
        )
    current().result(found, why_text.text(found))
