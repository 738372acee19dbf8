"""`codexmem hook` is the hook: quick, silent, and never a failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests._support.server import environment
from tests.cli.conftest import Call


@pytest.mark.parametrize("arguments", [[], ["raw"], ["raw", "nothing"], ["--json", "raw", "nothing"], ["x", "y", "z"]])
def test_it_ends_with_0_whatever_it_is_called_with(arguments: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "codexmem.cli", "hook", *arguments]
    done = subprocess.run(command, env=environment(tmp_path), input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_options_before_its_name_are_all_right(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEXMEM_INTERNAL", "1")
    said = call("--quiet", "hook", "raw", "observation")
    assert (said.code, said.out, said.err) == (0, "", "")


def test_the_command_line_is_not_loaded_for_it(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "codexmem.cli", "hook", "raw", "observation"]
    env = environment(tmp_path, CODEXMEM_AUTOSTART="0", CODEXMEM_PORT="9")
    given = b'{"session_id": "s", "tool_name": "Bash"}'
    done = subprocess.run(command, env=env, input=given, capture_output=True, check=True, text=False)
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "codexmem.hook.program" in loaded
    assert {"click", "codexmem.console.command", "codexmem.settings", "json", "re"} & loaded == set()
    assert len(list((tmp_path / "spool").glob("*.event"))) == 1
