"""The soak of lives finds planted faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import history
from codexmem.kernel.model import life
from codexmem.kernel.model.history import MemoryVersion
from codexmem.kernel.services import memories
from codexmem.kernel.services.history import History
from codexmem.kernel.store.opening import sqlite_url
from tests._support.life_machine import machine_for


def _keeps_the_reverse_link() -> tuple[object, str, Any]:
    return life, "superseded_by", lambda memory, newer: life.put_out_of_use(memory)


def _shows_as_active() -> tuple[object, str, Any]:
    return History, "last_shown", lambda self, memories: {}


def _keeps_another_version_than_it_says() -> tuple[object, str, Any]:
    kept = memories._version

    def forgetful(*given: Any) -> MemoryVersion:
        version = kept(*given)
        return replace(version, state=replace(version.state, priority=9)) if version.delta is not None else version

    return memories, "_version", forgetful


@pytest.mark.parametrize("fault", [_keeps_the_reverse_link, _shows_as_active, _keeps_another_version_than_it_says])
def test_a_planted_fault_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[[], tuple[object, str, Any]]
) -> None:
    owner, name, wrong = fault()
    monkeypatch.setattr(owner, name, wrong)
    chunk = history.play(sqlite_url(tmp_path / "store.db"), 7, 60, 25, False, machine_for)
    assert chunk.failure is not None
