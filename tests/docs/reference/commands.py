"""Every command of both programs, as its help says it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from codexmem.cli.root import cli
from codexmem.codecli.cli.root import cli as codecli
from codexmem.console import messages
from codexmem.console.command import Group, _common
from tests.docs.pages import Language
from tests.docs.reference.markdown import both, code, page, table

TITLE = both("Commands", "命令")
_ABOUT = both(
    "What `--help` says of every command of `codexmem` and `mem-codecli`. `--help` shows and never acts. Answers go to "
    "standard output, messages to standard error. [Exit codes](exit-codes.md) are the same for all.",
    "`codexmem` 与 `mem-codecli` 每个命令的 `--help` 内容。`--help` 只显示，不执行任何操作。"
    "结果写到标准输出，消息写到标准错误。[退出码](exit-codes.zh.md)各命令相同。",
)
_COMMON = both("Options that every command has", "每个命令都有的选项")
_HEAD = {"en": ("option", "means"), "zh": ("选项", "含义")}


def walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """The command and everything under it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path, **cli.context_settings)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from walk(found, f"{path} {name}")


def render(language: Language) -> str:
    """The page."""
    before = messages.language()
    messages.use(language)
    try:
        common = {"-h", "--help", *(option.opts[0] for option in _common())}
        shared = [record for option in _common() if (record := option.get_help_record(_context(cli, "codexmem")))]
        parts = [_ABOUT[language], f"## {_COMMON[language]}", _options(language, shared)]
        for program in (cli, codecli):
            for path, command in walk(program, program.name or ""):
                parts += _command(language, path, command, common)
                parts += _groups(program) if command is program else []
        return page(language, TITLE, *parts)
    finally:
        messages.use(before)


def _command(language: Language, path: str, command: click.Command, common: set[str]) -> list[str]:
    context = _context(command, path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    key, explained = command.key, command.help_text()  # type: ignore[attr-defined]
    shown = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    own = [record for each in shown if each.opts[0] not in common and (record := each.get_help_record(context))]
    example = f"```text\n{messages.say(f'{key}.example')}\n```"
    return [f"{'##' if ' ' not in path else '###'} {path}", explained, f"```text\n{usage}\n```",
            _options(language, own) if own else "", example]  # fmt: skip


def _groups(program: Group) -> list[str]:
    """The commands in the groups of the help, where there are several."""
    found = program.sections(_context(program, program.name or ""))
    lines = [f"- {heading}: {', '.join(map(code, names))}" for heading, names in found]
    return ["\n".join(lines)] if len(found) > 1 else []


def _options(language: Language, records: list[tuple[str, str]]) -> str:
    return table(_HEAD[language], [[code(names), meaning] for names, meaning in records])


def _context(command: click.Command, path: str) -> click.Context:
    return click.Context(command, info_name=path, terminal_width=100, **cli.context_settings)
