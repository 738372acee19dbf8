"""`codexmem context`: exactly what the next session in this project would be given, and what it costs."""

from pathlib import Path
from typing import Any

import click

from codexmem.agents import NAMES
from codexmem.console.backend import backend
from codexmem.console.command import Command, current, option
from codexmem.console.messages import say
from codexmem.console.own_project import own_project
from codexmem.console.store import store_options, tenant_option
from codexmem.console.terminal_width import printable


@click.command("context", cls=Command, key="context")
@option("--prompt", metavar="TEXT", key="context.prompt")
@option("--project", metavar="PROJECT", key="context.project")
@option("--agent", type=click.Choice(NAMES), metavar="AGENT", key="context.agent")
@option("--tokens", type=click.IntRange(100, 20_000), default=2_000, metavar="N", key="context.tokens")
@tenant_option
@store_options
def context(prompt: str | None, project: str | None, agent: str | None, tokens: int, **where: Any) -> None:
    """Print what an agent would be handed."""
    name = project or own_project()
    with backend(**where) as store:
        told = store.get(
            "/api/context/preview",
            project=name,
            prompt=prompt or None,
            tokens=tokens,
            platform=agent,
            cwd=None if project else _cwd(),
        )
    output = current()
    output.result(told, printable(told["text"]))
    if told["text"]:
        count = f"{len(told['memories']):,}"
        output.note(say("context.cost", tokens=f"{told['tokens']:,}", count=count, project=name))
    else:
        output.note(say("context.nothing_for_prompt" if prompt else "context.nothing", project=name))


def _cwd() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it has been removed under us
        return None
