"""The vector benchmark runs and its promise holds at a small size."""

from __future__ import annotations

import json

import pytest

from bench import vectors


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_recall_is_measured(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--engine", engine, "--size", "1500", "--dimension", "64", "--questions", "10", "--seed", "1", "--json"]
    assert vectors.main(options) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["kept"]
    assert printed[engine]["recall"] >= vectors.LEAST_RECALL
