"""`mem-codecli` in a home of its own, pointed at the running server of an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.server import Server
from tests.cli.codecli.conftest import call, home, work
from tests.contracts.codecli.wrapped import Wrapped

__all__ = ["call", "home", "memory", "work", "wrapped"]


@pytest.fixture
def memory(home: object, api: Server, project: str, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The memory configured, with its key if it asks for one, in a project of the test's own."""
    monkeypatch.setenv("MEM_CODECLI_MEMORY_BASE_URL", f"http://127.0.0.1:{api.port}")
    monkeypatch.setenv("CODEXMEM_PROJECT_ID", project)
    if api.key:
        monkeypatch.setenv("MEMORY_API_KEY", api.key)
    return api


@pytest.fixture
def wrapped(memory: Server, home: Path, work: Path, project: str) -> Wrapped:
    """`mem-codecli run` with that memory."""
    return Wrapped(work, home, memory, project)
