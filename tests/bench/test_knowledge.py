"""The short form of `just soak-knowledge`, and that it finds a planted mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import history
from bench.stores import stores
from codexmem.kernel.model.query import Id
from codexmem.knowledge.service import entries
from tests._support.knowledge_machine import machine_for


@pytest.mark.sqlite
def test_a_planted_mistake_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with stores("sqlite", durable=False, parent=tmp_path) as made:
        sound = history.play(made.fresh(), seed=7, sequences=10, steps=10, make=machine_for)
        assert sound.failure is None
        assert sound.sequences >= 10
        monkeypatch.setattr(
            entries.Entries, "delete", lambda self, kb_id, _: self._memories.get(Id(kb_id), entries.KINDS)
        )
        wrong = history.play(made.fresh(), seed=7, sequences=60, steps=15, shrink=False, make=machine_for)
    assert wrong.failure is not None
    assert "state.delete(" in wrong.failure
