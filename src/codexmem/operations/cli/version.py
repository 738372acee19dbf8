"""`codexmem version`: the program and the libraries that its durability rests on."""

import platform

import click

from codexmem import __version__
from codexmem.console.command import Command, current


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
