"""The command line. Importing it costs next to nothing: a command's module is imported when the command is called."""


def main() -> None:
    """Run the program and end the process with its exit code."""
    import sys

    from codexmem.cli.frame import run
    from codexmem.cli.root import cli

    sys.exit(run(cli, sys.argv[1:]))
