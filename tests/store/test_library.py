"""Where there is no wheel of pysqlite3, Python's own module is used, and a library without the fix is refused."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from codexmem.installation import install_command
from codexmem.kernel.model.errors import Unavailable
from codexmem.kernel.store.sqlite import library

ROOT = Path(__file__).parents[2]
# The module is not there, as on Linux on ARM.
WITHOUT = "import sys; sys.modules['pysqlite3'] = None; from codexmem.cli import main; main()"


def without_the_wheel(*arguments: str, data: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": f"{ROOT}/src", "CODEXMEM_DATA_DIR": str(data), "HOME": str(data)}
    command = [sys.executable, "-c", WITHOUT, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_python_s_own_library_takes_the_place_and_says_so(tmp_path: Path) -> None:
    said = json.loads(without_the_wheel("version", "--json", data=tmp_path).stdout)
    assert (said["sqlite"], said["sqlite_source"]) == (sqlite3.sqlite_version, "Python")
    opened = without_the_wheel("db", "upgrade", data=tmp_path)
    if sqlite3.sqlite_version_info >= library.FIXED_VERSION:
        assert opened.returncode == 0
    else:
        assert opened.returncode == 6
        assert "if it has no wheel (Linux on ARM), use a Python built with SQLite 3.51.3" in opened.stderr
        assert list(tmp_path.glob("*.db")) == []


def test_a_library_without_the_fix_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    library.require_fixed_library()
    monkeypatch.setattr(library, "FIXED_VERSION", (99, 0, 0))
    with pytest.raises(Unavailable) as refused:
        library.require_fixed_library()
    assert refused.value.hint == f"install a newer pysqlite3: {install_command(anew=True)}"
