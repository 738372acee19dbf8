"""`just bench-retrieval` on a real store, with every set there is, tiny."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.retrieval import __main__ as retrieval
from tests.bench import question_sets


@pytest.mark.sqlite
def test_tiny_sets_are_measured_and_written_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = tmp_path / "sets", tmp_path / "history.jsonl"
    question_sets.everything(data)
    assert retrieval.main(["--data", str(data), "--out", str(out)]) == 0
    assert "locomo turn, categories 1-4, held-out" in capsys.readouterr().out
    suites = json.loads(out.read_text(encoding="utf-8"))["suites"]
    turn = suites["locomo"]["tasks"]["turn"]["splits"]["held-out"]["categories"]
    assert (turn["temporal"]["any@1"], turn["single-hop"]["mean@10"]) == (1.0, 1.0)
    assert suites["locomo"]["tasks"]["session"]["splits"]["all"]["groups"]["categories 1-5"]["any@5"] > 0.7
    assert suites["beam"]["tasks"]["message"]["splits"]["held-out"]["categories"]["knowledge_update"]["all@10"] == 1.0
    assert suites["longmemeval"]["tasks"]["session"]["splits"]["all"]["groups"]["all"]["any@5"] == 1.0
    assert suites["probe"]["tasks"]["note"]["splits"]["held-out"]["groups"]["all"]["any@5"] == 1.0
