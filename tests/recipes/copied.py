"""A copy of the package that a test changes by small insertions, and programs that run from it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import codexmem
from tests._support.server import Server, environment

PACKAGE = Path(codexmem.__file__).parent
CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
# Loading takes longer than any of the commands.
_COMMANDS = """
import contextlib, io, json, sys
from codexmem.cli import main
told = []
for words in json.load(sys.stdin):
    sys.argv = ["codexmem", *words]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            main()
        except SystemExit as ended:
            if ended.code:
                raise
    told.append(out.getvalue())
json.dump(told, sys.stdout)
"""
_LISTED = re.compile(r"^- `([^`]+)`:", re.MULTILINE)


@dataclass(frozen=True)
class Copy:
    """The copied package in `root`, and a home for the programs that run from it."""

    root: Path
    home: Path

    @classmethod
    def below(cls, folder: Path) -> Copy:
        """A fresh one."""
        copy = cls(folder / "src", folder / "home")
        shutil.copytree(PACKAGE, copy.root / "codexmem")
        copy.home.mkdir()
        return copy

    def add(self, path: str, text: str) -> None:
        """A new file."""
        target = self.root / "codexmem" / path
        assert not target.exists(), path
        target.write_text(text, encoding="utf-8")

    def insert(self, path: str, after: str, text: str) -> None:
        """Put a text behind another one that occurs once."""
        self.replace(path, after, after + text)

    def replace(self, path: str, old: str, new: str) -> None:
        """Put a text in the place of another one that occurs once."""
        target = self.root / "codexmem" / path
        before = target.read_text(encoding="utf-8")
        assert before.count(old) == 1, f"{path} has {before.count(old)} times {old!r}"
        target.write_text(before.replace(old, new), encoding="utf-8")

    @property
    def changed(self) -> set[str]:
        """The files that differ from those of the package."""
        ours, theirs = _files(self.root / "codexmem"), _files(PACKAGE)
        return {path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)}

    def environment(self, **more: str) -> dict[str, str]:
        """Of a program from this copy, without encoder and with an empty home."""
        settings = {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "", "HOME": str(self.home)}
        return environment(self.home / "data", CODEXMEM_EMBEDDER="none", **settings, **more)

    def run(
        self, *words: str, given: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Python with these arguments."""
        return subprocess.run(
            [sys.executable, *words], env=self.environment(**(env or {})), cwd=self.home, input=given,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def output(self, *words: str, given: str = "", env: Mapping[str, str] | None = None) -> str:
        """What it prints; it must end well."""
        done = self.run(*words, given=given, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commands(self, *commands: Sequence[str]) -> list[str]:
        """What each of these commands prints, one after the other in one process."""
        told: list[str] = json.loads(self.output("-c", _COMMANDS, given=json.dumps(commands)))
        return told

    def server(self, **settings: str) -> Server:
        """`codexmem serve` from this copy."""
        data_dir = self.home / "data"
        data_dir.mkdir(exist_ok=True)
        return Server(data_dir, settings=self.environment(**settings))


def _files(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def listed(recipe: str, **names: str) -> list[str]:
    """The files that a recipe names, with `<agent>` and the like replaced; its count must be right."""
    text = CONTRIBUTING.read_text(encoding="utf-8").partition(f"### {recipe}\n")[2]
    section = re.split(r"^#{2,3} ", text, maxsplit=1, flags=re.MULTILINE)[0]
    found = _LISTED.findall(section)
    for name, value in names.items():
        found = [path.replace(f"<{name}>", value) for path in found]
    told = re.search(r": (\d+) files\.$", section, re.MULTILINE)
    assert told is not None
    assert int(told[1]) == len(found)
    return found
