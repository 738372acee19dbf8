"""Whose configuration it is, and the files in it that hold entries of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codexmem.agents.install import formats
from codexmem.agents.install.entries import Entry
from codexmem.agents.install.formats import Form

SERVER = "codexmem"


@dataclass(frozen=True, slots=True)
class UserHome:
    """Whose configuration it is."""

    home: Path
    environ: Mapping[str, str]

    def folder(self, variable: str, default: str) -> Path:
        """A folder that a variable may move."""
        given = self.environ.get(variable, "").strip()
        return Path(given).expanduser().absolute() if given else self.home / default


@dataclass(frozen=True, slots=True)
class DetectedAgent:
    """How an agent was noticed; neither: it was not."""

    program: str  # its path, or empty
    folder: Path | None

    def __bool__(self) -> bool:
        return bool(self.program or self.folder)


@dataclass(frozen=True, slots=True)
class McpServerEntry:
    """An MCP server as a configuration names it."""

    command: tuple[str, ...]
    environ: Mapping[str, str]


class ConfigTarget:
    """A file with entries of ours."""

    mode = 0o600  # of a file that is made

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


class WholeFile(ConfigTarget):
    """A file that is ours as a whole."""

    def __init__(self, path: Path, text: str, mark: str, *, program: bool = False) -> None:
        super().__init__(path, "json", ())
        self._text = text
        self._mark = mark  # by which a file of ours is known
        self.mode = 0o700 if program else self.mode

    def edited(self, text: str) -> str:
        """Our text; a file of somebody else under this name is refused."""
        if text.strip() and self._mark not in text:
            raise formats.UneditableFile("a file of that name exists that is not from codexmem")
        return self._text

    def stripped(self, text: str, before: str | None) -> str:
        """Nothing, if it is ours."""
        return "" if self._mark in text else text

    def is_empty(self, text: str) -> bool:
        """Whether nothing is left."""
        return not text.strip()
