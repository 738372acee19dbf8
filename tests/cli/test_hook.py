"""`codexmem hook` is the hook: quick, silent, and never a failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests._support.server import environment
from tests.cli.conftest import Call

SCRIPT = Path(__file__).parents[2] / "share/bin/codexmem-hook"


@pytest.mark.parametrize("arguments", [[], ["raw"], ["raw", "nothing"], ["--json", "raw", "nothing"], ["x", "y", "z"]])
def test_it_ends_with_0_whatever_it_is_called_with(arguments: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "codexmem.cli", "hook", *arguments]
    done = subprocess.run(command, env=environment(tmp_path), input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_options_before_its_name_are_all_right(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEXMEM_INTERNAL", "1")
    said = call("--quiet", "hook", "raw", "observation")
    assert (said.code, said.out, said.err) == (0, "", "")


def loaded_by(folder: Path, *words: str) -> set[str]:
    """Modules that are loaded where this program is called with a tool's event and no server answers."""
    env = environment(folder, CODEXMEM_AUTOSTART="0", CODEXMEM_PORT="9")
    given = b'{"session_id": "s", "tool_name": "Bash"}'
    command = [sys.executable, "-X", "importtime", *words]
    done = subprocess.run(command, env=env, input=given, capture_output=True, check=True, text=False)
    return {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}


@pytest.mark.parametrize("program", [("-m", "codexmem.cli", "hook"), (str(SCRIPT),)])
def test_neither_the_command_line_nor_regular_expressions_are_loaded_for_it(
    program: tuple[str, ...], tmp_path: Path
) -> None:
    """The second is the script that is installed as `codexmem-hook`, as it is in the wheel."""
    loaded = loaded_by(tmp_path, *program, "raw", "observation")
    assert "codexmem.hook.program" in loaded
    assert {"click", "codexmem.console.command", "codexmem.settings", "json", "re"} & loaded == set()
    assert len(list((tmp_path / "spool").glob("*.event"))) == 1


def test_the_rules_for_what_is_captured_are_not_loaded_where_nothing_is(tmp_path: Path) -> None:
    loaded = loaded_by(tmp_path, str(SCRIPT), "raw", "context")
    assert "codexmem.hook.transport" in loaded
    assert {"codexmem.hook.events", "codexmem.kernel.model.redaction"} & loaded == set()
