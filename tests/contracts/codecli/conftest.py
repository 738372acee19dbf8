"""`mem-codecli` in a home of its own, pointed at the running server of an engine."""

from __future__ import annotations

import pytest

from tests._support.server import Server
from tests.cli.codecli.conftest import call, home, work

__all__ = ["call", "home", "memory", "work"]


@pytest.fixture
def memory(home: object, api: Server, project: str, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The memory configured, with its key if it asks for one, in a project of the test's own."""
    monkeypatch.setenv("MEM_CODECLI_MEMORY_BASE_URL", f"http://127.0.0.1:{api.port}")
    monkeypatch.setenv("CODEXMEM_PROJECT_ID", project)
    if api.key:
        monkeypatch.setenv("MEMORY_API_KEY", api.key)
    return api
