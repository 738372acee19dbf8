"""`codexmem hook`: what agents call at every step.

Called plainly it never comes here: `codexmem.cli.main` hands it over before anything is loaded. This is its help, and
the way for whoever puts options before its name.
"""

import click

from codexmem.agents import NAMES
from codexmem.console.command import Command


@click.command("hook", cls=Command, key="hook", names=lambda: NAMES)
@click.argument("platform", default="", metavar="PLATFORM")
@click.argument("event", default="", metavar="EVENT")
def hook(platform: str, event: str) -> None:
    """Report an event; whatever happens, that is all right."""
    from codexmem.hook.__main__ import work

    work([platform, event])
