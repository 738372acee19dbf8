"""The `codexmem` command and the table of its sub-commands, in the groups that its help shows."""

from typing import Any

import click

from codexmem import __version__
from codexmem.cli.frame import Group, Option
from codexmem.cli.output import Output

_GROUPS: dict[str, dict[str, str]] = {
    "group.daily": {
        "search": "codexmem.cli.search:search",
        "show": "codexmem.cli.show:show",
        "recent": "codexmem.cli.recent:recent",
        "remember": "codexmem.cli.remember:remember",
        "context": "codexmem.cli.context:context",
        "why": "codexmem.cli.why:why",
        "undo": "codexmem.cli.undo:undo",
        "forget": "codexmem.cli.forget:forget",
        "open": "codexmem.cli.install.service:open_page",
    },
    "group.notes": {
        "memory": "codexmem.cli.memory.command:memory",
        "kb": "codexmem.cli.kb:kb",
        "qa": "codexmem.cli.qa.command:qa",
        "workspace": "codexmem.cli.workspace:workspace",
        "import": "codexmem.cli.importing:importing",
    },
    "group.agents": {
        "init": "codexmem.cli.install.init:init",
        "install": "codexmem.cli.install.install:install",
        "uninstall": "codexmem.cli.install.uninstall:uninstall",
    },
    "group.server": {
        "status": "codexmem.cli.install.service:status",
        "start": "codexmem.cli.install.service:start",
        "stop": "codexmem.cli.install.service:stop",
        "logs": "codexmem.cli.install.service:logs",
        "doctor": "codexmem.cli.doctor.command:doctor",
        "config": "codexmem.cli.config:config",
        "backup": "codexmem.cli.backup:backup",
        "restore": "codexmem.cli.backup:restore",
        "serve": "codexmem.cli.serve:serve",
        "key": "codexmem.cli.key:key",
        "version": "codexmem.cli.version:version",
        "completion": "codexmem.cli.completion:completion",
    },
    "group.lab": {
        "lab": "codexmem.cli.lab.command:lab",
        "batch": "codexmem.cli.lab.batch:batch",
        "run": "codexmem.cli.lab.run:run",
        "rb": "codexmem.cli.lab.rb:rb",
        "product": "codexmem.cli.lab.product:product",
        "preset": "codexmem.cli.lab.preset:preset",
    },
    "group.plumbing": {
        "mcp": "codexmem.cli.mcp:mcp",
        "rpc": "codexmem.cli.rpc:rpc",
        "hook": "codexmem.cli.hook:hook",
        "worker": "codexmem.cli.worker:worker",
        "index": "codexmem.cli.index:index",
        "db": "codexmem.cli.db:db",
        "bench": "codexmem.cli.bench:bench",
    },
}
_MEANT = {
    "get": "show", "read": "show", "cat": "show", "view": "show", "print": "show",
    "save": "remember", "add": "remember", "note": "remember", "store": "remember",
    "list": "recent", "ls": "recent", "log": "recent", "history": "recent", "timeline": "recent",
    "find": "search", "query": "search", "grep": "search", "recall": "search",
    "fix": "doctor --fix", "check": "doctor", "setup": "init", "settings": "config list", "set": "config set",
}  # fmt: skip


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        output = ctx.ensure_object(Output)
        output.result({"version": __version__}, f"codexmem {__version__}")
        ctx.exit()


def _version_option() -> click.Option:
    wishes: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": _print_version}
    return Option(["--version"], help="version.option", **wishes)


cli = Group(
    "codexmem",
    key="codexmem",
    prefixed=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[_version_option()],
    lazy={name: place for commands in _GROUPS.values() for name, place in commands.items()},
    headed={next(iter(commands)): heading for heading, commands in _GROUPS.items()},
    meant=_MEANT,
)
