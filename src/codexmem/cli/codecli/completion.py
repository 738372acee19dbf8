"""`mem-codecli completion`: the script that lets a shell complete our commands; nothing is installed."""

import click

from codexmem.cli.frame import Command, current

VARIABLE = "_MEM_CODECLI_COMPLETE"  # as click derives it from the program's name


@click.command("completion", cls=Command, key="codecli.completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
def completion(shell: str) -> None:
    """Print the script."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    writer = made(click.get_current_context().find_root().command, {}, "mem-codecli", VARIABLE)
    # Asked for its source, click would start a shell to learn its version.
    script = writer.source_template % writer.source_vars()
    current().result({"shell": shell, "script": script}, script, exact=True)
