"""Databases to import from, one for each test."""

from __future__ import annotations

import pytest


@pytest.fixture
def fingerprint(project: str, engine_name: str) -> str:
    """A database no other test imports from."""
    return f"{int(project.removeprefix('project-')):015x}{'a' if engine_name == 'sqlite' else 'b'}"
