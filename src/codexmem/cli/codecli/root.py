"""The `mem-codecli` command and the table of its sub-commands."""

from collections.abc import Sequence
from pathlib import Path

from codexmem.cli import messages
from codexmem.cli.frame import Group
from codexmem.clients.codecli import straight

messages.add_folder(Path(__file__).parent / "messages")

cli = Group(
    "mem-codecli",
    key="codecli",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    lazy={
        "run": "codexmem.cli.codecli.run:run",
        "memory": "codexmem.cli.codecli.memory:memory",
        "confirm": "codexmem.cli.codecli.confirm:confirm",
        "policies": "codexmem.cli.codecli.policies:policies",
        "audit": "codexmem.cli.codecli.audit:audit",
        "sessions": "codexmem.cli.codecli.sessions:sessions",
        "replay": "codexmem.cli.codecli.replay:replay",
        "doctor": "codexmem.cli.codecli.doctor:doctor",
        "config": "codexmem.cli.codecli.config:config",
        "completion": "codexmem.cli.codecli.completion:completion",
        "version": "codexmem.cli.codecli.version:version",
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
                return [*arguments[: place + 1], *straight.split(arguments[place + 1 :])[0]]
            break
    return arguments
