"""The command line of `mem-codecli`. A run in which nothing of ours is switched on becomes the agent itself."""


def main() -> None:
    """Run the program and end the process with its exit code, which in `run` is the agent's."""
    import sys

    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:
        # Standard library only: where nothing of ours is on, this does not come back.
        from codexmem.clients.codecli import straight

        straight.go(arguments[1:])

    from codexmem.cli.codecli.root import cli, own_part
    from codexmem.cli.frame import run

    sys.exit(run(cli, arguments, own_part(arguments)))
