"""A person with a home of their own, and an installer for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codexmem.clients.install.agent import Person
from codexmem.clients.install.commands import Commands
from codexmem.clients.install.installing import Installer

COMMANDS = Commands(("/opt/bin/codexmem-hook",), ("/opt/bin/codexmem",))


@pytest.fixture
def person(tmp_path: Path) -> Person:
    home = tmp_path / "home"
    home.mkdir()
    return Person(home, {"HOME": str(home), "PATH": str(tmp_path / "bin")})


@pytest.fixture
def installer(person: Person, tmp_path: Path) -> Installer:
    return Installer(person, COMMANDS, tmp_path / "data")


@pytest.fixture
def write(person: Person) -> Callable[[str, str], Path]:
    """A file of the person's, as it stands there to the byte."""

    def written(name: str, text: str) -> Path:
        path = person.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    return written
