"""The `mem-codecli` command and the table of its sub-commands."""

from collections.abc import Sequence
from pathlib import Path

from codexmem.codecli import exec_through
from codexmem.console import messages
from codexmem.console.command import Group

messages.add_folder(Path(__file__).parent / "messages")

cli = Group(
    "mem-codecli",
    key="codecli",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    lazy={
        "run": "codexmem.codecli.cli.run:run",
        "memory": "codexmem.codecli.cli.memory:memory",
        "confirm": "codexmem.codecli.cli.memory:confirm",
        "policies": "codexmem.codecli.cli.policies:policies",
        "audit": "codexmem.codecli.cli.audit:audit",
        "sessions": "codexmem.codecli.cli.sessions:sessions",
        "replay": "codexmem.codecli.cli.replay:replay",
        "doctor": "codexmem.codecli.cli.checks:doctor",
        "config": "codexmem.codecli.cli.config:config",
        "completion": "codexmem.codecli.cli.completion:completion",
        "version": "codexmem.codecli.cli.completion:version",
    },
)


def own_part(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments in which common options are looked for: those of an agent are none of ours."""
    # In front of the command stand at most common options, two of which have a value.
    words = iter(range(len(arguments)))
    for place in words:
        if arguments[place] in {"--lang", "--color"}:
            next(words, None)
        elif not arguments[place].startswith("-"):
            if arguments[place] == "run":
                return [*arguments[: place + 1], *exec_through.split(arguments[place + 1 :])[0]]
            break
    return arguments
