"""The tables and the picture follow from the history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench import plot_retrieval
from bench.retrieval import report
from bench.retrieval.corpus import Question, Split
from bench.retrieval.metrics import QuestionResult
from bench.retrieval.suites.table import BY_NAME


def run(date: str, *, right: int, engine: str = "sqlite", limit: int | None = None) -> dict[str, Any]:
    """A run of four questions, so many of them answered."""
    (task,) = BY_NAME["memdaily"].tasks
    outcomes = [
        QuestionResult(Question("?", ("a", "b")[at % 2], Split.HELD_OUT), frozenset("g"), ("g" if at < right else "x",),
                (0.9,), 3, 2.0)
        for at in range(4)
    ]  # fmt: skip
    return {
        "format": 1, "date": f"{date}T10:00:00+00:00", "version": "0.1.0", "python": "3.11", "engine": engine,
        "engine_version": "3", "embedder": "none", "recipe": "default", "split": "all", "limit": limit,
        "suites": {"memdaily": {"data": "0", "tasks": {"message": report.judged(task, outcomes)}}},
    }  # fmt: skip


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "retrieval.md").write_text(
        "above\n<!-- retrieval tables: begin -->\nold\n<!-- retrieval tables: end -->\nbelow\n"
    )
    return tmp_path


def keep(docs: Path, *runs: dict[str, Any]) -> None:
    (docs / "retrieval-history.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))


def test_tables_show_the_newest_complete_run_of_each_configuration(docs: Path) -> None:
    keep(
        docs,
        run("2026-02-01", right=3),
        run("2026-01-01", right=1),
        run("2026-03-01", right=0, limit=2),
        run("2026-01-05", right=4, engine="postgresql"),
    )
    page = plot_retrieval.documents(docs)[docs / "retrieval.md"]
    assert page.startswith("above\n")
    assert page.endswith("below\n")
    assert "\nold\n" not in page
    rows = [line for line in page.splitlines() if line.startswith("| memdaily message | held-out |")]
    assert [row.split(" | ")[3:9] for row in rows] == [
        ["postgresql", "none", "4", "100.0", "100.0", "100.0"],
        ["sqlite", "none", "4", "75.0", "75.0", "75.0"],
    ]
    assert "| memdaily message | sqlite, none | a | 2 | 100.0 |" in page
    assert "| memdaily message | sqlite, none | b | 2 | 50.0 |" in page


def test_the_picture_has_a_line_for_each_configuration(docs: Path) -> None:
    keep(docs, run("2026-01-01", right=1), run("2026-02-01", right=3), run("2026-01-05", right=4, engine="postgresql"))
    picture = ElementTree.fromstring(plot_retrieval.documents(docs)[docs / "retrieval.svg"])
    lines = [each.attrib["points"].split() for each in picture.iter("{http://www.w3.org/2000/svg}polyline")]
    assert [len(points) for points in lines] == [2, 1]
    first, second = (float(point.split(",")[1]) for point in lines[0])
    assert second < first  # better is higher


def test_a_history_of_nothing(docs: Path) -> None:
    assert all("No complete run is recorded yet." in text for text in plot_retrieval.documents(docs).values())


def test_a_page_without_markers_is_refused(docs: Path) -> None:
    (docs / "retrieval.md").write_text("nothing here")
    with pytest.raises(SystemExit, match="no place for the tables"):
        plot_retrieval.documents(docs)
