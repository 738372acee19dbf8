"""The shape that every command has: translated help with an example, the common options, one way to fail.

Common options are read from the raw arguments before parsing, so that they work before and after a command's name and
so that even a usage error comes in the wanted language and form. `--help` prints and nothing else.
"""

import copy
import errno
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from codexmem.console import messages
from codexmem.console.messages import say
from codexmem.console.output import INTERRUPTED, Output, Unexpected, UsageProblem, is_terminal
from codexmem.kernel.model.errors import CodexmemError, StorageFull, Unavailable
from codexmem.settings import BY_NAME, terminal

# What is gone for good afterwards: a person who mistypes must not be led there.
IRREVERSIBLE = frozenset({"forget", "restore", "uninstall", "revoke", "rm", "delete", "undo", "rollback"})


_ALL = f"{__name__}.all"  # in a context: whether the help lists every command


class Option(click.Option):
    """An option whose help is a key of the catalogue."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option's line in the help, translated."""
        spoken = copy.copy(self)
        spoken.help = say(self.help) if self.help else None
        return click.Option.get_help_record(spoken, ctx)


def option(*names: str, key: str, **more: Any) -> Callable[[Any], Any]:
    """An option of one command; `key` names its help text."""
    return click.option(*names, cls=Option, help=key, **more)


def setting_option(name: str, *, metavar: str) -> Callable[[Any], Any]:
    """The flag of a setting. Its value is checked where all sources of settings are."""
    key = f"setting.{BY_NAME[name].name}"
    return click.option(f"--{name.replace('_', '-')}", name, cls=Option, help=key, metavar=metavar)


def _common() -> list[click.Parameter]:
    return [
        Option(["--json"], is_flag=True, expose_value=False, help="option.json"),
        Option(["--lang"], type=click.Choice(["en", "zh"]), expose_value=False, help="option.lang"),
        Option(["--color"], type=click.Choice(["auto", "always", "never"]), expose_value=False, help="option.color"),
        Option(["--no-input"], is_flag=True, expose_value=False, help="option.no_input"),
        Option(["-q", "--quiet"], is_flag=True, expose_value=False, help="option.quiet"),
        Option(["--debug"], is_flag=True, expose_value=False, help="option.debug"),
    ]


class _Spoken(click.Command):
    """Help in the language of the moment."""

    key: str  # where the command's texts are in the catalogue
    names: Callable[[], Iterable[str]] | None = None  # what `{names}` in its help stands for

    def help_text(self) -> str:
        """What it does, in full."""
        if self.names is None:
            return say(f"{self.key}.help")
        return say(f"{self.key}.help", names=(", " if messages.language() == "en" else "、").join(self.names()))

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """How to call it."""
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix=say("help.usage"))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What it does, and an example to copy."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(self.help_text())
        with formatter.section(say("help.example")):
            for line in say(f"{self.key}.example").splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, the common ones last."""
        records = [each.get_help_record(ctx) for each in self.get_params(ctx) if not isinstance(each, click.Argument)]
        with formatter.section(say("help.options")):
            formatter.write_dl([record for record in records if record is not None])

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """`--help`, explained in the language of the moment."""
        found = super().get_help_option(ctx)
        if found is not None:
            found.help = say("option.help")
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The options that a shell may offer, explained in the language of the moment."""
        found = click.Command.shell_complete(self, ctx, incomplete)
        for each in found:
            each.help = say(each.help) if each.help in messages.catalogue("en") else each.help
        return found

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence."""
        return say(f"{self.key}.short")


class Command(_Spoken):
    """One command."""

    def __init__(self, *args: Any, key: str, names: Callable[[], Iterable[str]] | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.key = key
        self.names = names
        self.params.extend(_common())


class Group(_Spoken, click.Group):
    """Commands under one name, imported when called: `lazy` maps a name to `module:attribute`.

    The texts of its commands begin with its own key, unless it is not `prefixed`.
    """

    def __init__(self, *args: Any, key: str, lazy: Mapping[str, str] | None = None,
                 also: Mapping[str, str] | None = None, prefixed: bool = True, headed: Mapping[str, str] | None = None,
                 meant: Mapping[str, str] | None = None, first: Sequence[str] = (), **more: Any) -> None:  # fmt: skip
        super().__init__(*args, **more)
        self._headed = dict(headed or {})  # the first command under each heading of the help
        self._meant = dict(meant or {})  # words that people try, and what they look for
        self._first = frozenset(first)  # the commands of the help, if the others are shown by `--help --all` alone
        self.key = key
        self._prefixed = prefixed
        self._lazy = dict(lazy or {})
        self._also = dict(also or {})  # other names of commands, which work and are not listed
        self.params.extend(_common())
        if first:
            self.params.append(Option(["--all"], is_flag=True, expose_value=False, help="option.all"))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Whether the help is to list every command is read here: `--help` ends the parsing."""
        ctx.meta[_ALL] = not self._first or ("--all" in args and not any(name in args for name in self._lazy))
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order they were written."""
        return [*self._lazy, *self.commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command, imported if need be."""
        if name not in self._lazy:
            return super().get_command(ctx, name)
        module, _, attribute = self._lazy[name].partition(":")
        found = getattr(importlib.import_module(module), attribute)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant, or the one that may have been."""
        args = [self._also.get(args[0], args[0]), *args[1:]]
        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            near = self._meant.get(name.lower()) or self._resembling(ctx, name)
            raise UsageProblem(
                say("usage.no_command", name=name[:40]),
                hint=say("usage.did_you_mean", name=f"{ctx.command_path} {near}")
                if near
                else say("usage.see_help", command=ctx.command_path),
            )
        return super().resolve_command(ctx, args)

    def _resembling(self, ctx: click.Context, name: str) -> str:
        """The command that may have been mistyped; never one after which there is no way back."""
        import difflib

        safe = [each for each in self.list_commands(ctx) if each not in IRREVERSIBLE]
        return next(iter(difflib.get_close_matches(name, safe, n=1, cutoff=0.6)), "")

    def sections(self, ctx: click.Context) -> list[tuple[str, list[str]]]:
        """The commands of the help under their headings, in order."""
        found: list[tuple[str, list[str]]] = []
        for name in self.list_commands(ctx):
            if name in self._headed or not found:
                found.append((say(self._headed.get(name, "help.commands")), []))
            if ctx.meta.get(_ALL, True) or name in self._first:
                found[-1][1].append(name)
        return [(heading, names) for heading, names in found if names]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, then the options; no command is imported for its line."""
        sections = self.sections(ctx)
        shown = [name for _, names in sections for name in names]
        widest = max(map(len, shown), default=0)
        for heading, names in sections:
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), self._short(name)) for name in names])
        if more := len(self.list_commands(ctx)) - len(shown):
            formatter.write_paragraph()
            formatter.write_text(say("help.more", count=more, command=ctx.command_path))
        super().format_options(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands, then the options; no command is imported for its name."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=self._short(name)) for name in names]
        return [*commands, *super().shell_complete(ctx, incomplete)]

    def _short(self, name: str) -> str:
        return say(f"{self.key}.{name}.short" if self._prefixed else f"{name}.short")


def current() -> Output:
    """How the running command is to answer."""
    found = click.get_current_context().find_object(Output)
    assert found is not None
    return found


def run(cli: click.Group, args: Sequence[str], ours: Sequence[str] | None = None) -> int:
    """Run the command line of the program that `cli` is named after; returns the exit code, whatever happens.

    `ours` are the arguments that may hold common options, where the rest belongs to another program.
    """
    program = cli.name or ""
    output = _common_wishes(args if ours is None else ours)
    try:
        code = cli.main(list(args), prog_name=program, standalone_mode=False, obj=output)
        return code if isinstance(code, int) else 0
    except CodexmemError as error:
        if output.debug:
            import traceback

            traceback.print_exc()
        return output.failure(error)
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.format_message())
        return 0
    except click.UsageError as error:
        return output.failure(_usage_problem(error, program))
    except click.ClickException as error:
        return output.failure(CodexmemError(error.format_message()))
    except (click.Abort, KeyboardInterrupt):
        output.note(say("note.interrupted"))
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has gone; nothing is left to say and nowhere to say it.
        sys.stdout = sys.stderr = open("/dev/null", "w", encoding="utf-8")  # noqa: PTH123, SIM115
        return 1
    except Exception as error:
        if output.debug:
            raise
        if isinstance(error, OSError) and (refused := _refused_by_disk(error)) is not None:
            return output.failure(refused)
        return output.failure(
            Unexpected(say("error.unexpected", what=f"{type(error).__name__}: {error}"), hint=say("hint.debug"))
        )


