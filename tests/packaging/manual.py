"""The manual: a page for each program and each of its commands, made from what `--help` says in English.

`just generated` writes them to `share/man/man1`, which the wheel carries. The pages are kept in git, so that building a
wheel needs nothing of what the product itself needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from codexmem.cli.root import cli
from codexmem.codecli.cli.root import cli as codecli
from codexmem.console import messages
from codexmem.console.command import Group, _common
from codexmem.console.output import EXIT_CODES
from tests.packaging.building import ROOT

FOLDER = ROOT / "share" / "man" / "man1"
ABOUT = {"codexmem": "one memory for every coding agent", "mem-codecli": "a memory and a guard around any coding agent"}


def documents() -> dict[Path, str]:
    """Every page."""
    before = messages.language()
    messages.use("en")
    try:
        return {FOLDER / name: text for name, text in _pages()}
    finally:
        messages.use(before)


def _pages() -> Iterator[tuple[str, str]]:
    for program in (cli, codecli):
        name = program.name or ""
        children = list(_below(program, name))
        lines = [*_head(name, ABOUT[name]), *_body(program, name, ".SH"), ".SH COMMANDS"]
        for heading, commands in _groups(program, name):
            lines += [f".SS {_plain(heading)}"] if heading else []
            for path in commands:
                lines += [
                    ".TP",
                    f".BR {_plain(path.replace(' ', '-'))} (1)",
                    _plain(_say(dict(children)[path], "short")),
                ]
        codes = ", ".join(f"{code} {reason.replace('_', ' ')}" for reason, code in EXIT_CODES.items())
        lines += [".SH EXIT STATUS", f"0 if it is done; otherwise by what went wrong: {_plain(codes)}."]
        yield f"{name}.1", _joined(lines)
        for path, command in children:
            if path.count(" ") == 1:
                yield f"{path.replace(' ', '-')}.1", _joined(_command(path, command, name))


def _groups(program: click.Group, name: str) -> list[tuple[str, list[str]]]:
    """The commands of a program in the groups of its help; one group has no heading."""
    assert isinstance(program, Group)
    found = program.sections(click.Context(program, info_name=name, **cli.context_settings))
    return [(heading if len(found) > 1 else "", [f"{name} {each}" for each in names]) for heading, names in found]


def _command(path: str, command: click.Command, program: str) -> Iterator[str]:
    yield from _head(path.replace(" ", "-"), _say(command, "short"))
    yield from _body(command, path, ".SH")
    below = list(_below(command, path))
    if below:
        yield ".SH COMMANDS"
    for name, each in below:
        yield f".SS {_plain(name)}"
        yield from _body(each, name, ".PP")
    yield from (".SH SEE ALSO", f".BR {_plain(program)} (1)")


def _head(name: str, about: str) -> list[str]:
    title = _plain(name.upper())
    return [f'.TH {title} 1 "" codexmem "User Commands"', ".SH NAME", f"{_plain(name)} \\- {_plain(about.rstrip('.'))}"]


def _body(command: click.Command, path: str, section: str) -> Iterator[str]:
    """How to call it, what it does, its own options, an example; as sections of a page or paragraphs of a section."""
    whole = section == ".SH"
    context = click.Context(command, info_name=path, **cli.context_settings)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ([".SH SYNOPSIS"] if whole else [])
    yield from (f".B {_plain(path)}", _plain(usage))
    yield ".SH DESCRIPTION" if whole else ".PP"
    yield _plain(command.help_text())  # type: ignore[attr-defined]
    shared = {option.opts[0] for option in _common()} if path.count(" ") else set()
    shown = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    records = [found for each in shown if each.opts[0] not in shared and (found := each.get_help_record(context))]
    yield from ([".SH OPTIONS"] if whole else [])
    for names, meaning in records:
        yield from (".TP", f".B {_plain(names)}", _plain(meaning))
    yield from (
        [".PP", "Options that every command has are in", f".BR {path.partition(' ')[0]} (1)."]
        if shared and whole
        else []
    )
    yield ".SH EXAMPLE" if whole else ".PP"
    yield from (".nf", _plain(_say(command, "example")), ".fi")


def _below(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path, **cli.context_settings)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield f"{path} {name}", found
            yield from _below(found, f"{path} {name}")


def _say(command: click.Command, what: str) -> str:
    return messages.say(f"{command.key}.{what}")  # type: ignore[attr-defined]


def _plain(text: str) -> str:
    """Text in which nothing is taken for an instruction: neither a backslash, nor a dot or quote at a line's start."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("–", "\\(en")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.splitlines())


def _joined(lines: Iterator[str] | list[str]) -> str:
    return "\n".join([".\\\" Made by `just generated`; edit the command's help instead.", *lines, ""])
