"""The command line of `mem-codecli`. A run in which nothing of ours is switched on becomes the agent itself."""


def main() -> None:
    """Run the program and end the process with its exit code, which in `run` is the agent's."""
    import sys

    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:
        # Standard library only: where nothing of ours is on, this does not come back.
        from codexmem.codecli import exec_through

        exec_through.go(arguments[1:])

    from codexmem.codecli.cli.root import cli, own_part
    from codexmem.console.command import run

    sys.exit(run(cli, arguments, own_part(arguments)))
