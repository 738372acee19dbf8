"""The long property test finds a planted mistake and prints how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import history
from bench.stores import stores
from codexmem.kernel.model import history as rules


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with stores("sqlite", durable=False, parent=tmp_path) as made:
        yield made.fresh()


def test_sequences_and_steps_are_counted(url: str) -> None:
    chunk = history.play(url, seed=7, sequences=12, steps=10)
    assert chunk.failure is None
    assert chunk.sequences >= 12
    assert chunk.steps >= chunk.sequences


def test_a_planted_mistake_is_found_and_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "append", lambda content, addition: content + addition)
    chunk = history.play(url, seed=7, sequences=100, steps=15, shrink=False)
    assert chunk.failure is not None
    assert "state.append(" in chunk.failure
