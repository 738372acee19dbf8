"""The `codexmem` command and the table of its sub-commands, in the groups that its help shows."""

import click

from codexmem import __version__
from codexmem.console.command import Group, Option
from codexmem.console.output import Output
from codexmem.features import FEATURES


def _of_rooms(heading: str) -> dict[str, str]:
    return {name: place for room in FEATURES for name, place in room.commands.get(heading, {}).items()}


_GROUPS: dict[str, dict[str, str]] = {
    "group.daily": {
        "search": "codexmem.recall.cli.search:search",
        "show": "codexmem.recall.cli.show:show",
        "recent": "codexmem.recall.cli.search:recent",
        "remember": "codexmem.recall.cli.remember:remember",
        "context": "codexmem.recall.cli.context:context",
        "why": "codexmem.recall.cli.why:why",
        "report": "codexmem.recall.cli.report:report",
        "stale": "codexmem.recall.cli.stale:stale",
        "review": "codexmem.recall.cli.review:review",
        "undo": "codexmem.recall.cli.forget:undo",
        "forget": "codexmem.recall.cli.forget:forget",
        "open": "codexmem.operations.cli.install.service:open_page",
    },
    "group.curate": {
        name: f"codexmem.recall.cli.lifecycle:{name}"
        for name in ("edit", "hide", "pin", "withhold", "deprecate", "share", "supersede", "merge", "split")
    },
    "group.notes": {
        **_of_rooms("group.notes"),
        "import": "codexmem.recall.cli.importing:importing",
    },
    "group.agents": {
        "init": "codexmem.operations.cli.install.init:init",
        "install": "codexmem.operations.cli.install.install:install",
        "writer": "codexmem.operations.cli.install.writer:writer",
        "block": "codexmem.recall.cli.block:block",
        "plugins": "codexmem.operations.cli.install.plugins:plugins",
        "uninstall": "codexmem.operations.cli.install.uninstall:uninstall",
    },
    "group.server": {
        "status": "codexmem.operations.cli.install.service:status",
        "start": "codexmem.operations.cli.install.service:start",
        "stop": "codexmem.operations.cli.install.service:stop",
        "logs": "codexmem.operations.cli.install.service:logs",
        "doctor": "codexmem.operations.cli.doctor.command:doctor",
        "config": "codexmem.operations.cli.config:config",
        "backup": "codexmem.operations.cli.db:backup",
        "restore": "codexmem.operations.cli.db:restore",
        "serve": "codexmem.operations.cli.serve:serve",
        "login": "codexmem.operations.cli.sign_in:login",
        "logout": "codexmem.operations.cli.sign_in:logout",
        "whoami": "codexmem.operations.cli.sign_in:whoami",
        "key": "codexmem.operations.cli.key:key",
        "member": "codexmem.operations.cli.people:member",
        "group": "codexmem.operations.cli.people:group",
        "grant": "codexmem.operations.cli.people:grant",
        "version": "codexmem.operations.cli.completion:version",
        "completion": "codexmem.operations.cli.completion:completion",
    },
    "group.lab": _of_rooms("group.lab"),
    "group.plumbing": {
        "mcp": "codexmem.operations.cli.mcp:mcp",
        "rpc": "codexmem.operations.cli.mcp:rpc",
        "hook": "codexmem.operations.cli.hook:hook",
        "worker": "codexmem.operations.cli.worker:worker",
        "index": "codexmem.operations.cli.index:index",
        "embed": "codexmem.operations.cli.embed:embed",
        "db": "codexmem.operations.cli.db:db",
        "tenant": "codexmem.operations.cli.tenant:tenant",
        "cell": "codexmem.operations.cli.tenant:cell",
    },
}
# What one developer needs; the others are behind `--help --all`.
_FIRST = (
    "search", "show", "recent", "remember", "context", "why", "review", "undo", "forget", "open",
    "init", "install", "uninstall", "status", "doctor",
)  # fmt: skip
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
    return Option(
        ["--version"],
        help="version.option",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
    )


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
    first=_FIRST,
)