def _refused_by_disk(error: OSError) -> CodexmemError | None:
    """What a person can do something about, whichever command meets it."""
    where = str(error.filename or "")
    values = {"path": where, "problem": error.strerror or str(error)}
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM} and where:
        return Unavailable(
            f"{where} cannot be used: {values['problem']}",
            hint="make it writable for this user, or choose another data directory with CODEXMEM_DATA_DIR",
            details={"reason": "refused_path", **values},
        )
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageFull(
            f"the disk is full: {where or values['problem']}",
            hint="free some space and run the command again",
            details={"reason": "disk_full", "path": where or values["problem"]},
        )
    return None


def _common_wishes(args: Sequence[str]) -> Output:
    before = list(args[: args.index("--")] if "--" in args else args)
    looks = terminal(_value(before, "--lang"))
    messages.use(looks.language)
    color = _value(before, "--color") or "auto"

    def colored(seen: bool) -> bool:
        wished = looks.force_color or (seen and not looks.dumb)
        return color == "always" or (color == "auto" and not looks.no_color and wished)

    return Output(
        as_json="--json" in before,
        quiet="-q" in before or "--quiet" in before,
        debug="--debug" in before,
        color=colored(sys.stderr.isatty()),
        paint=colored(sys.stdout.isatty()),
        may_ask="--no-input" not in before and "--json" not in before and is_terminal(),
    )


def _value(args: Sequence[str], name: str) -> str | None:
    found = None
    for place, arg in enumerate(args):
        if arg == name and place + 1 < len(args):
            found = args[place + 1]
        elif arg.startswith(f"{name}="):
            found = arg.partition("=")[2]
    return found


def _usage_problem(error: click.UsageError, program: str) -> UsageProblem:
    hint = say("usage.see_help", command=error.ctx.command_path if error.ctx else program)
    match error:
        case click.NoSuchOption(option_name=name, possibilities=near):
            if near:
                hint = say("usage.did_you_mean", name=", ".join(sorted(near)))
            return UsageProblem(say("usage.no_option", name=name[:40]), hint=hint)
        case click.MissingParameter(param=click.Parameter() as missing):
            name = missing.opts[0] if isinstance(missing, click.Option) else missing.make_metavar(error.ctx)  # type: ignore[arg-type]
            return UsageProblem(say("usage.missing", name=name), hint=hint)
        case click.BadParameter(param=click.Parameter() as bad):
            return UsageProblem(say("usage.bad_value", name=max(bad.opts, key=len), problem=error.message), hint=hint)
        case _:
            return UsageProblem(say("usage.other", problem=error.format_message()), hint=hint)
