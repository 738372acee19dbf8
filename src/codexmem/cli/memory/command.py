"""`codexmem memory`: notes under addresses, by the same verbs that agents have."""

from codexmem.cli.frame import Group

memory = Group(
    "memory",
    key="memory",
    no_args_is_help=True,
    lazy={
        "read": "codexmem.cli.memory.reading:read",
        "create": "codexmem.cli.memory.writing:create",
        "update": "codexmem.cli.memory.writing:update",
        "delete": "codexmem.cli.memory.writing:delete",
        "alias": "codexmem.cli.memory.writing:alias",
        "search": "codexmem.cli.memory.reading:search",
        "ls": "codexmem.cli.memory.reading:ls",
        "tree": "codexmem.cli.memory.reading:tree",
        "stats": "codexmem.cli.memory.reading:stats",
        "versions": "codexmem.cli.memory.past:versions",
        "diff": "codexmem.cli.memory.past:diff",
        "rollback": "codexmem.cli.memory.past:rollback",
        "export": "codexmem.cli.memory.moving:export",
        "import": "codexmem.cli.memory.moving:take_in",
    },
    also={"list": "ls", "rm": "delete", "show": "read"},
)
