"""Every command that a page shows to be copied does what it says when it is typed into a shell, as it stands.

The commands are read from the pages' own sources, so that a new one is tried without anybody thinking of it. What a
reader fills in (`RUN`, `qa-…`, an address) is filled in here; a command about something that is not there ends with 3.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests._support import warm
from tests._support.server import Server, environment

SOURCES = Path(__file__).parents[2] / "web" / "src"
_SHOWN = re.compile(
    r"""(?:command[:=]\s*\{?|TRY = |INSTALL = )(?P<quote>['"`])(?P<command>(?:(?!(?P=quote)).)*)(?P=quote)""", re.DOTALL
)
_PROGRAM = re.compile(r"(?:^|\| )(?:codexmem|mem-codecli) ")
FILLED = {
    "install --detect": "install --detect --dry-run",  # it asks before it changes a file
    "install ${names}": "install qwen-code --dry-run",
    "${project}": "shop",
    "${uri}": "core://agent",
    "${quoted(name)}": "core://agent",
    "${PROMPT}": '{"session_id": "s1", "cwd": "/shop", "prompt": "Hello"}',
    "qa-…": "qa-0",
    "…": "x",
}
ON_POSTGRESQL = "codexmem key create"  # executed there, as a command of docs/web.md
ABOUT_NOTHING = ("RUN", "qa-…", "why ", "claude-mem", "stale")
NOT_FOUND = 3
FEWEST = 12


def shown() -> list[str]:
    """Each command once."""
    found = {
        match["command"]
        for path in SOURCES.rglob("*.ts*")
        for match in _SHOWN.finditer(path.read_text(encoding="utf-8"))
        if _PROGRAM.search(match["command"]) and not match["command"].startswith(ON_POSTGRESQL)
    }
    return sorted(found)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("shown")) as running:
        yield running


@pytest.fixture(scope="module")
def programs() -> Path:
    """Our programs under their names."""
    return warm.programs()


def test_the_pages_show_commands() -> None:
    assert len(shown()) >= FEWEST, shown()


@pytest.mark.parametrize("command", shown())
def test_a_shown_command_works(command: str, server: Server, programs: Path, tmp_path: Path) -> None:
    typed = command
    for name, value in FILLED.items():
        typed = typed.replace(name, value)
    (tmp_path / ".qwen").mkdir()  # an agent to be found
    env = environment(server.data_dir) | {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    ended = subprocess.run(
        ["bash", "-c", typed], check=False, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    fits = {0, NOT_FOUND} if any(part in command for part in ABOUT_NOTHING) else {0}
    assert ended.returncode in fits, f"$ {typed}\n{ended.stdout}{ended.stderr}"
