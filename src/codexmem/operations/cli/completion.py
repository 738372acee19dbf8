"""`codexmem completion`: the script that lets a shell complete our commands; nothing is installed.

The shell asks the program itself at every Tab, so what it offers is what this version has. No command is imported for
its name, and none is run.

`codexmem version`: the program and the libraries that its durability rests on.
"""

import platform

import click

from codexmem import __version__
from codexmem.console.command import Command, current

SHELLS = ("bash", "zsh", "fish")


def script(program: str, shell: str) -> str:
    """What the shell has to read once."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    variable = f"_{program.replace('-', '_').upper()}_COMPLETE"  # as click derives it from the program's name
    writer = made(click.get_current_context().find_root().command, {}, program, variable)
    # Asked for its source, click would start a shell to learn its version.
    return str(writer.source_template % writer.source_vars())


@click.command("completion", cls=Command, key="completion")
@click.argument("shell", type=click.Choice(SHELLS), metavar="bash|zsh|fish")
def completion(shell: str) -> None:
    """Print the script."""
    text = script("codexmem", shell)
    current().result({"shell": shell, "script": text}, text, exact=True)


@click.command("version", cls=Command, key="version")
def version() -> None:
    """Print versions."""
    from codexmem.kernel.store import inspection

    document = {
        "version": __version__,
        "python": platform.python_version(),
        "sqlite": inspection.library()[0],
        "sqlite_source": inspection.library_source(),
    }
    current().result(
        document,
        "codexmem {version} (Python {python}, SQLite {sqlite} from {sqlite_source})".format_map(document),
    )
