"""What we know of a coding agent: how to tell that it is there, which files it reads, and what belongs into them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from codexmem.clients.install import formats
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.entries import Entry
from codexmem.clients.install.formats import Form

SERVER = "codexmem"
# Our moments, in the order in which a session has them.
CONTEXT, PROMPT, TOOL, STOP, END = "context", "session-init", "observation", "summarize", "session-complete"
HOOK_S, END_S = 10, 3  # seconds that an agent gives a hook; some agents cut the last one to three anyway


@dataclass(frozen=True, slots=True)
class Person:
    """Whose configuration it is."""

    home: Path
    environ: Mapping[str, str]

    def folder(self, variable: str, default: str) -> Path:
        """A folder that a variable may move."""
        given = self.environ.get(variable, "").strip()
        return Path(given).expanduser().absolute() if given else self.home / default


@dataclass(frozen=True, slots=True)
class Found:
    """How an agent was noticed; neither: it was not."""

    program: str  # its path, or empty
    folder: Path | None

    def __bool__(self) -> bool:
        return bool(self.program or self.folder)


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server as a configuration names it."""

    command: tuple[str, ...]
    environ: Mapping[str, str]


class Target:
    """A file with entries of ours."""

    def __init__(self, path: Path, form: Form, entries: Sequence[Entry]) -> None:
        self.path = path
        self.form = form
        self.entries = entries

    def edited(self, text: str) -> str:
        """The file's text with our entries; Refused if it cannot be."""
        return formats.edited(self.form, text, self.entries)

    def stripped(self, text: str, before: str | None) -> str:
        """The file's text without ours; `before` is what it was before us, where that is known."""
        kept = formats.value_of(self.form, before) if before else None
        return formats.stripped(self.form, text, self.entries, kept)

    def is_empty(self, text: str) -> bool:
        """Whether such a file says nothing."""
        return not formats.value_of(self.form, text)


class Whole(Target):
    """A file that is ours as a whole."""

    def __init__(self, path: Path, text: str, mark: str) -> None:
        super().__init__(path, "json", ())
        self._text = text
        self._mark = mark  # by which a file of ours is known

    def edited(self, text: str) -> str:
        """Our text; a file of somebody else under this name is refused."""
        if text.strip() and self._mark not in text:
            raise formats.Refused("a file of that name exists that is not from codexmem")
        return self._text

    def stripped(self, text: str, before: str | None) -> str:
        """Nothing, if it is ours."""
        return "" if self._mark in text else text

    def is_empty(self, text: str) -> bool:
        """Whether nothing is left."""
        return not text.strip()


class Agent(Protocol):
    """One coding agent."""

    name: str  # as people type it, and the hook's platform
    title: str
    programs: tuple[str, ...]

    def folder(self, person: Person) -> Path:
        """Where its configuration is; that it exists tells of the agent."""
        ...

    def targets(self, person: Person, commands: Commands) -> list[Target]:
        """The files to change."""
        ...

    def hook(self, person: Person, event: str) -> str:
        """The command that its files name for one of our moments, read from the disk; empty if none."""
        ...

    def server(self, person: Person) -> Server | None:
        """Our MCP server as its files name it, read from the disk."""
        ...

    def obstacles(self, person: Person) -> list[str]:
        """Settings of the person's that keep hooks from running, as they are written."""
        ...

    def payload(self, session: str, prompt: str, cwd: str) -> dict[str, Any]:
        """What it would tell a hook of a prompt."""
        ...


def found(agent: Agent, person: Person) -> Found:
    """Whether it is on this machine: its program on the PATH, or its folder."""
    path = person.environ.get("PATH", "")
    program = next((where for name in agent.programs if (where := shutil.which(name, path=path))), "")
    folder = agent.folder(person)
    return Found(program, folder if folder.is_dir() else None)
