"""A person with a home of their own, and an installer for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codexmem.agents.install.commands import ProgramCommands
from codexmem.agents.install.installing import Installer
from codexmem.agents.install.targets import UserHome

COMMANDS = ProgramCommands(("/opt/bin/codexmem-hook",), ("/opt/bin/codexmem",))


@pytest.fixture
def person(tmp_path: Path) -> UserHome:
    home = tmp_path / "home"
    home.mkdir()
    return UserHome(home, {"HOME": str(home), "PATH": str(tmp_path / "bin")})


@pytest.fixture
def installer(person: UserHome, tmp_path: Path) -> Installer:
    return Installer(person, COMMANDS, tmp_path / "data")


@pytest.fixture
def write(person: UserHome) -> Callable[[str, str], Path]:
    """A file of the person's, as it stands there to the byte."""

    def written(name: str, text: str) -> Path:
        path = person.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    return written
