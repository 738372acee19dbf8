"""The short form of `just soak-hostile`, and that it would notice what it looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import hostile_paths
from bench.hostile_paths import Outside


@pytest.mark.sqlite
@pytest.mark.timeout(120)
def test_hostile_names_and_paths_touch_nothing() -> None:
    figures = hostile_paths.soak(inputs=250, seed=3)
    assert hostile_paths.kept(figures), figures
    assert figures["inputs"] == 250
    assert figures["swaps"] > 0
    assert {"task_id", "backup_path", "uri", "look"} == set(figures["by_kind"])


def test_a_write_a_read_and_a_new_name_outside_are_noticed(tmp_path: Path) -> None:
    outside = Outside(tmp_path / "one")
    assert outside.untouched() == []
    outside = Outside(tmp_path / "two")
    (outside.folder / "secret.txt").write_text("changed")
    assert any("secret.txt" in each for each in outside.untouched())
    outside = Outside(tmp_path / "three")
    (outside.folder / "new").touch()
    assert outside.untouched()
    outside = Outside(tmp_path / "four")
    if outside.shows_reads:
        (outside.folder / "secret.txt").read_text()
        assert outside.untouched()
