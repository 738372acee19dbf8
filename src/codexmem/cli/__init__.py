"""The command line. Importing it costs next to nothing: a command's module is imported when the command is called."""


def main() -> None:
    """Run the program and end the process with its exit code."""
    import sys

    if sys.argv[1:2] == ["hook"] and not {"--help", "-h"} & set(sys.argv):
        # An agent waits for it at every step: not even the libraries of the command line are loaded.
        from codexmem.hook.__main__ import main as hook

        hook([argument for argument in sys.argv[2:] if not argument.startswith("-")])

    import gc

    # Loading makes very many objects and hardly any garbage: looking for it at every few hundred slows each start.
    gc.set_threshold(50_000, 20, 20)

    from codexmem.cli.root import cli
    from codexmem.console.command import run

    sys.exit(run(cli, sys.argv[1:]))
