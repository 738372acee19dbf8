"""A command line in a home of its own: called in this process, its exit code and both streams returned."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codexmem.cli.root import cli
from codexmem.console import messages
from codexmem.console.command import run
from tests._support.embedding_server import EmbeddingServer
from tests._support.own_logs import logging_restored

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Said]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Nothing of the caller's environment: no settings, no language, no terminal; no model unless a test names one."""
    for name in [name for name in os.environ if name.startswith(("CODEXMEM_", "LC_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name in ("LANG", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEXMEM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CODEXMEM_EMBEDDER", "none")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    mask = os.umask(0o022)
    with logging_restored():
        yield home
    os.umask(mask)
    messages.use("en")


@pytest.fixture
def call(home: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*args: str) -> Said:
        code = run(cli, list(args))
        streams = capsys.readouterr()
        return Said(code, streams.out, streams.err)

    return called


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody types the commands."""
    monkeypatch.setattr("codexmem.console.backend.is_person", lambda: True)


@pytest.fixture
def embedding(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    """A server that makes vectors of words, configured."""
    monkeypatch.setenv("CODEXMEM_EMBEDDER", "openai")
    monkeypatch.setenv("CODEXMEM_OPENAI_EMBEDDING_MODEL", "toy")
    with EmbeddingServer() as server:
        monkeypatch.setenv("CODEXMEM_OPENAI_EMBEDDING_BASE_URL", server.url)
        yield server


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"
