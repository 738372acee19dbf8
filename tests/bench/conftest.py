"""Programs that measure a server measure a real one, with all that it loads."""

from __future__ import annotations

import pytest

from tests._support.server import Server


@pytest.fixture(autouse=True)
def real_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Server, "forks", False)
