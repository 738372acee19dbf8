"""Whose memories a command is about: those of the project it is called in, unless it is told otherwise.

The project is found as hooks find it. What belongs to no project belongs to every one.
"""

from collections.abc import Callable
from typing import Any

import click

from codexmem.console.backend import Backend
from codexmem.console.command import option
from codexmem.console.messages import say
from codexmem.console.output import UsageProblem
from codexmem.console.own_project import own_project

SHARED = ""  # the project of what belongs to none
_KINDS = ("observation", "summary", "prompt", "note", "qa", "knowledge", "lesson")


def scope_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--project` and `--all-projects`."""
    for decorate in (
        option("--all-projects", is_flag=True, key="scope.all_projects"),
        option("--project", metavar="PROJECT", key="scope.project"),
    ):
        command = decorate(command)
    return command


class Scope:
    """The projects that are meant."""

    def __init__(self, project: str | None, *, all_projects: bool) -> None:
        if project is not None and all_projects:
            command = click.get_current_context().command_path
            raise UsageProblem(say("scope.one"), hint=say("usage.see_help", command=command))
        self.own = "" if all_projects or project is not None else own_project()  # unless one was named
        self.projects = [self.own, SHARED] if self.own else [] if project is None else [project]

    def nothing(self, store: Backend) -> list[str]:
        """What to tell a person who found nothing, as far as it is for want of memories."""
        if not store.get("/api/memories/count", kind=_KINDS)["count"]:
            return [say("search.empty"), say("search.empty_next")]
        if self.own and not store.get("/api/memories/count", kind=_KINDS, project=self.own)["count"]:
            return [say("scope.none_here", project=self.own), say("scope.look_elsewhere")]
        return []
