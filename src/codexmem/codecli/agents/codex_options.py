"""The command line of Codex: its prompt, and configuration that is given with `-c key=value`.

Texts as TOML strings, for agents that take their configuration on the command line.
"""

from __future__ import annotations

import json
import posixpath
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codexmem.codecli.agents.command_line import Grammar, Scanned, program_of, scan
from codexmem.codecli.agents.json_lines import text_in
from codexmem.codecli.agents.protocol import Launch, TextOf


def quoted(text: str) -> str:
    """A basic string: JSON's own escapes, except that TOML also wants the delete character escaped."""
    return json.dumps(text_in(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def value_of(text: str) -> Any:
    """What a value on the command line means: TOML, or else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, KeyError):
        return text


def table_of(text: str | None) -> dict[str, object]:
    """A configuration file; empty if it cannot be read, which is for its program to complain about."""
    try:
        return tomllib.loads(text or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def inline(value: Any) -> str:
    """A value of tables, lists, texts, numbers and truth values on one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case dict():
            return "{" + ", ".join(f"{quoted(str(key))} = {inline(each)}" for key, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(inline, value)) + "]"
        case _:
            return quoted(str(value))


INSTRUCTIONS = "developer_instructions"
STDIN = "-"
_GRAMMAR = Grammar(
    short="cmpsCoa",
    long=frozenset(
        {
            *("--config", "--enable", "--disable", "--model", "--local-provider", "--profile", "--sandbox", "--cd"),
            *("--add-dir", "--thread-source", "--cyber-access-program", "--output-schema", "--color", "--remote"),
            *("--output-last-message", "--remote-auth-token-env", "--ask-for-approval", "--listen"),
        }
    ),
    many=frozenset({"-i", "--image"}),
)
_EXEC = {"exec", "e"}
_RESUMES = {"resume", "fork"}
# Words that are no prompt but another program inside Codex.
_OTHERS = {
    *("agents", "review", "login", "logout", "mcp", "plugin", "app-server", "remote-control", "completion", "update"),
    *("doctor", "sandbox", "debug", "apply", "a", "queue", "archive", "delete", "migrate-rollouts", "migrate-nfs-db"),
    *("unarchive", "cloud", "exec-server", "features", "help"),
}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line of Codex, read."""

    words: int  # how many start the program
    scanned: Scanned
    subcommand: str  # exec, app-server, …; empty for the interactive screen
    prompt_at: int | None  # where the prompt stands in argv
    by_input: bool = False  # `exec` reads the prompt from its standard input

    @classmethod
    def read(cls, argv: Sequence[str]) -> CommandLine:
        """Read it."""
        start = program_of(argv).words
        scanned = scan(argv[start:], _GRAMMAR)
        positions = [start + at for at in scanned.positions]
        named = [argv[at] for at in positions]
        subcommand, rest = "", positions
        if named and named[0] in _EXEC:
            subcommand, rest = "exec", positions[1:]
            named = named[1:]
        if named and named[0] in _RESUMES:
            # The first word is the session's id, unless the last session is meant.
            rest = rest[1:] if scanned.has("--last") else rest[2:]
        elif named and subcommand == "exec" and named[0] == "review":
            rest = rest[1:]
        elif named and not subcommand and named[0] in _OTHERS:
            subcommand, rest = named[0], []
        by_input = [argv[at] for at in rest] == [STDIN] or (not rest and named[:1] != ["review"])
        return cls(start, scanned, subcommand, rest[0] if len(rest) == 1 else None, subcommand == "exec" and by_input)

    def configured(self, key: str) -> list[str]:
        """The values of `-c key=…`, as they are written."""
        given = [value for name, value, _ in self.scanned.options if name in {"-c", "--config"}]
        return [value.partition("=")[2] for value in given if value.partition("=")[0].strip() == key]

    def prompt(self, argv: Sequence[str]) -> str | None:
        """What the person asks, if the command line says it."""
        if self.prompt_at is None or argv[self.prompt_at] == STDIN:
            return None
        return argv[self.prompt_at]

    def with_options(self, argv: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
        """More options, where they win over those that are there."""
        at = min(self.words + self.scanned.end, len(argv))
        if self.scanned.positions and self.prompt_at is not None:
            at = min(at, self.prompt_at)
        return (*argv[:at], *options, *argv[at:])


def instructions(line: CommandLine, launch: Launch, text_of: TextOf) -> str:
    """The developer instructions that hold without us, which a value on the command line would displace."""
    given = line.configured(INSTRUCTIONS)
    if given:
        return str(value_of(given[-1]))
    folder = launch.environ.get("CODEX_HOME") or posixpath.join(launch.environ.get("HOME", ""), ".codex")
    profile = line.scanned.value("-p", "--profile")
    files = [*([f"{profile}.config.toml"] if profile else []), "config.toml"]
    if line.scanned.has("--ignore-user-config"):
        files = []
    for name in files:
        found = table_of(text_of(posixpath.join(folder, name))).get(INSTRUCTIONS)
        if isinstance(found, str) and found:
            return found
    return ""


def option(key: str, value: Any) -> tuple[str, str]:
    """A value on the command line."""
    return "-c", f"{key}={inline(value)}"
