"""`mem-codecli` in a home of its own: called in this process, its exit code and both streams returned."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from codexmem.codecli.cli.root import cli, own_part
from codexmem.console import messages
from codexmem.console.command import run
from tests._support.own_logs import logging_restored
from tests.cli.conftest import Call, Said

OURS = ("CODEXMEM_", "MEM_CODECLI_", "MEMORY_", "LC_", "XDG_")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing of the caller's environment: no configuration, no key, no language, no terminal, no server."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    for name in ("LANG", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    work = tmp_path / "work"
    for folder in (home, work):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CODEXMEM_PORT", "9")  # nobody listens there
    monkeypatch.chdir(work)
    with logging_restored():
        yield home
    messages.use("en")


@pytest.fixture
def work(home: Path, tmp_path: Path) -> Path:
    """The working directory."""
    return tmp_path / "work"


@pytest.fixture
def call(home: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*args: str) -> Said:
        code = run(cli, list(args), own_part(args))
        streams = capsys.readouterr()
        return Said(code, streams.out, streams.err)

    return called
