"""The short form of `just soak-snapshots`, and that it would notice a backup that is no moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import report, snapshots
from bench.stores import stores
from codexmem.knowledge.service import snapshots as applying


@pytest.mark.timeout(120)
def test_backups_are_moments_and_killed_restores_are_whole(engine_name: str) -> None:
    figures = snapshots.soak(engine_name, count=8, killed=5, seed=5)
    assert snapshots.kept(figures), figures
    assert figures["backups"]["backups"] == 8
    assert figures["backups"]["acknowledged_steps"] > 8
    assert figures["restores"]["killed_restores"] == 5


@pytest.mark.sqlite
def test_a_backup_that_misses_an_entry_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = applying.EntryRecords.records
    monkeypatch.setattr(applying.EntryRecords, "records", lambda self: list(sound(self))[1:])
    with stores("sqlite", durable=False, parent=tmp_path) as made:
        figures = snapshots.backups(made, count=6, progress=report.Progress("test"))
    assert figures["not_a_prefix"] > 0
