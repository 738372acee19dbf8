"""`codexmem remember`: saves a text, as the tool `save_memory` does for agents."""

from typing import Any

import click

from codexmem.console.backend import backend
from codexmem.console.command import Command, current, option
from codexmem.console.input_text import text_of
from codexmem.console.messages import say
from codexmem.console.own_project import own_project
from codexmem.console.store import store_options, tenant_option
from codexmem.kernel.model.visibility import Visibility


@click.command("remember", cls=Command, key="remember")
@click.argument("text", required=False, metavar="[TEXT]")
@option("--title", metavar="TITLE", key="remember.title")
@option("--project", metavar="PROJECT", key="remember.project")
@option("--file", metavar="FILE", key="given.file")
@option("--visibility", type=click.Choice(list(Visibility)), key="visibility.option")
@tenant_option
@store_options
def remember(text: str | None, title: str | None, project: str | None, file: str | None, visibility: str | None,
             **where: Any) -> None:  # fmt: skip
    """Save a text."""
    body = {"text": text_of(text, file), "title": title, "project": project or own_project() or None}
    if visibility is not None:
        body["visibility"] = visibility
    with backend(write=True, create=True, **where) as store:
        saved = store.post("/api/memory/save", body)
    ref = f"#{saved['id']}"
    output = current()
    output.result({"ref": ref, "duplicate": False, **saved}, ref)
    twice = "duplicate" in saved
    output.note(say("remember.known" if twice else "remember.done", ref=ref, project=saved["project"]), good=True)
    output.note(say("remember.next", command=f"codexmem show {saved['id']}"))
