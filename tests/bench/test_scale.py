"""The scale benchmark asks questions that have answers, in stores that look as the service would have left them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import report, scale


@pytest.mark.timeout(120)
def test_loaded_stores_answer_every_question(engine_name: str) -> None:
    figures = scale.run(engine_name, [400, 800], samples=5, seed=1, analyze=False, parent=None)
    assert [store["memories"] for store in figures["stores"]] == [400, 800]
    rows = {answer["question"]: [size["rows"] for size in answer["sizes"]] for answer in figures["answers"]}
    assert all(found > 0 for sizes in rows.values() for found in sizes), rows
    for name in ("read by seq", "read by id", "read by URI", "versions of one"):
        assert rows[name] == [1, 1]
    assert rows["list newest"] == [50, 50]


def test_a_slow_answer_is_flagged() -> None:
    small, large = scale.Loaded("", 10, 0, 0), scale.Loaded("", 1000, 0, 0)
    answer = scale._answer("list", [small, large], [[1.0] * 100, [1.0] * 90 + [2.5] * 10], [[1], [1]])
    assert (answer["ratio_p95"], answer["kept"]) == (2.5, False)


def test_percentiles_are_of_the_values_given() -> None:
    values = [float(number) for number in range(1, 101)]
    assert [report.percentile(values, share) for share in (0.5, 0.95, 1.0)] == [50.0, 95.0, 100.0]
    assert report.percentile([], 0.5) == 0.0


def test_the_report_ends_with_the_verdict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert report.conclude("x", {}, "  figure  1", kept=False, as_json=False) == 1
    assert capsys.readouterr().out == "x\n  figure  1\nNOT KEPT\n"
