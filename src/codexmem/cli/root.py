"""The `codexmem` command and the table of its sub-commands."""

from codexmem.cli.frame import Group

cli = Group(
    "codexmem",
    key="codexmem",
    prefixed=False,
    no_args_is_help=True,
    lazy={
        "serve": "codexmem.cli.serve:serve",
        "worker": "codexmem.cli.worker:worker",
        "mcp": "codexmem.cli.mcp:mcp",
        "rpc": "codexmem.cli.rpc:rpc",
        "hook": "codexmem.cli.hook:hook",
        "search": "codexmem.cli.search:search",
        "why": "codexmem.cli.why:why",
        "memory": "codexmem.cli.memory:memory",
        "kb": "codexmem.cli.kb:kb",
        "qa": "codexmem.cli.qa:qa",
        "workspace": "codexmem.cli.workspace:workspace",
        "index": "codexmem.cli.index:index",
        "import": "codexmem.cli.importing:importing",
        "undo": "codexmem.cli.undo:undo",
        "forget": "codexmem.cli.forget:forget",
        "db": "codexmem.cli.db:db",
        "backup": "codexmem.cli.backup:backup",
        "restore": "codexmem.cli.backup:restore",
        "doctor": "codexmem.cli.doctor:doctor",
        "config": "codexmem.cli.config:config",
        "key": "codexmem.cli.key:key",
        "bench": "codexmem.cli.bench:bench",
        "version": "codexmem.cli.version:version",
    },
)
