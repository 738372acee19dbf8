"""Commands by whole paths, which say where the store is if a bare environment would not find it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codexmem.agents.install import commands
from codexmem.agents.install.commands import ProgramCommands, find


def test_a_usual_store_needs_no_telling(tmp_path: Path) -> None:
    found = find({"HOME": str(tmp_path), "PATH": ""}, tmp_path / ".local" / "share" / "codexmem", {})
    assert found.told == {}
    hook = found.hook("codex", "context").split()
    assert Path(hook[0]).is_absolute()
    assert hook[-2:] == ["codex", "context"]
    assert found.mcp[-3:] == ("mcp", "--toolset", "recall")


def test_who_wants_every_tool_gets_them(tmp_path: Path) -> None:
    assert find({"HOME": str(tmp_path), "PATH": ""}, tmp_path, {}, toolset="").mcp[-3:-1] == ("mcp", "--data-dir")


def test_another_store_is_told_to_hook_and_bridge(tmp_path: Path) -> None:
    found = find({"HOME": str(tmp_path), "PATH": ""}, tmp_path / "my store", {"CODEXMEM_PORT": "8080"})
    assert found.hook("codex", "context").startswith(
        f"env CODEXMEM_PORT=8080 'CODEXMEM_DATA_DIR={tmp_path}/my store' /"
    )
    assert found.mcp[-4:] == ("--port", "8080", "--data-dir", f"{tmp_path}/my store")


def test_a_server_elsewhere_is_told_instead_of_a_store(tmp_path: Path) -> None:
    found = find({"HOME": str(tmp_path)}, tmp_path / "data", {"CODEXMEM_URL": "https://memory.example"})
    assert found.told == {"CODEXMEM_URL": "https://memory.example"}
    assert found.mcp[-2:] == ("--url", "https://memory.example")


def test_the_name_that_a_person_calls_is_kept(tmp_path: Path) -> None:
    """A link in a folder of programs outlives the environment behind it."""
    beside = Path(sys.executable).parent / "codexmem-hook"
    link = tmp_path / "codexmem-hook"
    link.symlink_to(beside)
    found = find({"HOME": str(tmp_path), "PATH": str(tmp_path)}, tmp_path / "data", {})
    assert found.hook_words == (str(link),)


def test_words_with_spaces_survive_a_shell() -> None:
    assert ProgramCommands(("/opt/my bin/codexmem-hook",), ("x",)).hook("a", "b") == "'/opt/my bin/codexmem-hook' a b"


def test_a_folder_of_the_checkout_is_not_taken_for_our_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are no scripts beside Python, modules are started, in whatever folder the agent works."""
    monkeypatch.setattr(commands, "_program", lambda name, path: ())
    (tmp_path / "codexmem").mkdir()
    (tmp_path / "codexmem/__init__.py").write_text("open('ran', 'w')")
    found = find({"HOME": str(tmp_path)}, tmp_path / "data", {})
    for words in (found.hook_words, found.program_words):
        subprocess.run([*words, "--help"], cwd=tmp_path, capture_output=True, timeout=60, check=False,
                       env={"HOME": str(tmp_path), "CODEXMEM_HOOK_START": "0"}, stdin=subprocess.DEVNULL)  # fmt: skip
        assert not (tmp_path / "ran").exists()
