"""Both engines on the same questions, small."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import agreement
from tests.bench import question_sets as sets


@pytest.mark.postgresql
def test_both_engines_give_the_same_first_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets.everything(tmp_path / "sets")
    assert agreement.main(["--data", str(tmp_path / "sets"), "--suites", "locomo,memdaily"]) == 0
    told = capsys.readouterr().out
    assert "locomo: " in told
    assert "memdaily: " in told
    assert "overlap@10 1.000" in told


def test_overlap() -> None:
    assert agreement.overlap([], []) == 1.0
    assert agreement.overlap(["a"], []) == 0.0
    assert agreement.overlap(["a", "b", "c", "d"], ["d", "c", "b", "x"]) == 0.75
