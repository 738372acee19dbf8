"""`mem-codecli confirm`: a person says that the last answer was right, which is the strongest signal there is."""

import click

from codexmem.cli.cells import cut, one_line
from codexmem.cli.codecli.configured import configured, memory_options
from codexmem.cli.codecli.memory import PATIENCE_MS
from codexmem.cli.frame import Command, current
from codexmem.cli.messages import say
from codexmem.clients.codecli import surroundings, whereabouts
from codexmem.clients.codecli.afterwards import confirmed
from codexmem.clients.codecli.memory_client import MemoryClient
from codexmem.clients.codecli.pending import Pending
from codexmem.domain.errors import NotFound

_QUESTION = 80  # cells


@click.command("confirm", cls=Command, key="codecli.confirm")
@memory_options
def confirm(project_id: str | None, memory_url: str | None) -> None:
    """Keep the last answer."""
    config = configured({"project_id": project_id, "memory.base_url": memory_url}).config
    cwd = surroundings.cwd()
    project, _ = whereabouts.project(config, cwd)
    pending = Pending(surroundings.state_dir(), project, cwd)
    waiting = pending.waiting()
    if waiting is None:
        raise NotFound(
            f"nothing waits to be confirmed for {project} in this folder",
            hint="an answer waits after a run with --memory-on if it keeps the gatekeeper's rules; "
            "--trace-json tells which one it broke",
            details={"reason": "codecli_nothing_waits", "project": project},
        )
    client = MemoryClient(whereabouts.place(config), max(PATIENCE_MS, config.memory.timeout_ms))
    told = confirmed(client, project, pending, waiting)
    shown = cut(one_line(waiting.question), _QUESTION)
    document = {"project_id": project, "question": waiting.question, **told}
    current().result(document, say("codecli.confirm.done", qa_id=told["qa_id"], status=told["status"], question=shown))
