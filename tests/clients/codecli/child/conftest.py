"""A machine for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests._support.wrapping import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home with a folder for programs."""
    return Place(tmp_path)
