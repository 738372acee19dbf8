"""`mem-codecli doctor`: looks at everything a run depends on, and says how to fix it."""

import click

from codexmem.codecli.cli.configured import memory_options
from codexmem.console.command import Command, option
from codexmem.operations.cli.doctor.finding import tell


@click.command("doctor", cls=Command, key="codecli.doctor")
@option("--strict", is_flag=True, key="doctor.strict")
@memory_options
def doctor(strict: bool, project_id: str | None, memory_url: str | None) -> None:
    """Run every check; exit 1 if one fails, with --strict also if one warns."""
    from codexmem.codecli.cli.checks import examine

    tell(examine({"project_id": project_id, "memory.base_url": memory_url}), strict=strict)
