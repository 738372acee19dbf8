"""Where the wrapper keeps its things, and what it takes from the machine."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from codexmem.codecli import surroundings


@pytest.mark.parametrize(
    "environ,system,config,state",
    [
        ({"HOME": "/h"}, "linux", "/h/.config/mem-codecli", "/h/.local/state/mem-codecli"),
        ({"HOME": "/h/"}, "linux", "/h/.config/mem-codecli", "/h/.local/state/mem-codecli"),
        (
            {"HOME": "/h"},
            "darwin",
            "/h/.config/mem-codecli",
            "/h/Library/Application Support/mem-codecli",
        ),
        (
            {"HOME": "/h", "XDG_CONFIG_HOME": "/c/", "XDG_STATE_HOME": "/s"},
            "linux",
            "/c/mem-codecli",
            "/s/mem-codecli",
        ),
        (
            {"HOME": "/h", "XDG_CONFIG_HOME": "relative", "XDG_STATE_HOME": "./s"},
            "linux",
            "/h/.config/mem-codecli",
            "/h/.local/state/mem-codecli",
        ),
    ],
)
def test_folders_are_where_the_contract_and_the_platform_say(
    environ: dict[str, str], system: str, config: str, state: str
) -> None:
    assert surroundings.config_dir(environ, system) == config
    assert surroundings.state_dir(environ, system) == state


def test_on_windows_folders_are_those_of_the_user() -> None:
    environ = {"APPDATA": "R", "LOCALAPPDATA": "L"}
    assert surroundings.config_dir(environ, "win32") == os.path.join("R", "mem-codecli")  # noqa: PTH118
    assert surroundings.state_dir(environ, "win32") == os.path.join("L", "mem-codecli")  # noqa: PTH118


def test_an_id_is_a_random_uuid() -> None:
    made = {surroundings.fresh_id() for _ in range(200)}
    assert len(made) == 200
    for each in made:
        parsed = uuid.UUID(each)
        assert (str(parsed), parsed.version, parsed.variant) == (each, 4, uuid.RFC_4122)


def test_a_working_directory_that_was_removed_is_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert surroundings.cwd() == "/"


def test_it_loads_nothing_that_python_has_not_loaded() -> None:
    program = (
        "import sys; before = set(sys.modules); import codexmem.codecli.surroundings;"
        "print(sorted(n for n in set(sys.modules) - before if not n.startswith('codexmem')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['__future__']"
