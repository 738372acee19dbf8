"""`mem-codecli version`."""

import platform

import click

from codexmem import __version__
from codexmem.console.command import Command, current


@click.command("version", cls=Command, key="codecli.version")
def version() -> None:
    """Print versions."""
    document = {"version": __version__, "python": platform.python_version()}
    current().result(document, f"mem-codecli {__version__} (Python {document['python']})")
