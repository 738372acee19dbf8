"""The soak of rollbacks finds a rollback that leaves something behind, or takes too much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench import history
from bench.stores import stores
from codexmem.kernel.model.memory import Memory, State
from codexmem.kernel.services import history as service
from codexmem.kernel.services.history import RollbackStep
from codexmem.kernel.store.history import TouchedMemory
from tests._support.lab_rollback_machine import machine_for


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with stores("sqlite", durable=False, parent=tmp_path) as made:
        yield made.fresh()


def test_a_clean_chunk_has_no_failure(url: str) -> None:
    chunk = history.play(url, 7, 6, 8, True, machine_for)
    assert chunk.failure is None
    assert chunk.sequences >= 6


@pytest.mark.parametrize("fault", ["confidence is kept", "what was edited since is left"])
def test_a_planted_fault_is_found(url: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = service._step

    def wrong(memory: Memory, before: State | None, touch: TouchedMemory) -> Iterator[RollbackStep]:
        for step in whole(memory, before, touch):
            if fault == "confidence is kept":
                yield replace(step, target=replace(step.target, confidence=memory.state.confidence))
            elif not step.written_since:
                yield step

    monkeypatch.setattr(service, "_step", wrong)
    chunk = history.play(url, 7, 100, 10, False, machine_for)
    assert chunk.failure is not None
