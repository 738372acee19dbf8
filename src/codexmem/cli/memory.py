"""`codexmem memory`: notes under addresses, by the same verbs that agents have."""

from codexmem.cli.frame import Group

memory = Group(
    "memory",
    key="memory",
    no_args_is_help=True,
    lazy={
        "read": "codexmem.cli.memory_reading:read",
        "create": "codexmem.cli.memory_writing:create",
        "update": "codexmem.cli.memory_writing:update",
        "delete": "codexmem.cli.memory_writing:delete",
        "alias": "codexmem.cli.memory_writing:alias",
        "search": "codexmem.cli.memory_reading:search",
        "ls": "codexmem.cli.memory_reading:ls",
        "tree": "codexmem.cli.memory_reading:tree",
        "stats": "codexmem.cli.memory_reading:stats",
        "versions": "codexmem.cli.memory_past:versions",
        "diff": "codexmem.cli.memory_past:diff",
        "rollback": "codexmem.cli.memory_past:rollback",
        "export": "codexmem.cli.memory_moving:export",
        "import": "codexmem.cli.memory_moving:take_in",
    },
    also={"list": "ls", "rm": "delete", "show": "read"},
)
