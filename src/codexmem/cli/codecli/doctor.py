"""`mem-codecli doctor`: looks at everything a run depends on, and says how to mend it."""

import click

from codexmem.cli.codecli.configured import memory_options
from codexmem.cli.doctor.finding import tell
from codexmem.cli.frame import Command, option


@click.command("doctor", cls=Command, key="codecli.doctor")
@option("--strict", is_flag=True, key="doctor.strict")
@memory_options
def doctor(strict: bool, project_id: str | None, memory_url: str | None) -> None:
    """Run every check; exit 1 if one fails, with --strict also if one warns."""
    from codexmem.cli.codecli.checks import examine

    tell(examine({"project_id": project_id, "memory.base_url": memory_url}), strict=strict)
