"""`mem-codecli confirm`: a person says that the last answer was right, which is the strongest signal there is."""

import click

from codexmem.codecli import project_context, surroundings
from codexmem.codecli.cli.configured import configured, memory_options
from codexmem.codecli.cli.memory import PATIENCE_MS
from codexmem.codecli.memory_client import MemoryClient
from codexmem.codecli.pending import Pending
from codexmem.codecli.post_run import confirmed
from codexmem.console.command import Command, current
from codexmem.console.messages import say
from codexmem.console.terminal_width import cut, one_line
from codexmem.kernel.model.errors import NotFound

_QUESTION = 80  # cells


@click.command("confirm", cls=Command, key="codecli.confirm")
@memory_options
def confirm(project_id: str | None, memory_url: str | None) -> None:
    """Keep the last answer."""
    config = configured({"project_id": project_id, "memory.base_url": memory_url}).config
    cwd = surroundings.cwd()
    project, _ = project_context.project(config, cwd)
    pending = Pending(surroundings.state_dir(), project, cwd)
    waiting = pending.waiting()
    if waiting is None:
        raise NotFound(
            f"nothing waits to be confirmed for {project} in this folder",
            hint="an answer waits after a run with --memory-on if it keeps the gatekeeper's rules; "
            "--trace-json tells which one it broke",
            details={"reason": "codecli_nothing_waits", "project": project},
        )
    client = MemoryClient(project_context.place(config), max(PATIENCE_MS, config.memory.timeout_ms))
    told = confirmed(client, project, pending, waiting)
    shown = cut(one_line(waiting.question), _QUESTION)
    document = {"project_id": project, "question": waiting.question, **told}
    current().result(document, say("codecli.confirm.done", qa_id=told["qa_id"], status=told["status"], question=shown))
