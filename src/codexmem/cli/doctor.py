"""`codexmem doctor`: looks at everything that can be wrong with an installation, and says how to mend it."""

import click

from codexmem.cli.finding import tell
from codexmem.cli.frame import Command, option
from codexmem.cli.store import chosen, store_options


@click.command("doctor", cls=Command, key="doctor")
@option("--strict", is_flag=True, key="doctor.strict")
@store_options
def doctor(strict: bool, data_dir: str | None, database_url: str | None) -> None:
    """Run every check; exit 1 if one fails, with --strict also if one warns."""
    from codexmem.cli.checks import examine

    settings = chosen(data_dir=data_dir, database_url=database_url)
    tell(examine(settings), strict=strict)
