"""Question sets in a folder, and the command line as the tests of the commands call it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import call, data_dir, home
from tests.measure import sets

__all__ = ["call", "data_dir", "folder", "home"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Every set there is, tiny."""
    sets.everything(tmp_path / "sets")
    return tmp_path / "sets"
