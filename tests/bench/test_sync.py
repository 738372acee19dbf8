"""The soak of files and memories in step: clean lives have no fault, and planted faults are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import sync
from codexmem.kernel.store.opening import sqlite_url
from codexmem.sync import service
from codexmem.sync.document import MemoryFile
from codexmem.sync.merge import MergedFile
from codexmem.sync.model import Outcome


def test_clean_lives_lose_nothing(tmp_path: Path) -> None:
    played = sync.play(sqlite_url(tmp_path / "store.db"), 1, 0, 12)
    assert (played["sequences"], played["wrong"], played["first"]) == (12, 0, [])
    assert played["merged"] + played["conflict"] > 5


@pytest.mark.parametrize("fault", ["overwrite", "forget"])
def test_a_side_that_wins_in_silence_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    def mine_wins(base: MemoryFile, mine: MemoryFile, theirs: MemoryFile, name: str) -> MergedFile:
        return MergedFile(mine, mine.text())

    whole = service.SyncService._decided

    def forgetful(self: Any, *given: Any) -> Any:
        step = whole(self, *given)
        return service._Step(Outcome.UPDATED) if step.outcome is Outcome.TAKEN else step

    if fault == "overwrite":
        monkeypatch.setattr(service, "merge", mine_wins)
    else:
        monkeypatch.setattr(service.SyncService, "_decided", forgetful)
    played = sync.play(sqlite_url(tmp_path / "store.db"), 1, 0, 12)
    assert played["wrong"] > 0
