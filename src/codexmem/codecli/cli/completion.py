"""`mem-codecli completion`: the script that lets a shell complete our commands; nothing is installed.

`mem-codecli version`.
"""

import platform

import click

from codexmem import __version__
from codexmem.console.command import Command, current
from codexmem.operations.cli.completion import SHELLS, script


@click.command("completion", cls=Command, key="codecli.completion")
@click.argument("shell", type=click.Choice(SHELLS), metavar="bash|zsh|fish")
def completion(shell: str) -> None:
    """Print the script."""
    text = script("mem-codecli", shell)
    current().result({"shell": shell, "script": text}, text, exact=True)


@click.command("version", cls=Command, key="codecli.version")
def version() -> None:
    """Print versions."""
    document = {"version": __version__, "python": platform.python_version()}
    current().result(document, f"mem-codecli {__version__} (Python {document['python']})")
